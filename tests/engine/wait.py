"""Waiting for a thread."""

import time

PATIENCE = 120.0  # seconds; the machine may be busy, and kernels may have to be compiled
SOON = 1.0  # obeying takes 50 ms and what a busy machine adds


def until(condition, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "took too long"
        time.sleep(0.002)


def settled(runner):
    """Paused, nothing owed, nothing pending, and shown."""

    def still():
        now = runner.snapshot()
        return (
            runner.state == "paused"
            and not runner._steps
            and not runner._changes
            and now is not None
            and now.state == "paused"
            and not runner.run.evaluating
            and now.t == runner.run.t
        )

    until(still)
    return runner.run.t


# -- the same run --------------------------------------------------------------------------------------------------
