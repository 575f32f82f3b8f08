"""The Step by step page: which pair, its stages one press at a time, and other values of α, β and C to try on it."""

import base64
import html
from functools import partial
from typing import Any, cast

import streamlit as st

from ohash.engine.narrative import title_of
from ohash.engine.params import ExperimentParams
from ohash.engine.step_by_step import SEARCHED, PairView, PairViewer
from ohash.models.online.oh_params import OHParams
from ohash.models.registry import find
from ohash.plots.code_strips import STRIP_WIDTH, drawn_width
from ohash.plots.glossary import cards_in_markdown, symbols_in, with_cards
from ohash.plots.renderers.plotly import figure
from ohash.plots.renderers.svg import to_svg
from ohash.plots.step_by_step import RULES, Stage, stages
from ohash.plots.theory import first_C, negative_from, streams, theory
from ohash.streams.dataset import Dataset
from ohash.ui.parts import present, static_chart
from ohash.ui.parts.items import items_html, pair_html
from ohash.ui.parts.notices import show_error, show_missing_data
from ohash.ui.parts.sharing import file_stem, offer_file
from ohash.ui.session import address, live_run, own_data, step_link, view_state
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import on_choice, once_per_press, slot
from ohash.ui.workarounds.style import dark

NEXT = {"update": "Next update", "capped": "Next capped by C", "loss left": "Next with remaining loss"}
LARGE_CHART = 190, 58, 10.5  # millimetres, and points of type
LINE = 14  # millimetres that a third equation takes from it
READABLE = 0.75  # of the size of strips, whose type is then of 12 pixels
ON_A_PHONE = 210  # pixels that a chart has there between its margins
WRONG, STREAM_C = 5, 0.1  # of the streams of the theory: % of wrong answers, and C
PARTS = ("The update", "The theory")


@st.cache_resource(max_entries=8, show_spinner="Preparing the model…")
def _viewer(key: str, _params: ExperimentParams, _dataset: Dataset | None) -> PairViewer:
    return PairViewer(_params, _dataset)


def show(session: Session) -> None:
    """The pair, and its stages as far as they have been asked for."""
    params = session.params
    try:
        dataset = own_data.dataset_of(session, params)
    except ValueError as problem:
        show_missing_data(problem)
        return
    try:
        viewer = _viewer(params.key(), params, dataset)
    except ValueError as problem:
        show_error(problem)
        st.page_link("pages/live.py", label="Open Live", icon=":material/play_arrow:")
        return
    _read_address(session, viewer)
    assert session.pair is not None
    with st.container(horizontal=True, key="step_top", vertical_alignment="center"):
        st.caption(_headline(session, viewer), width="stretch")
        present.bar(session, "pages/step.py")
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom"):  # one row on a stage 1024 wide
        _choose_pair(session, viewer)
        _choose_items(session, viewer)
        _what_if(session)
    values = session.what_if
    if values:
        text = _what_if_text(session)
        st.info(f"What if {text}: the model up to this pair is that of the experiment.", icon=":material/tune:")
    view = viewer.view(session.pair, session.own_pair, **values)
    with st.container(horizontal=True, key="step_parts", vertical_alignment="bottom"):
        model = _choose_model(view)
        part = _choose_part(session)
    shown = _chosen_stages(view, model, part)
    last = min(session.stages_shown, len(shown))
    with st.container(key="step_body"):
        left, right = st.columns([1, 3])
        with left:
            _items(session, view, viewer.dataset)
            _next_stage(session, len(shown))
            if session.present and part == PARTS[1]:
                _theory_controls(view, model, last, len(shown))
            if session.present:  # the stage itself has no room for them
                _symbols(shown[last - 1])
            _export(shown, params, view.t, session.own_pair)
        with right:
            if session.present:  # only one fits on a screen
                _large_stage(last, shown[:last])
            else:
                for number, stage in enumerate(shown[:last], start=1):
                    with st.container(border=True):
                        _stage(number, stage)
                        if part == PARTS[1]:
                            _theory_controls(view, model, number, len(shown))
    place = {"at": str(session.pair)}
    if session.own_pair is not None:
        place[step_link.ITEMS] = step_link.write_items(session.own_pair)
    if session.what_if:
        place[step_link.WHAT_IF] = step_link.write_what_if(session.what_if)
    if session.stages_shown == address.ALL_STAGES:
        place["stage"] = address.ALL
    elif last > 1:
        place["stage"] = str(last)
    if session.step_part:
        place["part"] = session.step_part
    address.write(params, present=session.present, **place)


def _read_address(session: Session, viewer: PairViewer) -> None:
    """The pair, stage and part in the address when the page is opened, or else the last pair learnt on Live."""
    if session.pair is None:
        session.pair = address.pair()
        if session.pair is not None:
            session.stages_shown, session.step_part = address.stage(), address.part()
            session.own_pair, session.what_if = address.items(), address.what_if()
    if session.pair is None:
        now = live_run.latest_snapshot(session)
        session.pair = max(0, now.t - 1) if now is not None and now.params == session.params else 0
    if session.pair >= viewer.length:
        st.info(f"The experiment has {viewer.length:,} pairs; this is its last one.")
        session.pair = viewer.length - 1
    if session.what_if_of not in ("", session.params.key()):
        session.what_if = {}
    session.what_if_of = session.params.key()
    session.own_pair, problems = step_link.possible_items(session.own_pair, viewer.dataset.n)
    session.what_if, others = step_link.possible_values(session.what_if, session.params, session.pair)
    for warning in address.warnings_of([*problems, *others]):
        st.warning(warning)


def _headline(session: Session, viewer: PairViewer) -> str:
    """Which pair of which experiment."""
    params, place = session.params, f"pair {session.pair:,} of {viewer.length:,}, counted from 0"
    if session.own_pair is not None:
        i, j, s = session.own_pair
        place = f"rows {i:,} and {j:,}, a {step_link.kind_of(s)} pair that you chose, in place of {place}"
    data = escape_markdown(title_of(params))
    return f"{find(params.method).title} on {data}: {place}. The run on Live is not touched."


def _what_if_text(session: Session) -> str:
    table = find(session.params.method).table
    return ", ".join(f"{table[name].symbol} = {value:g}" for name, value in session.what_if.items())


def _choose_pair(session: Session, viewer: PairViewer) -> None:
    assert session.pair is not None
    place = slot("pair", session.pair)
    st.number_input(
        "pair", 0, viewer.length - 1, place.initial, key=place.key, width=150,
        on_change=on_choice(place, partial(_go, session)),
    )  # fmt: skip
    st.button(
        "Back", icon=":material/arrow_back:", disabled=session.pair == 0, key="pair_back",
        on_click=once_per_press(partial(_go, session, session.pair - 1)),
    )  # fmt: skip
    st.button(
        "Forward", icon=":material/arrow_forward:", disabled=session.pair >= viewer.length - 1,
        key="pair_forward", on_click=once_per_press(partial(_go, session, session.pair + 1)),
    )  # fmt: skip
    for kind, label in NEXT.items():
        st.button(label, key=f"pair_{kind}", on_click=once_per_press(partial(_search, session, viewer, kind)))


def _choose_items(session: Session, viewer: PairViewer) -> None:
    """Two items of the user's choice in place of the pair of the stream."""
    with st.popover("Choose two items", key="own_items"):
        last = viewer.dataset.n - 1
        first = session.own_pair or (0, min(1, last), 1)
        i = _choose_item(viewer.dataset, "i", first[0])
        j = _choose_item(viewer.dataset, "j", first[1])
        kinds = list(step_link.KINDS)
        similar = st.radio("They are", kinds, kinds.index(step_link.kind_of(first[2])), horizontal=True, key="own_s")
        s = step_link.KINDS[similar]
        st.button(
            "Use this pair",
            key="own_use",
            on_click=once_per_press(partial(_go, session, session.pair or 0, (i, j, s))),
        )
        if session.own_pair is not None:
            st.button(
                "Back to the stream", key="own_end", on_click=once_per_press(partial(_go, session, session.pair or 0))
            )


def _choose_item(dataset: Dataset, name: str, first: int) -> int:
    """A row by its number, beside what it is."""
    with st.container(horizontal=True, key=f"own_item_{name}", vertical_alignment="center"):
        row = int(st.number_input(f"row {name}", 0, dataset.n - 1, first, key=f"own_{name}", width=150))
        st.html(items_html(dataset, [row]), width="content")
    return row


def _go(session: Session, pair: int, items: tuple[int, int, int] | None = None) -> None:
    """To another pair, from its first stage; whoever asked for all stages sees all of this one, too."""
    everything = session.stages_shown == address.ALL_STAGES
    session.pair, session.own_pair, session.stages_shown = pair, items, address.ALL_STAGES if everything else 1


def _search(session: Session, viewer: PairViewer, kind: str) -> None:
    at = viewer.find(kind, (session.pair or 0) + 1)
    if at is None:
        st.toast(f"None of the next {SEARCHED:,} pairs is of this kind.")
    else:
        _go(session, at)


def _what_if(session: Session) -> None:
    """Other values of α, β and C for this one step."""
    assert session.pair is not None
    model = cast(OHParams, session.params.model_at(session.pair))
    with st.popover("What if", icon=":material/tune:", key="what_if"):
        st.caption("Other values for this one step; the experiment keeps its own.")
        ranges: dict[str, tuple[Any, ...]] = {"alpha": (0, model.r, 1, None), "beta": (0.01, 1.0, 0.05, None)}
        if model.C > 0:  # auto is a number only after the warm-up
            ranges["C"] = (1e-6, 1e6, None, "%g")
        for name, (lo, hi, step, form) in ranges.items():
            own = getattr(model, name)
            place = slot(f"what_{name}", type(lo)(session.what_if.get(name, own)))
            st.number_input(
                find(session.params.method).table[name].symbol, lo, hi, place.initial, step, form, key=place.key,
                on_change=on_choice(place, partial(_try_value, session, name, own)),
            )  # fmt: skip


def _try_value(session: Session, name: str, own: float, value: float) -> None:
    others = {key: kept for key, kept in session.what_if.items() if key != name}
    session.what_if = others if value == own else others | {name: value}


def _choose_model(view: PairView) -> int:
    """Which of the T models, Eq. (28); at first one that the pair updates."""
    if len(view.steps) == 1:
        return 0
    names = [f"model {m + 1}: R = {step.R:g}" for m, step in enumerate(view.steps)]
    chosen = st.segmented_control(
        RULES[view.s], names, default=names[view.model], label_visibility="collapsed",
        key=f"model_of_{view.t}_{view.i}_{view.j}", required=True,
    )  # fmt: skip
    return names.index(chosen)


def _choose_part(session: Session) -> str:
    place = slot("step_part", PARTS[1 if session.step_part else 0], PARTS)
    chosen: str = st.segmented_control(
        "part", place.options, default=place.initial, key=place.key, label_visibility="collapsed", required=True,
        on_change=on_choice(place, partial(_set_part, session)),
    )  # fmt: skip
    return chosen


def _set_part(session: Session, name: str) -> None:
    session.step_part = address.THEORY if name == PARTS[1] else ""


def _chosen_stages(view: PairView, model: int, part: str) -> list[Stage]:
    """The update in stages, or what the theory says of it."""
    if part == PARTS[0]:
        return stages(view, model, dark=dark())
    about_update = theory(view, model, view_state.view(_theorem_C(view, model)))
    if not about_update:
        st.info("This pair does not update the model, and the theory is about updates. Press *Next update*.")
    percent, C = view_state.view("wrong"), view_state.view("stream_C")
    return [*about_update, streams(WRONG / 100 if percent is None else percent / 100, STREAM_C if C is None else C)]


def _theorem_C(view: PairView, model: int) -> str:
    """The name of the slider of C below the counter-example, whose range is that of this update."""
    step = view.steps[model]
    return f"theorem_C_{view.t}_{view.i}_{view.j}_{model}_{step.loss:.6g}_{step.C:.6g}"


def _theory_controls(view: PairView, model: int, number: int, count: int) -> None:
    """What can be moved at a stage of the theory: C at the counter-example, and the streams at the last one."""
    if number == count:
        _choose_streams()
    elif number == 2:
        step, key = view.steps[model], _theorem_C(view, model)
        largest_C = 1.25 * negative_from(step)
        st.slider(
            "C of the counter-example", 0.0, largest_C, first_C(step), largest_C / 100, format="%.3g",
            key=f"view_{key}", width=420,
        )  # fmt: skip


def _choose_streams() -> None:
    """The controls of the last stage of the theory: the share of wrong answers, and C."""
    with st.container(horizontal=True, key="streams"):
        st.slider("wrong answers, %", 0, 40, WRONG, 1, key="view_wrong")
        st.select_slider("C of this stream", (0.001, 0.01, 0.1, 1.0, 10.0), STREAM_C, key="view_stream_C")


def _items(session: Session, view: PairView, dataset: Dataset) -> None:
    kind = "similar" if view.s == 1 else "dissimilar"
    st.html(pair_html(dataset, view.i, view.j, kind, dark=dark()))
    source = "that you chose" if session.own_pair is not None else "of the stream"
    source += " (noise: the wrong answer)" if view.wrong else ""
    st.caption(f"A {kind} pair {source}: xᵢ is row {view.i:,}, xⱼ is row {view.j:,}.")


def _next_stage(session: Session, count: int) -> None:
    done = session.stages_shown >= count
    with st.container(horizontal=True):
        st.button(
            "Next stage", type="primary", shortcut="right", disabled=done, key="stage_next",
            on_click=once_per_press(partial(_set_stages, session, session.stages_shown + 1)),
        )  # fmt: skip
        st.button(
            "All",
            disabled=done,
            key="stage_all",
            on_click=once_per_press(partial(_set_stages, session, address.ALL_STAGES)),
        )
        before = max(1, min(session.stages_shown, count) - 1)
        st.button(
            "Previous stage", shortcut="left", disabled=session.stages_shown == 1, key="stage_before",
            on_click=once_per_press(partial(_set_stages, session, before)),
        )  # fmt: skip
        st.button("First stage", key="stage_again", on_click=once_per_press(partial(_set_stages, session, 1)))
    st.caption(f"Stage {min(session.stages_shown, count)} of {count}")


def _set_stages(session: Session, shown: int) -> None:
    session.stages_shown = shown


def _words(number: int, stage: Stage) -> None:
    """What happens; its terms, and below it the symbols of its equations, have cards."""
    title, text = cards_in_markdown(stage.title, stage.text)
    st.markdown(f"**{number} · {title}.** {text}", unsafe_allow_html=True)


def _symbols(stage: Stage) -> None:
    symbols = symbols_in(stage.tex)
    if symbols:
        listed = with_cards(" · ".join(symbols)).replace(">D_h<", ">D<sub>h</sub><")
        st.html(f'<p class="ohash-symbols">Symbols: {listed}</p>')


def _stage(number: int, stage: Stage) -> None:
    _words(number, stage)
    if stage.strips:
        least = READABLE * drawn_width(stage.strips)
        _picture(stage.strips, stage.text, f"max-width:100%;min-width:{least:.0f}px", stage.narrow_strips)
    for line in stage.tex:
        st.latex(line)
    _symbols(stage)
    if stage.chart is not None:
        drawing = figure(stage.chart, dark(), ON_A_PHONE)
        static_chart.show(stage.chart, f"stage_{stage.title}", stage.height, drawing)


def _large_stage(number: int, shown: list[Stage]) -> None:
    """The last of these stages over the whole screen; one of words and equations has the latest bits above them."""
    stage = shown[-1]
    strips = next((one for one in reversed(shown) if one.strips), None) if stage.chart is None else None
    with st.container(border=True, key="large_stage"):
        _words(number, stage)
        if strips is not None:
            share = 100 * drawn_width(strips.strips) / STRIP_WIDTH
            _picture(strips.strips, strips.text, f"width:{share:.1f}%", strips.narrow_strips)
        for line in stage.tex:
            st.latex(line)
        if stage.chart is not None:
            st.markdown(f"**{stage.chart.title}**")
            width, height, size = LARGE_CHART
            height -= LINE * max(0, len(stage.tex) - 2)
            drawing = to_svg(stage.chart, width=width, height=height, size=size, dark=dark(), heading=False)
            _picture(drawing, stage.chart.alt or stage.chart.title, "width:100%")


def _picture(svg: str, alt: str, size: str, narrow: str = "") -> None:
    """A picture, and in place of it a narrow one where there is one and the screen is a phone's."""
    images = _image(svg, alt, size, "ohash-wide" if narrow else "")
    if narrow:
        images += _image(narrow, alt, "max-width:100%", "ohash-narrow")
    st.html(f'<div class="ohash-scroll" tabindex="0" role="group" aria-label="{html.escape(alt)}">{images}</div>')


def _image(svg: str, alt: str, size: str, kind: str) -> str:
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
    return f'<img class="{kind}" alt="{html.escape(alt)}" src="{source}" style="{size}">'


def _export(shown: list[Stage], params: ExperimentParams, t: int, own: tuple[int, int, int] | None) -> None:
    """Every picture of the stages as SVG."""
    with st.popover("SVG", icon=":material/download:", key="step_svg"):
        for stage in shown:
            name = svg_name(params.dataset, stage.title, t, own)
            if stage.strips:
                offer_file(f"{stage.title}, bits", partial(str, stage.strips), name, "image/svg+xml")
            if stage.chart is not None:
                offer_file(stage.title, partial(to_svg, stage.chart), name, "image/svg+xml")


def svg_name(dataset: str, title: str, t: int, own: tuple[int, int, int] | None) -> str:
    """What is shown, and of which pair of the stream or which rows of the user's choice.

    >>> svg_name("digits", "The update", 48, None), svg_name("digits", "The update", 48, (3, 7, 1))
    ('ohash-digits-the-update-48.svg', 'ohash-digits-the-update-rows-3-and-7.svg')
    """
    pair = str(t) if own is None else f"rows {own[0]} and {own[1]}"
    return f"{file_stem(dataset, title, pair)}.svg"
