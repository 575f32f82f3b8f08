"""Share and export a comparison: the link, tables, figures, LaTeX, BibTeX, and Python code that repeats it."""

import streamlit as st

from ohash._version import __version__
from ohash.comparison import export as report
from ohash.comparison.fairness import fairness
from ohash.comparison.params import Comparison
from ohash.comparison.results import ComparisonSnapshot
from ohash.comparison.verdict import verdict
from ohash.engine.export import Files, to_parquet
from ohash.plots.compare import CHARTS
from ohash.plots.compare_costs import COST_CHARTS
from ohash.table_files import rows_to_csv, to_csv
from ohash.ui.parts.sharing import JSON, file_stem, link_here, offer_figures, offer_file, qr_html, what_a_link_holds
from ohash.ui.session import own_data
from ohash.ui.session.session import Session


def buttons(session: Session, comparison: Comparison, snapshot: ComparisonSnapshot) -> None:
    """Share and Export."""
    with st.popover("Share", icon=":material/share:", key="open_share", on_change="rerun") as share:
        if share.open:
            link = link_here(comparison.to_query())
            parts = "data, methods with their parameters, stream, seeds, trials"
            st.markdown(what_a_link_holds(f"comparison: {parts}", comparison.content))
            st.code(link, language=None, wrap_lines=True)
            st.html(qr_html(link))
    with st.popover("Export", icon=":material/download:", key="open_export", on_change="rerun") as export:
        if export.open:
            _export(comparison, snapshot, own_data.files_of(session, comparison.content))


def _facts(comparison: Comparison, snapshot: ComparisonSnapshot) -> dict[str, str]:
    """What a reader of an exported page must know: the verdict, and all that is needed to repeat it."""
    return {
        **{one.topic: one.text for one in verdict(snapshot)},
        "compared": fairness(snapshot),
        **({"notes": "; ".join(snapshot.setup.notes)} if snapshot.setup.notes else {}),
        "methods": ", ".join(entry.text() for entry in snapshot.entries),
        "state": f"{snapshot.state}, {snapshot.end:,} pairs each",
        "link": link_here(comparison.to_query()),
        "version": f"ohash {__version__}",
    }


def _export(comparison: Comparison, snapshot: ComparisonSnapshot, files: Files) -> None:
    from ohash.plots.renderers.plotly import to_html  # noqa: PLC0415 (plotly is heavy)

    if not snapshot.judged:
        st.caption("There is nothing to export yet.")
        return
    methods = [entry.method for entry in comparison.entries]
    several = [f"{len(methods)} methods"] if len(methods) > 4 else methods
    name = file_stem("compare", comparison.dataset, *several, f"seeds {comparison.seeds}")
    offer_file("Results (CSV)", lambda: rows_to_csv(report.result_rows(snapshot)), f"{name}.csv", "text/csv")
    offer_file("Curves (CSV)", lambda: to_csv(report.columns(snapshot)), f"{name}-curves.csv", "text/csv")
    offer_file(
        "Curves (Parquet)", lambda: to_parquet(report.columns(snapshot)), f"{name}-curves.parquet",
        "application/octet-stream",
    )  # fmt: skip
    offer_file("All results (JSON)", lambda: report.to_json(snapshot), f"{name}.json", JSON)
    offer_file("Table (LaTeX)", lambda: report.to_latex(snapshot), f"{name}.tex", "text/x-tex")
    offer_file("References (BibTeX)", lambda: report.to_bibtex(snapshot), f"{name}.bib", "text/x-bibtex")
    hide = own_data.hide_folders()
    figures = {title: make(snapshot) for title, make in (CHARTS | COST_CHARTS).items()}
    facts = _facts(comparison, snapshot)
    page = f"{len(methods)} methods on {snapshot.setup.title}"
    offer_file(
        "This comparison as a page (HTML)", lambda: to_html(list(figures.values()), title=page, facts=facts),
        f"{name}.html", "text/html",
    )  # fmt: skip
    offer_figures(figures, lambda title: f"{name}-{title.replace(' ', '-')}", "compare_figures")
    offer_file(
        "Code for this comparison", lambda: hide(report.code_for(comparison, files)), f"{name}.py", "text/x-python"
    )
