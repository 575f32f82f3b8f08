"""Learn or rotate?: the data and how much is measured, the answer, what would change it, the picture and the table."""

import html
from functools import partial

import streamlit as st

from ohash.advice.export import contender_rows, engine_notes, kind_words, protocol, query_rows, table
from ohash.advice.params import AdviceParams, rows
from ohash.advice.results import AdviceSnapshot
from ohash.advice.runner import AdviceRunner
from ohash.advice.verdict import Verdict
from ohash.plots.advice import CHARTS, found_by_bytes
from ohash.plots.renderers.plotly import figure, to_html
from ohash.plots.renderers.svg import to_svg
from ohash.table_files import rows_to_csv
from ohash.ui.parts import background_work, catalogue, static_chart
from ohash.ui.parts.controls import control
from ohash.ui.parts.sharing import file_stem, link_here, offer_file, qr_html, what_a_link_holds
from ohash.ui.session import advice_run
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.style import dark

QUESTION = (
    "Vector databases rotate, take a few bits and rescore; nothing is learnt. Codes can also be learnt from clicks. "
    "Which finds more of **your** later clicks in the same number of bytes?"
)
_draw_while_running = partial(background_work.draw_while_running, advice_run.runner)


def transport(session: Session) -> None:
    """Pause and restart."""
    current, again = partial(advice_run.runner, session), partial(_run_again, session)
    with st.container(horizontal=True, key="transport", vertical_alignment="center"):
        background_work.transport(current, "advise_play", again, "Measure everything again.")


def sharing(session: Session, runner: AdviceRunner) -> None:
    """Share and Export."""
    with st.popover("Share", icon=":material/share:", key="open_share", on_change="rerun") as share:
        if share.open:
            link = link_here(runner.params.to_query())
            st.markdown(what_a_link_holds("question: data, queries, pairs, splits and seed", runner.params.content))
            st.code(link, language=None, wrap_lines=True)
            st.html(qr_html(link))
    with st.popover("Export", icon=":material/download:", key="open_export", on_change="rerun") as export:
        if export.open:
            _export(runner)


def answer_area(session: Session) -> None:
    """The answer in one sentence, and what would change it."""
    _draw_while_running(session, "advise_answer", _answer, 0.5)


def results_area(session: Session) -> None:
    """The picture and the table."""
    _draw_while_running(session, "advise_results", _results, 2.0)


def _answer(session: Session) -> None:
    runner = advice_run.runner(session)
    hub = advice_run.hub()
    hub.poll(session.id)
    hub.supervise()
    snapshot = runner.snapshot()
    st.html(_answer_html(snapshot, runner.answer(), runner.state))
    background_work.show_state(session, hub, runner, "answer", "Choose other data or settings.")
    for title, error in snapshot.errors.items():
        st.warning(f"{escape_markdown(title)}: {escape_markdown(error)}. The others continue.", icon=":material/info:")
    background_work.follow_rest(session.advice_work, runner)


def _answer_html(snapshot: AdviceSnapshot, answer: Verdict, state: str) -> str:
    changes = "".join(f"<li>{html.escape(text)}</li>" for text in answer.changes)
    listed = f"<p>What would change the answer:</p><ul>{changes}</ul>" if changes else ""
    how = f"{protocol(snapshot)} · " if snapshot.n else ""
    activity = "done" if state == "done" else f"{state}, {100 * snapshot.share:.0f} % · {snapshot.activity}"
    return (
        f'<div class="ohash-verdict" role="status" data-state="{state}" data-decision="{answer.decision}">'
        f"<p><b>{html.escape(answer.sentence)}</b></p>{listed}<small>{html.escape(how + activity)} · "
        f"{snapshot.seconds:.0f} s</small></div>"
    )


def _results(session: Session) -> None:
    snapshot = advice_run.runner(session).snapshot()
    if not snapshot.measured:
        return
    columns = st.columns(1 if session.narrow else 2)
    for at, (name, score) in enumerate(list(CHARTS.items())[:2]):
        with columns[at % len(columns)]:
            chart = found_by_bytes(snapshot, score)
            drawing = figure(chart, dark()).update_traces(cliponaxis=False)  # float32 keeps all: it is on the edge
            static_chart.show(chart, f"advise_{name}", 320, drawing)
    st.html(_table_html(snapshot))
    with_what = "later clicks" if snapshot.source == "clicks" else "labels"
    st.caption(
        f"{snapshot.truth}, nDCG@10: agreement with {with_what}; recall@10: agreement with the distance of the float "
        "vectors. Rescored: the nearest 100 re-sorted by the float vectors. Train, encode: CPU seconds for all "
        "documents; a method that learns must encode them again when new clicks change it. Query: one query on one "
        "thread, scaled to all documents, and as a multiple of the scan of floats; then the same in faiss, by its flat "
        "index. " + " ".join(engine_notes(snapshot))
    )


def _table_html(snapshot: AdviceSnapshot) -> str:
    header, *rows = table(snapshot)
    words = kind_words(snapshot)
    kinds = {one.title: words[one.kind] for one in snapshot.contenders}
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in header)
    body, last = "", ""
    for row in rows:
        if kinds[row[0]] != last:
            last = kinds[row[0]]
            body += f'<tr><th scope="colgroup" colspan="{len(header)}" class="words"><span>{last}</span></th></tr>'
        body += "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
    cells = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="ohash-scroll"><table class="ohash-compare ohash-names-stay">{cells}</table></div>'


def _export(runner: AdviceRunner) -> None:
    snapshot, answer = runner.snapshot(), runner.answer()
    if not snapshot.measured:
        st.caption("There is nothing to export yet.")
        return
    name = file_stem("advise", runner.params.dataset)
    facts = {
        "answer": answer.sentence,
        **{f"what would change it ({at})": text for at, text in enumerate(answer.changes, 1)},
        "measured": protocol(snapshot),
        "link": link_here(runner.params.to_query()),
    }
    charts = [found_by_bytes(snapshot, score) for score in CHARTS.values()]
    title = f"Learn or rotate? {snapshot.title}"
    offer_file("Contenders (CSV)", lambda: rows_to_csv(contender_rows(snapshot)), f"{name}.csv", "text/csv")
    offer_file("All queries (CSV)", lambda: rows_to_csv(query_rows(snapshot)), f"{name}-queries.csv", "text/csv")
    offer_file(
        "This answer as a page (HTML)", lambda: to_html(charts, title=title, facts=facts), f"{name}.html", "text/html"
    )
    offer_file("Figure (SVG)", lambda: to_svg(charts[0], width=160, height=100), f"{name}.svg", "image/svg+xml")


def _run_again(session: Session) -> None:
    assert session.advice is not None
    advice_run.choose(session, session.advice, restart=True)


def controls(session: Session, now: AdviceParams) -> None:
    """All controls; any change asks again."""
    choose_data(session, now)
    for key, row in rows().items():
        control(row, getattr(now.options, key), lambda key, value: _change(session, key, value), name=f"advise_{key}")
    st.page_link("pages/data.py", label="Bring your own vectors and clicks", icon=":material/upload:")


def choose_data(session: Session, now: AdviceParams) -> None:
    """The data set."""

    def pick(key: str) -> None:
        dataset, content = catalogue.split_key(key)
        advice_run.choose(session, AdviceParams(dataset, content, now.options))

    catalogue.choose(session, "advise_data", now.dataset, now.content, pick)


def _change(session: Session, key: str, value: object) -> None:
    assert session.advice is not None
    try:
        advice_run.choose(session, session.advice.with_values(**{key: value}))
    except ValueError as error:
        session.warnings = [escape_markdown(error)]
