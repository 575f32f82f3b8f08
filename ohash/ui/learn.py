"""The playground, and the lessons beside it or under it: a question, and after a guess the answer.

The playground is a component, mounted once and computed in the browser; nothing comes back to the server.
"""

from functools import partial

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from ohash.plots.glossary import cards_in_markdown, glossary, terms_in, with_cards
from ohash.ui.parts import present
from ohash.ui.parts.items import table_html
from ohash.ui.parts.notices import show_error
from ohash.ui.parts.sharing import page_address
from ohash.ui.session.session import Session
from ohash.ui.workarounds.downloads import keep_download
from ohash.web.bundle import about, component_script, markup, style
from ohash.web.lessons import Lesson, lessons, shipped_lessons, without_emphasis

SCENE = "lesson-"  # and its number, as `present=` names it


@st.cache_resource
def _component() -> ComponentRenderer:
    return st.components.v2.component("ohash_playground", html=markup(), css=style(), js=component_script())


def show_about() -> None:
    """What it is, in two sentences."""
    st.caption(about(), width="stretch", unsafe_allow_html=True)


def show_playground(start: str, scenes: dict[str, dict[str, object]]) -> None:
    """The playground itself; `start` is the link it opens with, "" for that of the address."""
    _component()(key="playground", data={"start": start, "lessons": scenes})


def show_scenes(session: Session) -> None:
    """The lessons as numbered scenes of present mode, and the question of the current one."""
    scenes = [
        (f"{SCENE}{number}", one.title, one.link, without_emphasis(one.question))
        for number, one in enumerate(_readable_lessons(), start=1)
    ]
    st.html(present.link_scenes(scenes, session.present), width="stretch")


def start_of(session: Session) -> str:
    """The link of the lesson that is presented, unless the address already says more."""
    links = {f"{SCENE}{number}": one.link for number, one in enumerate(_readable_lessons(), start=1)}
    return links.get(session.present, "") if set(st.query_params) <= {"present", "key"} else ""


def presented_scenes() -> dict[str, dict[str, object]]:
    """By their scenes, what the playground asks and answers in present mode."""
    return {
        f"{SCENE}{number}": {"options": one.options, "right": one.right, "answer": " ".join(one.answer.split())}
        for number, one in enumerate(_readable_lessons(), start=1)
    }


def _readable_lessons() -> list[Lesson]:
    try:
        return lessons()
    except ValueError:  # show_lessons says what is wrong
        return shipped_lessons()


def show_lessons() -> None:
    """Each with the link that sets the playground."""
    st.markdown("#### Lessons, five minutes each")
    st.caption(
        "Each begins with a link that sets the playground and leaves free only the setting that the lesson is "
        "about; *Unlock all settings* frees the others. Other points, features, r, T or seed start over; β, C, noise "
        "and drift act at once."
    )
    for number, lesson in enumerate(_readable_lessons(), start=1):
        with st.expander(f"Lesson {number} · {lesson.title}"):
            _show(number, lesson)
    try:
        lessons()
    except ValueError as problem:
        show_error(problem)


def _offer_handout(number: int, lesson: Lesson) -> None:
    """One page to print, made when it is pressed."""
    name, mime = lesson.file_name(number), "text/html"
    page = partial(lesson.handout, page_address())
    st.download_button(
        "Handout", keep_download(page, name, mime), file_name=name, mime=mime, on_click="ignore", type="tertiary",
        help="One page to print, with the answer upside down at its foot.", key=f"handout_{number}",
    )  # fmt: skip


def show_glossary() -> None:
    """All terms and symbols."""
    with st.expander("Glossary"):
        rows = [[term, meaning] for term, meaning in glossary().items()]
        st.html(table_html(["term", "meaning"], rows))


def _show(number: int, lesson: Lesson) -> None:
    text, answer, exercise = cards_in_markdown(lesson.text, lesson.answer, lesson.exercise)
    with st.container(horizontal=True, key=f"lesson_top_{number}"):
        st.markdown(f"First: [Set the playground for “{lesson.title}”](#{lesson.link})", width="stretch")
        _offer_handout(number, lesson)
    st.markdown(text, unsafe_allow_html=True)
    asked = [term for term in terms_in(lesson.question) if term not in terms_in(lesson.text)]
    if asked:  # the label of a choice has no cards
        st.html(f'<p class="ohash-caption">In the question: {with_cards(" · ".join(asked))}</p>')
    guess = st.radio(f"**Predict first.** {lesson.question}", lesson.options, index=None, key=f"guess_{number}")
    if guess is None:
        st.caption("Choose one to see the answer.")
        return
    verdict = "Right." if guess == lesson.right else f"Not quite: {lesson.right}."
    setting = f"The answer is about [the lesson's own setting](#{lesson.link})."
    st.markdown(f"**{verdict}** {setting}\n\n**Then look.** {answer}\n\n**Try.** {exercise}", unsafe_allow_html=True)
