"""Share and export a run: the link, a QR code for a classroom, files."""

import json
import math
import tempfile
from functools import partial
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import streamlit as st

from ohash.engine.export import checkpoint_columns, code_for, summary, to_parquet
from ohash.engine.export import facts as facts_of
from ohash.engine.gallery import Neighbours
from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.narrative import judged_on, title_of
from ohash.engine.snapshot import Snapshot
from ohash.models.storage import save
from ohash.plots.live import charts
from ohash.streams.dataset import Dataset
from ohash.table_files import to_csv
from ohash.ui.live import reference_runs
from ohash.ui.parts.items import table_html
from ohash.ui.parts.sharing import (
    JSON,
    link_here,
    offer_file,
    on_network,
    qr_html,
    run_file_stem,
    what_a_link_holds,
)
from ohash.ui.session import access, live_run, own_data, view_state
from ohash.ui.session.broadcast import ChartSwitches
from ohash.ui.session.classroom import LONGEST_NAME, MAX_BITS, classroom
from ohash.ui.session.session import Session
from ohash.ui.workarounds.hosts import LOCAL_HOSTS
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import once_per_press


def buttons(session: Session) -> None:
    """Share and Export; their content is made when they are opened, for the run as it is then."""
    with st.popover("Share", icon=":material/share:", key="open_share", on_change="rerun") as share:
        if share.open:
            _share(session)
        else:
            session.board_answer = ""
    with st.popover("Export", icon=":material/download:", key="open_export", on_change="rerun") as export:
        if export.open:
            _export(session)


def _share(session: Session) -> None:
    link = link_here(session.params.to_query())
    parts = "data set, parameters, seed and live changes"
    st.markdown(what_a_link_holds(f"experiment: {parts}", session.params.content))
    st.code(link, language=None, wrap_lines=True)
    public = on_network(link)
    if st.get_option("server.address") in LOCAL_HOSTS:
        st.markdown(
            "**On your network**: this server answers this machine only. To share it with a class, start it with "
            f"`ohash-lab --class --server.port {st.get_option('server.port')}`, which leaves "
            "stored runs, sweeps and folders to you; then others can scan:"
        )
    else:
        st.markdown("**On your network**: others can scan:")
    st.html(qr_html(public))
    st.caption(urlsplit(public)._replace(query="").geturl())
    if access.is_class():
        _board(session)


def _board(session: Session) -> None:
    """The results that visitors have put forward, and the way to put forward this one."""
    title = TRUTH_SCORES[truth_column(own_data.similar_by(session))]
    st.markdown(f"**Board**: best {title} on {escape_markdown(_judged(session))} with at most {MAX_BITS} bits")
    rows = [[entry.name, f"{entry.score:.3f}", str(entry.bits)] for entry in classroom().board(_task(session))]
    if rows:
        st.html(table_html(["name", title, "bits"], rows, numbers=frozenset({1, 2})))
    if session.board_answer:  # above the button, whose foot may lie below that of the menu
        st.caption(escape_markdown(session.board_answer))
    if not math.isfinite(_score(live_run.latest_snapshot(session))):
        st.caption(f"This run has no {title} yet, or its data have no labels.")
        return
    st.text_input("Name on the board", max_chars=LONGEST_NAME, key="view_board_name")
    st.button(
        "Enter this run", key="board_enter", help="For everybody on this server to see, until it stops.",
        on_click=once_per_press(partial(_enter, session)),
    )  # fmt: skip


def _score(now: Snapshot | None) -> float:
    """What counts on the board: mAP, or hit@10 of clicks; NaN before anything has been measured."""
    return math.nan if now is None else now.numbers.get(truth_column(now.similar_by), math.nan)


def _judged(session: Session) -> str:
    """Data and truth in words."""
    own = session.own.get(session.params.content)
    data = title_of(session.params) if own is None else own.title
    return f"{data} ({judged_on(session.params, own_data.similar_by(session))})"


def _task(session: Session) -> str:
    """Data and truth, as the board needs them: files of two visitors, or points they painted, may share a name."""
    return f"{_judged(session)} {session.params.dataset} {session.params.content}"


def _enter(session: Session) -> None:
    """Put the run as it is now on the board; the answer stays until Share is closed, whatever is drawn meanwhile."""
    now = live_run.latest_snapshot(session)
    score = _score(now)
    if now is None or not math.isfinite(score):
        session.board_answer = "This run was restarted and has not been judged yet."
        return
    who, name = access.visitor() or "owner", view_state.view("board_name") or ""
    session.board_answer = classroom().enter(who, name, score, round(now.numbers["bits"]), _task(session))


def _export(session: Session) -> None:
    from ohash.plots.renderers.plotly import to_html  # noqa: PLC0415 (plotly is heavy)
    from ohash.plots.renderers.svg import to_svg  # noqa: PLC0415

    now = live_run.runner(session).snapshot()
    if now is None:
        st.caption("There is nothing to export yet.")
        return
    run = live_run.runner(session).run
    truth = truth_column(now.similar_by)
    figures = {
        TRUTH_SCORES[truth]: reference_runs.quality(session, now, truth),
        "recall@10": reference_runs.quality(session, now, "recall_10"),
        "hills": charts.hills(now),
        "loss": charts.loss(now),
        "tau": charts.tau(now),
    }
    name = run_file_stem(now.params)
    binary = "application/octet-stream"
    offer_file("History (CSV)", lambda: to_csv(now.columns), f"{name}-history.csv", "text/csv")
    offer_file("Checkpoints (CSV)", lambda: to_csv(checkpoint_columns(now)), f"{name}-checkpoints.csv", "text/csv")
    offer_file("History (Parquet)", lambda: to_parquet(now.columns), f"{name}-history.parquet", binary)
    offer_file("Parameters and numbers (JSON)", lambda: json.dumps(summary(now), indent=2), f"{name}.json", JSON)
    facts = _facts(session, now, link_here({}))
    offer_file(
        "Figures (HTML)", lambda: to_html(list(figures.values()), title=facts["run"], facts=facts), f"{name}.html",
        "text/html",
    )  # fmt: skip
    for title, chart in figures.items():
        offer_file(f"Figure {title} (SVG)", partial(to_svg, chart), f"{name}-{title}.svg", "image/svg+xml")
    files, hide = own_data.files_of(session, now.params.content), own_data.hide_folders()
    offer_file("Code for this run", lambda: hide(code_for(now.params, files)), f"{name}.py", "text/x-python")
    if run is not None:
        address = link_here({})
        score = ChartSwitches(view_state.view("quality") or "mAP").score(now.similar_by)
        recording = partial(_recording, session, address, score)
        offer_file("Recording (HTML)", recording, f"{name}-recording.html", "text/html")
        offer_file("Animation (GIF)", partial(_animation, session, address, score), f"{name}.gif", "image/gif")
        offer_file("Model (npz)", lambda: _model(session), f"{name}.npz", binary)


def _facts(session: Session, now: Snapshot, address: str) -> dict[str, str]:
    """What a reader of an exported page must know to repeat it; `address` is that of this page with its "?"."""
    own = session.own.get(now.params.content)
    return facts_of(
        now, title_of(now.params) if own is None else own.title, f"{address}{urlencode(now.params.to_query())}"
    )


def _recording(session: Session, address: str, score: str) -> str:
    """The run from its start to now as a page that plays."""
    from ohash.web.continuation import continuation  # noqa: PLC0415
    from ohash.web.recording import recording_page  # noqa: PLC0415

    runner = live_run.runner(session)
    with runner.between_steps():
        assert runner.run is not None
        shown, dataset = runner.moments.with_curves(runner.run, runner.state), runner.run.world.dataset
        more = continuation(runner.run, [now for now, _ in shown])
    return recording_page(shown, dataset, _facts(session, shown[-1][0], address), score, more)


def _animation(session: Session, address: str, score: str) -> bytes:
    """The run from its start to now as an animation for slides."""
    from ohash.web.animation import recording_gif  # noqa: PLC0415

    shown, dataset = _shown(session)
    return recording_gif(shown, dataset, _facts(session, shown[-1][0], address)["run"], score)


def _shown(session: Session) -> tuple[list[tuple[Snapshot, Neighbours]], Dataset]:
    runner = live_run.runner(session)
    with runner.between_steps():
        assert runner.run is not None
        return runner.moments.with_curves(runner.run, runner.state), runner.run.world.dataset


def _model(session: Session) -> bytes:
    runner = live_run.runner(session)
    with tempfile.TemporaryDirectory() as folder, runner.between_steps():
        assert runner.run is not None
        file = Path(folder) / "model.npz"
        save(runner.run.model(), file)
        return file.read_bytes()
