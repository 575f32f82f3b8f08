"""The Paper page: reproduce the figures, read the verdicts on the claims, view every figure, download the report."""

import io
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

import ohash
from ohash.engine.narrative import duration
from ohash.models.registry import find, own_methods
from ohash.paper.claims import CLAIMS
from ohash.paper.figures import FIGURES, Figure
from ohash.paper.findings import Finding, judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import PROFILES, Profile
from ohash.paper.provenance import figure_commits, sources
from ohash.paper.recorded_results import read_recording
from ohash.paper.tables import bibtex, claims_table, coverage_text, data_table, figure_table, stand_ins
from ohash.plots.paper import charts
from ohash.plots.paper_report import SIGNS, claims_html, not_run_text, report
from ohash.plots.renderers.svg import to_svg
from ohash.plots.theme import colour
from ohash.store.store import Store, StoreError
from ohash.sweeps import launch
from ohash.sweeps.leases import activity, cancel
from ohash.ui.parts import items, static_chart
from ohash.ui.parts.notices import show_error
from ohash.ui.session import address
from ohash.ui.workarounds.fragments import fragment

PARTS = {"claims": "Claims", "figures": "Figures", "symbols": "Symbols"}
WATCH_SECONDS = 3.0
LEGEND = (
    "Rows in italics are shown for comparison only: every method on OH's RBF map, OH without its kernel, MMOH at equal "
    "total bits, and rows in which some rival was not run. Several comparisons within one claim are corrected by "
    "Holm's procedure."
)
CSS = """
.wide {overflow-x: auto;}
.claims {border-collapse: collapse; font-size: .88rem; width: 100%; font-variant-numeric: tabular-nums;}
.claims th {text-align: left; opacity: .75;}
.claims th, .claims td {vertical-align: top; padding: .25rem .7rem .25rem 0; border: 0;
  border-bottom: 1px solid rgba(128,128,128,.25);}
.claims .verdict {font-weight: 600; white-space: nowrap;}
.parts {border-collapse: collapse; font-size: .82rem; margin-top: .2rem;}
.parts td {border: 0; padding: .05rem .7rem .05rem 0;}
.parts .beside {opacity: .65; font-style: italic;}
@media (max-width: 700px) {.claims > tbody > tr > td {display: block; border: 0;}
  .claims > tbody > tr {display: block; border-bottom: 1px solid rgba(128,128,128,.25);} .claims th {display: none;}}
"""


class Results(NamedTuple):
    """The measurements of one profile, and the verdicts on the claims."""

    measured: Measurements
    findings: list[Finding]


@st.cache_resource(show_spinner="Reading the store …", max_entries=4)
def _results(folder: str, profile: str, done: int, _store: Store) -> Results:
    measured = Measurements(_store, PROFILES[profile], read_recording())
    return Results(measured, [judge_claim(claim, measured) for claim in CLAIMS])


def load_results(store: Store, profile: Profile) -> Results:
    """The results so far; read again whenever an experiment has finished."""
    return _results(str(store.folder), profile.key, len(store.done()), store)


def choose() -> Profile:
    """Quick or full; what was recorded is full."""
    usual = "quick" if read_recording() is None else "full"
    wanted = st.query_params.get("profile", usual)
    chosen = st.segmented_control(
        "Profile", list(PROFILES), default=wanted if wanted in PROFILES else usual, key="paper_profile",
        format_func=_profile_text, label_visibility="collapsed", required=True,
    )  # fmt: skip
    chosen = chosen or usual  # a forged message chooses nothing
    address.write_query({"profile": chosen})
    return PROFILES[chosen]


def _profile_text(key: str) -> str:
    seeds = PROFILES[key].seeds
    return f"{key.capitalize()}: {'one seed' if seeds == 1 else f'{seeds} seeds'}"


def progress(store: Store, profile: Profile) -> None:
    """How much has been run, redrawn while it runs; start and cancel."""
    alive = bool(_running(store, profile))
    fragment(partial(_progress, store, profile, alive), key="paper_progress", every=WATCH_SECONDS if alive else None)


def _progress(store: Store, profile: Profile, was_alive: bool) -> None:
    alive = _running(store, profile)
    if bool(alive) != was_alive:
        st.rerun()
    cells = {cell.key for figure in FIGURES.values() for cell in figure.sweep(profile).cells}
    done = len(cells & store.done())
    text = f"**{done:,} of {len(cells):,} experiments run here** ({profile.describe()})"
    if alive:
        text += f"; {alive}"
    st.progress(done / max(1, len(cells)), text=text)
    with st.container(horizontal=True, key="paper_controls", vertical_alignment="center"):
        if alive:
            if st.button("Cancel", icon=":material/stop:", key="paper_cancel", help="Finished experiments are kept."):
                for _, key in _sweeps(profile):
                    cancel(store, key)
            if st.button("Show results so far", icon=":material/refresh:", key="paper_refresh"):
                st.rerun()
            st.caption("The results below do not change while this runs, unless you press *Show results so far*.")
        elif done < len(cells):
            _start_button(store, profile, resume=done > 0)
            _own_button(store, profile)
            st.caption(
                f"{profile.title}. To estimate the time: `python3 -m ohash paper --profile {profile.key} --estimate`."
            )


def _start_button(store: Store, profile: Profile, *, resume: bool) -> None:
    if not st.button(
        "Resume" if resume else "Reproduce here", icon=":material/play_arrow:", type="primary", key="paper_start",
        disabled=not store.writable, help="Runs in a separate process, which continues when this page is closed.",
    ):  # fmt: skip
        return
    _start(store, lambda: launch.start_paper(profile.key, [], store))


def _own_button(store: Store, profile: Profile) -> None:
    """Run what is left of the methods of plugins, which are drawn among the others as recorded."""
    own = own_methods()
    figures = [figure for figure in FIGURES.values() if figure.usable_methods(own)]
    left = {cell.key for figure in figures for cell in figure.sweep(profile, only=own).cells} - store.done()
    if left and st.button(
        f"Run {_own_names()} ({len(left):,})", icon=":material/extension:", key="paper_own",
        disabled=not store.writable,
        help=f"Run only your own: {len(left):,} experiments, in {_names(figures)}.",
    ):  # fmt: skip
        _start(store, lambda: launch.start_paper(profile.key, [], store, own))


def _start(store: Store, begin: Callable[[], None]) -> None:
    if any(now.alive for now in activity(store).values()):
        st.error("A sweep is running on this machine: wait for it, or cancel it first.", icon=":material/error:")
        return
    try:
        begin()
    except (OSError, StoreError) as error:
        show_error(error)
        return
    st.rerun()


def _sweeps(profile: Profile) -> list[tuple[Figure, str]]:
    """Each figure with the key of its sweep, and again with that of its own methods only."""
    own = own_methods()
    return [(figure, figure.sweep(profile).key) for figure in FIGURES.values()] + [
        (figure, figure.sweep(profile, only=own).key) for figure in FIGURES.values() if figure.usable_methods(own)
    ]


def _running(store: Store, profile: Profile) -> str:
    """What is running now, in words; "" if nothing is."""
    now = activity(store)
    for figure, key in _sweeps(profile):
        current = now.get(key)
        if current is not None and current.alive:
            count = f"{current.progress['done']} of {current.progress['total']}"
            return "stopping …" if current.state == "cancelling" else f"running {_name(figure)}, {count}"
    return "starting …" if launch.is_running(store, f"paper-{profile.key}") else ""


def source(results: Results) -> None:
    """Where the numbers come from: recorded, run here, or both, and whether the two agree."""
    if results.measured.recording is None:
        return
    origins = sources(results.measured)
    if origins is None:
        return
    if not origins.differing:
        own, _ = results.measured.counts()
        st.caption(origins.text if own else f"{origins.text} *Reproduce here* draws your own over the recorded ones.")
        return
    text = f"{origins.text} The largest difference is {origins.differing[0]}."
    if origins.beyond_noise:
        st.warning(text, icon=":material/difference:")
    else:
        st.caption(text)
    if len(origins.differing) > 1:
        with st.expander("All that differ"):
            st.markdown("\n".join(f"- {one}" for one in origins.differing))


def data(results: Results) -> None:
    """The paper's data, and what stands in for them."""
    table = data_table(results.measured, list(FIGURES.values()))
    with st.expander("Data: what the paper used, and what stands in for it here", expanded=True):
        st.html(items.table_html(list(table.header), [list(row) for row in table.rows], kind="ohash-stack"))
        st.caption(coverage_text(results.measured))


def claims(results: Results) -> None:
    """A table of verdicts; every claim opens to its test and its numbers."""
    counts = {verdict: sum(finding.verdict == verdict for finding in results.findings) for verdict in SIGNS}
    st.markdown(
        f"Of {len(results.findings)} claims, **{counts['holds']} hold** on the data here, **{counts['does not hold']} "
        f"do not**, and **{counts['cannot tell']}** cannot be decided{not_run_text(counts['not run yet'])}. A claim "
        "that fails is a result, too: it may "
        "depend on the data, on the scale of the features, or on a choice the paper leaves open."
    )
    wanted = st.pills(
        "Show", list(SIGNS), selection_mode="multi", default=list(SIGNS), key="paper_verdicts",
        format_func=lambda verdict: f"{SIGNS[verdict]} ({counts[verdict]})", label_visibility="collapsed",
    )  # fmt: skip
    _table([finding for finding in results.findings if finding.verdict in wanted])


def _table(findings: list[Finding]) -> None:
    """The table of the report in the colours of the theme."""
    roles = {"holds": "now", "fails": "dissimilar"}
    hues = {name: f"light-dark({colour(role)}, {colour(role, dark=True)})" for name, role in roles.items()}
    styles = "".join(f".claims .{name} {{color: {hue};}}" for name, hue in hues.items())
    st.caption(LEGEND)
    st.html(f"<style>{CSS}{styles}</style>{claims_html(findings)}")


def figures(results: Results) -> None:
    """One figure: the paper's setting, ours, plots, numbers, cost."""
    key = st.selectbox("Figure", list(FIGURES), key="paper_figure", format_func=lambda key: _name(FIGURES[key]))
    figure = FIGURES[key]
    _show_own_methods(results.measured, figure)
    done, total = results.measured.progress(figure)
    st.markdown(
        f"**The paper** ({figure.place}): {figure.paper}\n\n"
        f"**Here**: {figure.ours} {stand_ins(results.measured, figure)}{_own_text(results.measured, figure)}"
    )
    commits = figure_commits(results.measured, figure)
    recorded = f" Recorded: {commits}." if commits else ""
    st.caption(f"{done} of {total} experiments, {duration(results.measured.cost(figure))} of CPU time.{recorded}")
    drawings = charts(results.measured, figure)
    columns = st.columns(2) if len(drawings) > 1 else [st.container()]
    for at, chart in enumerate(drawings):
        with columns[at % len(columns)]:
            static_chart.show(chart, f"paper_{key}_{at}", 340)
    for caption in dict.fromkeys(chart.caption for chart in drawings if chart.caption not in ("", figure.ours)):
        st.caption(caption)
    table = figure_table(results.measured, figure)
    with st.expander("Numbers"):
        st.html(items.table_html(list(table.header), [list(row) for row in table.rows]))
    findings = [finding for finding in results.findings if key in finding.claim.figures]
    if findings:
        st.markdown("**What the paper concludes from this figure**")
        _table(findings)


def _show_own_methods(measured: Measurements, figure: Figure) -> None:
    """Methods of plugins: drawn here, not run yet, or in other figures."""
    missing = [key for key in own_methods() if key not in figure.usable_methods(own_methods())]
    if missing:
        others = [other for other in FIGURES.values() if set(missing) & set(other.usable_methods(missing))]
        about = "varies a parameter of OH or MMOH" if len(figure.methods) == 1 else "compares methods that learn online"
        st.info(
            f"{_own_names(missing)} from your plugins {'is' if len(missing) == 1 else 'are'} in "
            f"{_names(others) or 'no figure'}: this one {about}.", icon=":material/extension:",
        )  # fmt: skip
    not_run = [key for key in figure.usable_methods(own_methods()) if not measured.has_any(figure.key, key)]
    if not_run:
        st.info(
            f"{_own_names(not_run)} from your plugins {'is' if len(not_run) == 1 else 'are'} drawn here as soon "
            "as some of its experiments have been run. The claims are about the paper's methods only.",
            icon=":material/extension:",
        )


def _own_text(measured: Measurements, figure: Figure) -> str:
    """The methods of plugins that are drawn, as a sentence."""
    drawn = [key for key in figure.own_methods if measured.has_any(figure.key, key)]
    return f" With {_own_names(drawn)} from your plugins, marked as yours." if drawn else ""


def _own_names(methods: Sequence[str] | None = None) -> str:
    return ", ".join(find(key).title for key in (own_methods() if methods is None else methods))


def _names(figures: Sequence[Figure]) -> str:
    """Figures in a sentence."""
    numbers = [figure.key for figure in figures if figure.key.isdigit()]
    titles = [f"“{figure.title}”" for figure in figures if not figure.key.isdigit()]
    return ", ".join([*([f"figure{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"] if numbers else []), *titles])


def symbols() -> None:
    """The paper's symbols and their names in the code; the only copy is the docstring of the package."""
    rows = [line for line in (ohash.__doc__ or "").splitlines() if line and not line.startswith("=")]
    start = next(at for at, line in enumerate(rows) if line.startswith("paper"))
    cells: list[list[str]] = []
    for line in rows[start + 1 :]:
        parts = [line[:10].strip(), line[10:23].strip(), line[23:].strip()]
        if parts[0]:
            cells.append([part.replace("``", "") for part in parts])
        elif cells:  # a continued row
            cells[-1] = [
                f"{old} {new}".strip() for old, new in zip(cells[-1], (p.replace("``", "") for p in parts), strict=True)
            ]
    st.html(items.table_html(["paper", "code", "meaning"], cells))


def downloads(results: Results) -> None:
    """The report and its parts as files."""
    chosen = list(FIGURES.values())
    name = f"online-hashing-{results.measured.profile.key}"
    files: dict[str, tuple[Callable[[], str | bytes], str, str]] = {
        "HTML report": (lambda: report(results.measured, chosen, results.findings), f"{name}.html", "text/html"),
        "LaTeX": (lambda: _latex(results), f"{name}.tex", "text/x-tex"),
        "BibTeX": (lambda: bibtex(results.measured), f"{name}.bib", "text/plain"),
        "SVG": (lambda: _figures_as_zip(results), f"{name}-figures.zip", "application/zip"),
    }
    with st.container(horizontal=True, key="paper_files"):
        for label, (make, file, mime) in files.items():
            st.download_button(
                label, make, file, mime, icon=":material/download:", on_click="ignore", key=f"paper_{file}"
            )  # fmt: skip


def _latex(results: Results) -> str:
    tables = [figure_table(results.measured, figure).latex() for figure in FIGURES.values()]
    return "\n".join([*tables, claims_table(results.findings).latex()])


def _figures_as_zip(results: Results) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for figure in FIGURES.values():
            for at, chart in enumerate(charts(results.measured, figure), 1):
                archive.writestr(f"figure-{figure.key}-{at}.svg", to_svg(chart))
    return data.getvalue()


def _name(figure: Figure) -> str:
    return f"Figure {figure.key}: {figure.title}" if figure.key.isdigit() else figure.title
