"""The parts of the Compare page that are redrawn while it runs: verdict, curves, results, costs, and two galleries."""

import html
from dataclasses import replace
from functools import partial

import streamlit as st

from ohash.comparison.results import ComparisonSnapshot
from ohash.comparison.runner import ComparisonRunner
from ohash.comparison.verdict import verdict
from ohash.core.parameters import FrozenSettings, format_value
from ohash.engine.export import encoder_archive
from ohash.engine.gallery import nearest
from ohash.engine.narrative import amount
from ohash.engine.run import Run
from ohash.models.base import HasherSpec
from ohash.plots import compare as charts
from ohash.plots.chart import Chart
from ohash.plots.compare_costs import quality_against_cost
from ohash.plots.gallery import gallery_html
from ohash.ui.compare import cards
from ohash.ui.parts import background_work
from ohash.ui.parts.live_chart import NARROW, live_chart
from ohash.ui.parts.sharing import file_stem
from ohash.ui.session import comparisons, live_run, view_state
from ohash.ui.session.session import Session
from ohash.ui.workarounds.downloads import keep_download
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import on_choice, once_per_press, slot
from ohash.ui.workarounds.style import dark

OVER = {"pairs": "pairs", "CPU time": "cpu"}
LEGEND = (
    '<p class="ohash-legend"><i style="border-top-style:solid"></i>learns from pairs '
    '<i style="border-top-style:dashed"></i>unsupervised <i style="border-top-style:dotted"></i>learns from labels</p>'
)
ZIP = "application/zip"
MORE = ("precision-recall", "radius 2", "re-ranking", "bits recomputed")
_draw_while_running = partial(background_work.draw_while_running, comparisons.runner)


def transport(session: Session) -> None:
    """Pause, restart, and the x axis of the curves."""
    current, again = partial(comparisons.runner, session), partial(_run_again, session)
    with st.container(horizontal=True, key="transport", vertical_alignment="center"):
        background_work.transport(current, "compare_play", again, "Restart the comparison from the first pair.")
        st.segmented_control(
            "over", list(OVER), default="pairs", key="view_over", label_visibility="collapsed", required=True
        )
        st.html(LEGEND, width="content")


def verdict_area(session: Session) -> None:
    """The verdict in sentences."""
    _draw_while_running(session, "compare_verdict", _verdict, 0.5)


def curves_area(session: Session) -> None:
    """The curves of both truths, over pairs or CPU time."""
    _draw_while_running(session, "compare_curves", _curves, 0.4)


def results_area(session: Session) -> None:
    """Scatter, bits, results, costs: they only change at checkpoints."""
    _draw_while_running(session, "compare_rest", _draw_results, 1.5)


def gallery_area(session: Session) -> None:
    """One query, two methods."""
    _draw_while_running(session, "compare_gallery", _gallery, 2.0)


def gallery_bar(session: Session, snapshot: ComparisonSnapshot) -> None:
    """Which two, and which query."""
    names = dict(enumerate(snapshot.names))
    with st.container(horizontal=True, key="gallery_bar", vertical_alignment="center"):
        st.markdown("**One query, two methods** · ✓ relevant, ✗ not relevant", width="content")
        for side in (0, 1):
            chosen = session.sides[side] if session.sides[side] in names else len(names) - 1
            one = slot(f"side_{side}", chosen, list(names))
            st.selectbox(
                f"method {side + 1}", one.options, one.index, key=one.key, format_func=lambda at: names.get(at, ""),
                label_visibility="collapsed", width=170, on_change=on_choice(one, partial(_pick_side, session, side)),
            )  # fmt: skip
        st.button(
            "Next query",
            icon=":material/shuffle:",
            on_click=once_per_press(live_run.next_query),
            args=(session,),
            key="another",
        )


def to_live(session: Session, runner: ComparisonRunner) -> None:
    """Take a method of the comparison to the Live page, as the reference or as the run itself."""
    snapshot = runner.snapshot()
    names = dict(enumerate(snapshot.names))
    with st.container(horizontal=True, key="to_live", vertical_alignment="center"):
        st.markdown("**Open on the Live page**", width="content")
        at = st.selectbox(
            "which", list(names), key="view_to_live", format_func=lambda at: names.get(at, ""),
            label_visibility="collapsed", width=170,
        )  # fmt: skip
        st.button(
            "Pin as reference", icon=":material/keep:", key="compare_pin", on_click=once_per_press(_pin),
            args=(session, runner, at),
            help="Draw its curve behind the run on Live.",
        )  # fmt: skip
        if st.button("Watch it learn", icon=":material/play_arrow:", key="compare_watch"):
            live_run.commit(session, runner.comparison.experiment(snapshot.entries[at]))
            st.switch_page("pages/live.py")
        # It can be downloaded as soon as its curve has ended; from then on it is not drawn again, because a press on a
        # button that the server has just drawn anew is lost.
        if _finished_run(session) is None:
            _draw_while_running(session, "compare_taking", _wait_for_encoder, 2.0)
        else:
            fragment(partial(_take, session), key="compare_taking")


def _finished_run(session: Session) -> Run | None:
    """The run of the chosen method with the first seed, once it has ended without an error."""
    runs, at = comparisons.runner(session).first_seed_runs, int(view_state.view("to_live") or 0)
    method_run = runs[at] if at < len(runs) else None
    return None if method_run is None or not method_run.done or method_run.error else method_run.run


def _wait_for_encoder(session: Session) -> None:
    _take(session)
    if _finished_run(session) is not None:
        st.rerun()


def _take(session: Session) -> None:
    """The encoder of the chosen method as one archive, made when it is asked for."""
    runner, at = comparisons.runner(session), int(view_state.view("to_live") or 0)
    name = runner.comparison.names[min(at, len(runner.comparison.names) - 1)]
    run, file = _finished_run(session), f"{file_stem(runner.comparison.dataset, name, 'encoder')}.zip"

    def archive() -> bytes:
        assert run is not None
        with runner.between_steps():
            return encoder_archive(run)

    st.download_button(
        "Download this encoder", b"" if run is None else keep_download(archive, file, ZIP), icon=":material/download:",
        key="compare_take", file_name=file, mime=ZIP, on_click="ignore", disabled=run is None,
        help="Model, codes and index, an encoder in plain NumPy, and codes for faiss, pgvector and Milvus, in one zip. "
        + ("Of the first seed." if len(runner.comparison.seeds) > 1 else ""),
    )  # fmt: skip


def more_charts(session: Session) -> None:
    """Precision-recall, radius 2, re-ranking, bits recomputed; and the data behind every chart."""
    _draw_while_running(session, "compare_more", _more, 2.0)


def show(session: Session, chart: Chart, key: str, height: int) -> None:
    """A chart with its fairness note below it."""
    live_chart(chart, key, height, NARROW if session.narrow else 460, highlight=True).send()
    if chart.caption and not chart.empty:
        st.html(f'<p class="ohash-fair">{html.escape(chart.caption)}</p>')


def _verdict(session: Session) -> None:
    runner = comparisons.runner(session)
    hub = comparisons.hub()
    hub.poll(session.id)
    hub.supervise()
    snapshot = runner.snapshot()
    st.html(cards.verdict_html(snapshot, verdict(snapshot), runner.state))
    background_work.show_state(session, hub, runner, "comparison", "Change a setting, or press Run again.")
    for name, error in snapshot.errors.items():
        message = f"{escape_markdown(name)}: {escape_markdown(error)}. The other methods continue."
        st.warning(message, icon=":material/info:")
    for problem in snapshot.missing:
        st.warning(f"{escape_markdown(problem)}. This code length is missing below.", icon=":material/info:")
    background_work.follow_rest(session.comparison_work, runner)


def _curves(session: Session) -> None:
    snapshot = comparisons.runner(session).snapshot()
    over = OVER[view_state.view("over") or "pairs"]
    measures = {"compare_map": "", "compare_recall": "recall_10"}
    *_, last = kinds = charts.kinds(snapshot)
    for kind in kinds:
        for column, (key, metric) in zip(st.columns(2), measures.items(), strict=True):
            chart = charts.curves(snapshot, metric, over=over, kind=kind)
            with column:
                show(session, chart if kind == last else replace(chart, caption=""), f"{key}{kind and '_'}{kind}", 280)


def _draw_results(session: Session) -> None:
    snapshot = comparisons.runner(session).snapshot()
    left, right = st.columns(2)
    with left:
        show(session, charts.truths(snapshot), "compare_truths", 300)
    with right:
        show(session, charts.by_bits(snapshot), "compare_bits", 300)
    dips = cards.dips_html(snapshot)
    if dips:
        st.markdown("**Effect of the drift**")
        st.html(dips)
    if snapshot.judged:
        st.markdown("**Results**")
        st.html(cards.results_html(snapshot, dark=dark()))
        st.caption(
            "± after a difference: 95 % interval, the wider of a bootstrap over the queries and the interval of the "
            "seeds' mean; fewer than three seeds have none. ± after a score: spread over seeds. Exact search in its "
            "features: recall@10 of the features a method works on, uncompressed. Float vectors: exact search among "
            "the vectors themselves, 4 bytes per value; a reference, not an upper bound, as codes may learn what "
            "that distance does not capture."
        )
    cost = cards.costs_html(snapshot, dark=dark())
    if cost:
        st.markdown("**Costs**, measured on this machine, one query at a time")
        st.html(cost)
        for score in (snapshot.truth_column, "recall_10"):
            left, right = st.columns(2)
            with left:
                show(session, quality_against_cost(snapshot, score, "queries"), f"cost_queries_{score}", 270)
            with right:
                show(session, quality_against_cost(snapshot, score, "bytes"), f"cost_bytes_{score}", 270)
    if snapshot.trials and snapshot.phase != "trials":
        _tuning_results(snapshot)


def _tuning_results(snapshot: ComparisonSnapshot) -> None:
    """The results of the trials."""
    lines = []
    for at, (name, entry) in enumerate(zip(snapshot.names, snapshot.entries, strict=True)):
        trials = [trial for trial in snapshot.trials if trial.entry == at]
        if trials:
            best = max((trial.truth for trial in trials if trial.truth == trial.truth), default=float("nan"))
            count = f"{len(trials)} trial{'s' * (len(trials) > 1)}"
            gain = f"{snapshot.truth_label} {trials[0].truth:.3f} → {best:.3f}"
            lines.append(
                f"{escape_markdown(name)}: {count}, validation {gain}, with {_settings(entry.spec, entry.values)}"
            )
    st.markdown("**Tuned on the validation queries, reported on the test queries**  \n" + "  \n".join(lines))
    every = st.expander("Every trial", key="open_trials", on_change="rerun")
    if every.open:
        rows = [
            {
                "method": snapshot.names[one.entry],
                "settings": _settings(snapshot.entries[one.entry].spec, one.values),
                f"validation {snapshot.truth_label}": one.truth,
                "error": one.error,
            }
            for one in snapshot.trials
        ]
        every.dataframe(rows, hide_index=True)


def _settings(spec: HasherSpec, values: FrozenSettings) -> str:
    """Parameters as a person reads them: symbol = value."""
    rows = spec.table
    texts = [f"{rows[key].symbol or rows[key].title} = {format_value(rows[key], value)}" for key, value in values]
    return ", ".join(texts) or "the defaults"


def _more(session: Session) -> None:
    snapshot = comparisons.runner(session).snapshot()
    expander = st.expander(
        "Precision-recall, radius 2, re-ranking, bits recomputed", key="open_more", on_change="rerun"
    )
    if expander.open:
        columns = expander.columns(2)
        for at, name in enumerate(MORE):
            with columns[at % 2]:
                show(session, charts.CHARTS[name](snapshot), f"more_{at}", 270)
    tables = st.expander("Tables: the data behind every chart", key="open_tables", on_change="rerun")
    if tables.open:
        for name, make in charts.CHARTS.items():
            tables.caption(name)
            tables.dataframe(make(snapshot).table(), height=180, hide_index=True)


def _gallery(session: Session) -> None:
    runner = comparisons.runner(session)
    for side in session.sides:
        with runner.between_steps():
            method_run = runner.first_seed_runs[side] if side < len(runner.first_seed_runs) else None
            if method_run is None or method_run.run is None or method_run.error:
                continue
            result = nearest(method_run.run, session.query, row=session.query_row)
            dataset = method_run.run.world.dataset
        name = runner.snapshot().names[side]
        relevant = f"{int(result.relevant.sum())} of {len(result.rows)} relevant"
        st.caption(f"{name}: {relevant} after {amount(result.t, 'pair')}")
        st.html(gallery_html(result, dataset, dark=dark()))


def _run_again(session: Session) -> None:
    assert session.comparison is not None
    comparisons.choose(session, session.comparison, restart=True)


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
    session.pin(now, f"{name} on {now.params.run.judged_by} queries")
    st.toast(f"{name} is now the reference on Live.", icon=":material/keep:")
