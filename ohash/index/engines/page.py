"""The page of an export: Markdown with the statements to run, and the way back from the page to the statements."""

import re

from ohash.index.engines.base import CodeFacts, Engine, Statement

FENCE = re.compile(
    r"^## (?P<title>[^\n]*?) <!-- (?P<step>\w+) -->\n\n```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


def page_text(engine: Engine, facts: CodeFacts) -> str:
    """The page of these codes."""
    packages = ", ".join(package for _, package in engine.modules)
    lines = [
        f"# {facts.rows:,} codes of {facts.bits} bits in {engine.title}",
        "",
        f"Run in this folder. Packages: {packages}. The id of a code is its row.",
    ]
    if engine.remark:
        lines.append(engine.remark)
    lines += [
        "",
        f"`queries` are packed codes, uint8 of shape (n, {facts.width}), {facts.bitorder}-endian: `encode(X)` of",
        "encoder.py (`--export numpy` writes it). `k` is the number of neighbours. Re-ranking takes the `candidates`",
        "nearest codes of each query and orders them by the distance of `vectors` (float32, one row per code) to",
        "`query_vectors`.",
        "",
    ]
    for one in engine.statements(facts):
        lines += [f"## {one.title} <!-- {one.step} -->", "", f"```{one.language}", one.text.rstrip("\n"), "```", ""]
    return "\n".join(lines)


def read_page(text: str) -> dict[str, Statement]:
    r"""The statements of a page by step.

    >>> read_page("# Codes\n\n## Load <!-- load -->\n\n```python\nx = 1\n```\n")
    {'load': Statement(step='load', title='Load', text='x = 1\n', language='python')}
    """
    blocks = (match.groupdict() for match in FENCE.finditer(text))
    return {block["step"]: Statement(**block) for block in blocks}
