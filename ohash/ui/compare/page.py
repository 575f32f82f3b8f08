"""The ticking parts of the Compare page: the verdict, the curves, what follows from them, and two galleries."""

import html
from collections.abc import Callable
from functools import partial

import streamlit as st

from ohash.comparison.results import ComparisonSnapshot
from ohash.comparison.runner import ComparisonRunner
from ohash.comparison.verdict import verdict
from ohash.engine.gallery import nearest
from ohash.engine.narrative import pairs_in_words
from ohash.plots import compare as charts
from ohash.plots.chart import Chart
from ohash.ui import earlier_runs as shelf
from ohash.ui import state
from ohash.ui import view_state as memory
from ohash.ui.compare import cards, comparisons
from ohash.ui.gallery import gallery_html
from ohash.ui.live import page as live
from ohash.ui.session import Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.messages import plain
from ohash.ui.workarounds.slots import once, slot, when
from ohash.ui.workarounds.style import dark

RESTING = ("paused", "done", "error", "stopped")
STILL_SECONDS = 5.0  # between two pictures for who wants no motion
OVER = {"pairs": "pairs", "CPU time": "cpu"}
LEGEND = (
    '<p class="ohash-legend"><i style="border-top-style:solid"></i>learns from pairs '
    '<i style="border-top-style:dashed"></i>from nothing <i style="border-top-style:dotted"></i>from labels</p>'
)
MORE = ("precision-recall", "radius 2", "re-ranking", "bits recomputed")


def transport(session: Session, runner: ComparisonRunner) -> None:
    """Pause, again, and what the curves are drawn over."""
    going = runner.state not in RESTING
    with st.container(horizontal=True, key="transport", vertical_alignment="center"):
        if runner.state not in ("done", "error", "stopped"):
            st.button(
                "Pause" if going else "Play", icon=":material/pause:" if going else ":material/play_arrow:",
                type="primary", shortcut="space", on_click=once(_play_pause), args=(runner,), key="compare_play",
            )  # fmt: skip
        st.button(
            "Again", icon=":material/replay:", key="reset", on_click=once(_again), args=(session,), help="Key: R",
        )  # fmt: skip
        st.segmented_control(
            "over", list(OVER), default="pairs", key="view_over", label_visibility="collapsed", required=True
        )
        st.html(LEGEND, width="content")


def verdict_area(session: Session) -> None:
    """What the numbers say."""
    _ticking(session, "compare_verdict", _verdict, 0.5)


def curves_area(session: Session) -> None:
    """The two truths over pairs or CPU time."""
    _ticking(session, "compare_curves", _curves, 0.4)


def rest_area(session: Session) -> None:
    """Scatter, bits, results, costs: they change at checkpoints only."""
    _ticking(session, "compare_rest", _rest, 1.5)


def gallery_area(session: Session) -> None:
    """One query, two methods."""
    _ticking(session, "compare_gallery", _gallery, 2.0)


def gallery_bar(session: Session, snapshot: ComparisonSnapshot) -> None:
    """Which two, and which query."""
    names = dict(enumerate(snapshot.names))
    with st.container(horizontal=True, key="gallery_bar", vertical_alignment="center"):
        st.markdown("**One query, two methods** · ✓ relevant, ✗ not", width="content")
        for side in (0, 1):
            here = session.sides[side] if session.sides[side] in names else len(names) - 1
            one = slot(f"side_{side}", here, list(names))
            st.selectbox(
                f"method {side + 1}", one.options, one.index, key=one.key, format_func=lambda at: names.get(at, ""),
                label_visibility="collapsed", width=170, on_change=when(one, partial(_pick_side, session, side)),
            )  # fmt: skip
        st.button(
            "Another query",
            icon=":material/shuffle:",
            on_click=once(state.another_query),
            args=(session,),
            key="another",
        )


def to_live(session: Session, runner: ComparisonRunner) -> None:
    """A method of the comparison on the Live page: as the reference there, or as the run itself."""
    snapshot = runner.snapshot()
    names = dict(enumerate(snapshot.names))
    with st.container(horizontal=True, key="to_live", vertical_alignment="center"):
        st.markdown("**On the Live page**", width="content")
        at = st.selectbox(
            "which", list(names), key="view_to_live", format_func=lambda at: names.get(at, ""),
            label_visibility="collapsed", width=170,
        )  # fmt: skip
        st.button(
            "Pin as reference", icon=":material/keep:", key="compare_pin", on_click=once(_pin),
            args=(session, runner, at),
            help="Its curve stays on Live beside whatever runs there.",
        )  # fmt: skip
        if st.button("Watch it learn", icon=":material/play_arrow:", key="compare_watch"):
            state.commit(session, runner.comparison.experiment(snapshot.entries[at]))
            st.switch_page("pages/live.py")


def more_charts(session: Session) -> None:
    """Precision-recall, radius 2, re-ranking, bits recomputed; and every chart as numbers."""
    _ticking(session, "compare_more", _more, 2.0)


def show(session: Session, chart: Chart, key: str, height: int) -> None:
    """A chart with the fairness line under it."""
    live.ready(chart, key, height, 340 if session.narrow else 460).send()
    if chart.caption and not chart.empty:
        st.html(f'<p class="ohash-fair">{html.escape(chart.caption)}</p>')


def _ticking(session: Session, key: str, draw: Callable[[Session], None], every: float) -> None:
    runner = comparisons.of(session)
    going = runner.state not in RESTING
    rhythm = max(every, STILL_SECONDS * session.still)
    fragment(partial(draw, session), key=key, every=rhythm if going else None)


def _verdict(session: Session) -> None:
    runner = comparisons.of(session)
    hub = comparisons.hub()
    hub.poll(session.id)
    hub.tend()
    snapshot = runner.snapshot()
    st.html(cards.verdict_html(snapshot, verdict(snapshot), runner.state))
    place = hub.place_in_line(session.id)
    if place:
        st.info(f"This server compares {hub.most} at once; yours is number {place} in line and starts by itself.")
    if runner.error:
        st.error(f"{plain(runner.error)}. Change something, or press Again.", icon=":material/error:")
    for name, error in snapshot.errors.items():
        st.warning(f"{plain(name)}: {plain(error)}. The others go on.", icon=":material/info:")
    for one in snapshot.missing:
        st.warning(f"{plain(one)}. This length is missing below.", icon=":material/info:")
    resting = runner.state in RESTING
    if resting != session.compare_resting:  # the timers are no longer needed, or needed again
        session.compare_resting = resting
        st.rerun()


def _curves(session: Session) -> None:
    snapshot = comparisons.of(session).snapshot()
    over = OVER[memory.view("over") or "pairs"]
    left, right = st.columns(2)
    with left:
        show(session, charts.curves(snapshot, "map", over=over), "compare_map", 280)
    with right:
        show(session, charts.curves(snapshot, "recall_10", over=over), "compare_recall", 280)


def _rest(session: Session) -> None:
    snapshot = comparisons.of(session).snapshot()
    left, right = st.columns(2)
    with left:
        show(session, charts.truths(snapshot), "compare_truths", 300)
    with right:
        show(session, charts.by_bits(snapshot), "compare_bits", 300)
    fallen = cards.dips_html(snapshot)
    if fallen:
        st.markdown("**The drift**")
        st.html(fallen)
    if snapshot.judged:
        st.markdown("**Results**")
        st.html(cards.results_html(snapshot, dark=dark()))
        st.caption(
            "± behind a difference: 95 % interval from a bootstrap over the queries, with several seeds at least "
            "that of their mean, then the "
            "spread over seeds; behind mAP: spread over seeds. "
            "The float vectors are a reference, not a ceiling."
        )
    cost = cards.costs_html(snapshot, dark=dark())
    if cost:
        st.markdown("**What it costs**, measured on this machine, one query at a time")
        st.html(cost)
    if snapshot.trials and snapshot.phase != "trials":
        _tuned(snapshot)


def _tuned(snapshot: ComparisonSnapshot) -> None:
    """What the trials found."""
    lines = []
    for at, (name, entry) in enumerate(zip(snapshot.names, snapshot.entries, strict=True)):
        mine = [trial for trial in snapshot.trials if trial.entry == at]
        if mine:
            best = max((trial.map for trial in mine if trial.map == trial.map), default=float("nan"))
            lines.append(
                f"{name}: {len(mine)} trial{'s' * (len(mine) > 1)}, validation mAP {mine[0].map:.3f} → {best:.3f}, "
                f"`{entry.text()}`"
            )
    st.markdown("**Tuned on the validation queries, reported on the test queries**  \n" + "  \n".join(lines))


def _more(session: Session) -> None:
    snapshot = comparisons.of(session).snapshot()
    charts_here = st.expander(
        "Precision-recall, radius 2, re-ranking, bits recomputed", key="open_more", on_change="rerun"
    )
    if charts_here.open:
        columns = charts_here.columns(2)
        for at, name in enumerate(MORE):
            with columns[at % 2]:
                show(session, charts.CHARTS[name](snapshot), f"more_{at}", 270)
    tables = st.expander("Tables: every chart as numbers", key="open_tables", on_change="rerun")
    if tables.open:
        for name, make in charts.CHARTS.items():
            tables.caption(name)
            tables.dataframe(make(snapshot).table(), height=180, hide_index=True)


def _gallery(session: Session) -> None:
    runner = comparisons.of(session)
    for side in session.sides:
        with runner.between_steps():
            method_run = runner.first_seed_runs[side] if side < len(runner.first_seed_runs) else None
            if method_run is None or method_run.run is None or method_run.error:
                continue
            found = nearest(method_run.run, session.query, row=session.row)
            dataset = method_run.run.world.dataset
        name = runner.snapshot().names[side]
        st.caption(f"{name}: {int(found.relevant.sum())} of {len(found.rows)} relevant after {pairs_in_words(found.t)}")
        st.html(gallery_html(found, dataset, dark=dark()))


def _play_pause(runner: ComparisonRunner) -> None:
    runner.pause() if runner.state == "running" else runner.resume()


def _again(session: Session) -> None:
    assert session.comparison is not None
    comparisons.choose(session, session.comparison, again=True)


def _pick_side(session: Session, side: int, at: int) -> None:
    session.sides = (at, session.sides[1]) if side == 0 else (session.sides[0], at)


def _pin(session: Session, runner: ComparisonRunner, at: int) -> None:
    method_run = runner.first_seed_runs[at] if at < len(runner.first_seed_runs) else None
    if method_run is None or method_run.run is None:
        st.toast("There is nothing to pin yet.", icon=":material/info:")
        return
    with runner.between_steps():
        now = method_run.run.snapshot("done" if method_run.done else "left")
    name = runner.comparison.names[at]
    shelf.pin(session, now, f"{name} on {now.params.run.judged_by} queries")
    st.toast(f"{name} is now the reference on Live.", icon=":material/keep:")
