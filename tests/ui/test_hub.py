"""Who watches, how many may run, and when a run ends; with a clock of our own."""

import time
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest

from ohash.ui.session import advice_run, comparisons, live_run
from ohash.ui.session import hub as hubs
from ohash.ui.session.hub import Hub


class FakeRunner:
    """As much of a Runner as the hub sees."""

    def __init__(self) -> None:
        self.state = "waiting"
        self.finished = self
        self.heard: list[str] = []

    def is_set(self) -> bool:
        return self.state in ("done", "stopped")

    def start(self) -> None:
        self.state = "running"

    def stop(self, wait: float = 2.0) -> None:
        self.state = "stopped"

    def pause(self) -> None:
        self.heard.append("pause")
        self.state = "paused"

    def resume(self) -> None:
        self.heard.append("resume")
        self.state = "running"


class World:
    """A hub and its clock."""

    def __init__(self, limit: int = 2) -> None:
        self.now = 1000.0
        self.hub = Hub(limit, clock=lambda: self.now)

    def run(self, session: str, companions: int = 0) -> FakeRunner:
        runner = FakeRunner()
        self.hub.run(session, runner, [FakeRunner() for _ in range(companions)])  # type: ignore[arg-type, list-item]
        return runner

    def after(self, seconds: float, *polling: str) -> None:
        for _ in range(round(seconds)):
            self.now += 1
            for session in polling:
                self.hub.poll(session)
            self.hub.supervise()


def test_a_closed_tab_ends_its_run_after_the_grace() -> None:
    world = World()
    runner = world.run("a")
    assert runner.state == "running"
    world.hub.detach("a")
    world.after(hubs.GRACE_SECONDS - 1)
    assert runner.state == "running"
    world.after(3)
    assert runner.state == "stopped" and world.hub.active == 0


def test_a_picture_under_way_when_the_tab_closes_does_not_keep_the_run() -> None:
    world = World()
    runner = world.run("a")
    world.hub.detach("a")
    world.hub.poll("a")
    world.after(hubs.GRACE_SECONDS + 2)
    assert runner.state == "stopped"


def test_who_goes_on_looking_keeps_the_run_though_the_connection_was_reported_lost() -> None:
    world = World()
    runner = world.run("a")
    world.hub.detach("a")
    world.after(5, "a")
    world.after(hubs.GRACE_SECONDS + 5)
    assert runner.state == "running"


def test_coming_back_within_the_grace_keeps_the_run() -> None:
    world = World()
    runner = world.run("a")
    world.hub.detach("a")
    world.after(5)
    world.hub.attach("a")
    assert world.hub.lease("a").runner is runner
    world.after(60)
    assert runner.state == "running"


def test_to_look_at_a_lease_does_not_keep_it() -> None:
    """A picture under way when the tab is closed looks at its run several times."""
    world = World()
    runner = world.run("a")
    world.hub.detach("a")
    assert world.hub.lease("a").runner is runner
    world.after(60)
    assert runner.state == "stopped"


def test_nobody_looks_so_it_rests_and_a_look_wakes_it_and_it_ends_for_others_only() -> None:
    world = World(limit=1)
    runner = world.run("a")
    world.after(hubs.PAUSE_UNWATCHED_SECONDS + 2)
    assert runner.state == "paused"
    world.hub.poll("a")
    assert runner.state == "running" and runner.heard == ["pause", "resume"]
    world.after(hubs.STOP_UNWATCHED_SECONDS + 2)
    assert runner.state == "paused", "the tab is open: what it shows is there when its user comes back"
    other = world.run("b")
    world.after(2, "b")
    assert runner.state == "stopped" and other.state == "running", "but not while somebody waits for its place"


def test_a_run_the_user_paused_is_not_woken_by_looking() -> None:
    world = World()
    runner = world.run("a")
    runner.state = "paused"
    world.after(hubs.PAUSE_UNWATCHED_SECONDS + 2)
    world.hub.poll("a")
    assert runner.state == "paused" and runner.heard == []


def test_beyond_the_limit_runs_wait_in_line() -> None:
    world = World(limit=2)
    first, second, third, fourth = (world.run(session) for session in "abcd")
    assert [run.state for run in (first, second, third, fourth)] == ["running", "running", "waiting", "waiting"]
    assert [world.hub.place_in_line(session) for session in "abcd"] == [0, 0, 1, 2]
    first.state = "done"
    world.hub.supervise()
    assert third.state == "running" and world.hub.place_in_line("d") == 1


def test_a_new_run_takes_the_place_of_the_old_one_with_all_beside_it() -> None:
    world = World()
    old = world.run("a", companions=1)
    companion = world.hub.lease("a").companions[0]
    new = world.run("a")
    assert (old.state, companion.state, new.state) == ("stopped", "stopped", "running")
    assert world.hub.active == 1


@pytest.mark.parametrize(("viewers", "cost", "seconds"), [(1, 0.01, 0.2), (5, 0.01, 0.2), (60, 0.007, 1.2), (60, 1, 3)])
def test_pictures_come_slower_for_many(viewers: int, cost: float, seconds: float) -> None:
    """Five viewers get five pictures per second; together they never cost more than their share of a core."""
    world = World(limit=100)
    for session in range(viewers):
        world.run(str(session))
    for _ in range(500):
        world.hub.measure_frame(cost)
    assert world.hub.interval() == pytest.approx(seconds, rel=1e-3)


def fill(world: World, topic: str = "") -> list[FakeRunner]:
    """As many runs as make a server busy."""
    runners = [FakeRunner() for _ in range(hubs.BUSY)]
    for at, runner in enumerate(runners):
        world.hub.run(f"host {at}", runner, topic=topic or f"topic {at}")  # type: ignore[arg-type]
    return runners


def test_on_an_idle_server_everybody_gets_a_run_of_her_own() -> None:
    world = World(limit=100)
    world.hub.run("a", FakeRunner(), topic="digits")  # type: ignore[arg-type]
    assert not world.hub.join("b", "digits")


def test_on_a_busy_server_a_newcomer_joins_the_newest_run_of_the_same_experiment() -> None:
    world = World(limit=100)
    runners = fill(world, "digits")
    assert not world.hub.join("a", "words") and world.hub.join("b", "digits")
    assert world.hub.lease("b").runner is runners[-1] and world.hub.place_in_line("b") == 0
    assert world.hub.active == hubs.BUSY, "no run was added"
    newest = f"host {len(runners) - 1}"
    assert world.hub.is_shared("b") and world.hub.is_shared(newest) and not world.hub.is_shared("host 0")


def test_a_class_that_shares_one_run_keeps_the_server_busy() -> None:
    world = World(limit=100)
    runners = fill(world, "digits")
    for guest in range(hubs.BUSY):
        assert world.hub.join(f"guest {guest}", "digits")
    for host in range(len(runners) - 1):
        world.hub.end(f"host {host}")
    assert world.hub.active == 1
    assert world.hub.join("late", "digits") and world.hub.lease("late").runner is runners[-1]
    runners[-1].state = "done"
    assert not world.hub.join("later", "digits"), "whoever looks at what has ended keeps nobody busy"


def test_a_class_that_opens_a_link_at_once_shares_a_run() -> None:
    world, made = World(limit=100), []

    def make() -> FakeRunner:
        made.append(FakeRunner())
        time.sleep(0.01)  # the others come meanwhile
        return made[-1]

    with ThreadPoolExecutor(20) as students:
        for student in range(20):
            students.submit(world.hub.join_or_run, f"student {student}", "digits", make)  # type: ignore[arg-type]
    assert len(made) == hubs.BUSY
    assert max(world.hub.watchers(f"student {student}") for student in range(20)) == 20 - hubs.BUSY + 1


def test_a_finished_or_withdrawn_run_is_not_joined() -> None:
    world = World(limit=100)
    runners = fill(world)
    world.hub.run("more", FakeRunner())  # type: ignore[arg-type]
    runners[0].state = "done"
    assert not world.hub.join("a", "topic 0")
    assert not world.hub.withdraw("host 1") and not world.hub.join("a", "topic 1")
    assert world.hub.join("a", "topic 2") and world.hub.withdraw("a"), "somebody else watches it"


def test_a_newcomer_joins_the_run_that_most_watch() -> None:
    world = World(limit=100)
    runners = fill(world, "topic")
    assert world.hub.join("a", "topic") and world.hub.lease("a").runner is runners[-1], "the newest of equals"
    world.hub.run("alone", FakeRunner(), topic="topic")  # type: ignore[arg-type]
    assert world.hub.join("b", "topic") and world.hub.lease("b").runner is runners[-1]
    assert world.hub.join("alone", "topic") and world.hub.lease("alone").runner is runners[-1], (
        "not her own, which ends"
    )


def test_a_shared_run_lives_and_moves_as_long_as_one_of_its_viewers_watches() -> None:
    world = World(limit=100)
    runner = fill(world)[0]
    assert world.hub.join("guest", "topic 0")
    world.hub.detach("host 0")
    world.after(hubs.PAUSE_UNWATCHED_SECONDS + 2, "guest")
    assert runner.state == "running" and not world.hub.is_shared("guest")
    world.after(hubs.PAUSE_UNWATCHED_SECONDS + 2)
    assert runner.state == "paused"
    world.hub.poll("guest")
    assert runner.state == "running"
    world.hub.detach("guest")
    world.after(hubs.GRACE_SECONDS + 5)
    assert runner.state == "stopped"


def test_who_takes_another_run_leaves_the_shared_one_to_the_others() -> None:
    world = World(limit=100)
    runner = fill(world)[0]
    assert world.hub.join("guest", "topic 0")
    own = world.run("guest")
    assert (runner.state, own.state) == ("running", "running")
    world.hub.end("guest")
    assert (runner.state, own.state) == ("running", "stopped")


def test_a_guest_of_a_run_in_line_starts_with_it() -> None:
    world = World(limit=hubs.BUSY)
    runners = fill(world)
    waiting = FakeRunner()
    world.hub.run("late", waiting, topic="new")  # type: ignore[arg-type]
    assert world.hub.join("guest", "new") and world.hub.place_in_line("guest") == 2
    runners[0].state = "done"
    world.hub.supervise()
    assert waiting.state == "running" and world.hub.place_in_line("guest") == 0


def test_one_visitor_cannot_take_the_whole_server() -> None:
    world = World(limit=100)
    for tab in range(hubs.MAX_RUNS_OF_VISITOR + 1):
        world.hub.assign(f"a{tab}", "ann")
    runners = [world.run(f"a{tab}") for tab in range(hubs.MAX_RUNS_OF_VISITOR + 1)]
    assert [runner.state for runner in runners[-2:]] == ["running", "waiting"]
    assert "You may run 6 experiments" in world.hub.why_waiting(f"a{hubs.MAX_RUNS_OF_VISITOR}", "experiment")
    world.hub.assign("b", "bob")
    assert world.run("b").state == "running" and world.hub.why_waiting("b", "experiment") == ""
    runners[0].state = "done"
    world.hub.supervise()
    assert runners[-1].state == "running"


def test_whoever_teaches_never_waits_in_line() -> None:
    world = World(limit=2)
    for session in "abc":
        world.hub.assign(session, session)
    runs = [world.run(session) for session in "abc"]
    assert [run.state for run in runs] == ["running", "running", "waiting"]
    world.hub.assign("lecturer", "", teaches=True)
    assert world.run("lecturer").state == "running" and world.hub.place_in_line("lecturer") == 0
    assert runs[2].state == "waiting" and world.hub.place_in_line("c") == 1, "which helps nobody else"
    world.hub.detach("a")
    world.after(hubs.GRACE_SECONDS + 1, "b", "c", "lecturer")
    assert runs[2].state == "waiting", "her run counts"
    world.hub.detach("b")
    world.after(hubs.GRACE_SECONDS + 1, "c", "lecturer")
    assert runs[2].state == "running"


@pytest.mark.parametrize("of", [live_run, comparisons, advice_run])
def test_clearing_the_caches_of_streamlit_loses_no_run(of: ModuleType) -> None:
    before = of.hub()
    live_run.st.cache_resource.clear()
    assert of.hub() is before
