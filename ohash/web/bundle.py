"""The playground's files, joined for a host: a Streamlit component, a notebook, or one HTML file without a server."""

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

from ohash.plots import theme
from ohash.plots.glossary import cards_in_markdown, glossary, with_cards

FOLDER = Path(__file__).parent
SCRIPTS = (
    "cards.js", "step.js", "random.js", "points.js", "features.js", "measure.js", "history.js", "run.js", "look.js",
    "plane.js", "draw.js", "charts.js", "link.js", "address.js", "words.js", "live.js", "canvases.js", "rail.js",
    "lesson.js", "tools.js", "hand.js", "report.js", "transport.js",
)  # fmt: skip
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Online Hashing: playground</title>
<style>
:root {{color-scheme: light dark;}}
body {{margin: 0; padding: .8rem 1.2rem; background: light-dark({light.background}, {dark.background});
  color: light-dark({light.ink}, {dark.ink}); font-family: {font};}}
h1 {{font-size: 1.15rem; margin: 0;}}
.about {{margin: 0 0 .6rem 0; font-size: 14px;}}
{style}
</style>
</head>
<body>
<main>
<h1>Online Hashing: playground</h1>
<p class="about">{about}</p>
{markup}
</main>
<script>
"use strict";
(() => {{
{script}
mountPlayground(document, {colours});
}})();
</script>
</body>
</html>
"""
ABOUT = (
    "A hash code is a short row of bits that stands for a point: bit k says on which side of boundary k it lies. Pairs "
    "come one by one, and the boundaries move until similar points (solid line) share bits and dissimilar ones "
    "(dashed) do not. Everything is computed in this page."
)


def about() -> str:
    """What one sees, in two sentences of Markdown with cards."""
    return cards_in_markdown(ABOUT)[0]


@cache
def read_part(name: str) -> str:
    """One file of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def markup() -> str:
    """The elements."""
    return read_part("playground.html")


def style() -> str:
    """The style sheet."""
    return read_part("playground.css")


def script() -> str:
    """All of the JavaScript; it defines `mountPlayground(root, colours)`."""
    return "\n".join([_terms(), *(read_part(name) for name in SCRIPTS)])


def _terms() -> str:
    return f"const GLOSSARY = {json.dumps(glossary(), ensure_ascii=False)};"


def cards_script() -> str:
    """The JavaScript of the cards alone, as an element of a page; `ohashWithCards` makes nodes of a text."""
    listen = "listenForCards();\nwindow.ohashWithCards = withCards;"
    return f"<script>\n(() => {{\n{_terms()}\n{read_part('cards.js')}\n{listen}\n}})();\n</script>\n"


def colours() -> str:
    """The colours of the charts by role, light and dark, as JSON."""
    roles = (
        "now", "similar", "dissimilar", "clipped", "frozen", "start", "cap", "labels", "bound", "distance", "method:oh",
        "method:mmoh",
    )  # fmt: skip
    return json.dumps(
        {
            name: {**asdict(theme.ground(dark)), "roles": {role: theme.colour(role, dark) for role in roles}}
            for name, dark in (("light", False), ("dark", True))
        }
    )


def component_script() -> str:
    """The JavaScript as a module for `st.components.v2.component`: mounted once, whatever the server sends later."""
    return (
        f"{script()}\nconst mounted = new WeakMap();\n"
        "export default function ({ parentElement, data }) {\n"
        "  if (!mounted.has(parentElement)) mounted.set(parentElement,\n"
        f'    mountPlayground(parentElement, {colours()}, {{ address: "query", live: "./",\n'
        '      start: data?.start || null, everywhere: () => document.querySelector(".st-key-presenting"),\n'
        "      lessons: data?.lessons ?? {},\n"
        "      notes: () => !leadsClass() && !followsClass(), follows: followsClass }));\n"
        "  return () => { mounted.get(parentElement)?.(); mounted.delete(parentElement); };\n"
        "}\n"
    )


def widget_script() -> str:
    """The JavaScript as a module for anywidget; a key pressed in it is no shortcut of the notebook."""
    return (
        f"{script()}\nfunction render({{ model, el }}) {{\n"
        f"  el.innerHTML = {json.dumps(markup())};\n"
        # JupyterLab compares its selectors with the focused element before it looks at those around it
        '  el.addEventListener("focusin", ({ target }) => { target.dataset.lmSuppressShortcuts = "true"; });\n'
        f'  return mountPlayground(el, {colours()}, {{ address: "none", start: model.get("start") }});\n'
        "}\nexport default { render };\n"
    )


def standalone() -> str:
    """One HTML page with everything in it."""
    return PAGE.format(
        light=theme.LIGHT, dark=theme.DARK, font=theme.FONT, style=style(), about=with_cards(ABOUT), markup=markup(),
        script=script(), colours=colours(),
    )  # fmt: skip
