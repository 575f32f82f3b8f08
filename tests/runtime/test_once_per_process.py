"""One thing per process."""

import threading
import time

from ohash.runtime.lazy import once_per_process


def test_threads_that_ask_at_once_get_the_same():
    made = []

    @once_per_process
    def slow():
        made.append(object())
        time.sleep(0.05)
        return made[-1]

    got, start = [], threading.Barrier(8)

    def ask():
        start.wait()
        got.append(slow())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and got == made * 8
