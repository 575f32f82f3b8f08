"""Tables for files: the one writer of CSV, of LaTeX and of BibTeX."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

FORMULA = ("=", "+", "-", "@", "\t", "\r")
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "α": r"$\alpha$", "β": r"$\beta$",
    "ε": r"$\varepsilon$", "ζ": r"$\zeta$", "θ": r"$\theta$", "ν": r"$\nu$", "ξ": r"$\xi$", "π": r"$\pi$",
    "ρ": r"$\rho$", "φ": r"$\varphi$", "χ": r"$\chi$", "ψ": r"$\psi$", "ω": r"$\omega$", "γ": r"$\gamma$",
    "δ": r"$\delta$", "η": r"$\eta$", "κ": r"$\kappa$", "λ": r"$\lambda$", "µ": r"$\mu$",
    "μ": r"$\mu$", "σ": r"$\sigma$", "τ": r"$\tau$", "ℓ": r"$\ell$", "Σ": r"$\sum$", "√": r"$\sqrt{\,}$",
    "²": r"$^2$", "≤": r"$\le$", "≥": r"$\ge$", "→": r"$\to$", "…": r"\dots{}", "‖": r"$\|$", "ᵀ": r"$^\top$",
    "·": r"$\cdot$", "×": r"$\times$", "–": "--", "−": "$-$", "′": "'", "’": "'",
    "<": "$<$", ">": "$>$", "|": "$|$", "[": "{[}", "*": "{*}",  # after a row's end, TeX takes [ and * for options
}  # fmt: skip

FOREIGN = re.compile("[^ -~\u00a0-\u017f‐-―‘-„†-•…‰€™]+")  # letters that pdfLaTeX does not know
COLUMN = 225.0  # points; a column of a two-column article has 229.5
SMALL = 4.2, 8.0  # points of a character and between two columns of a table, in \footnotesize
COMMAND, BOLD = re.compile(r"\\[A-Za-z]+"), r"\textbf"


def to_csv(columns: Mapping[str, Iterable[object]]) -> str:
    """Columns as CSV: floats with all their digits, None and NaN as empty cells, no formulas for a spreadsheet.

    >>> print(to_csv({"pairs": [1, 2], "map": [0.5, float("nan")]}), end="")
    pairs,map
    1,0.5
    2,
    >>> print(to_csv({"=1+1": ["=HYPERLINK(0)", "-1", "@a"]}), end="")
    '=1+1
    '=HYPERLINK(0)
    -1
    '@a
    """
    import pandas as pd  # noqa: PLC0415 (heavy, and only for files)

    cells = {_cell(name): [_cell(value) for value in column] for name, column in columns.items()}
    return pd.DataFrame(cells, dtype=object).to_csv(index=False, lineterminator="\n")


def rows_to_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as CSV; the first row names the columns."""
    return to_csv({name: [row[name] for row in rows] for name in rows[0]})


def to_latex(
    header: Sequence[str],
    groups: Sequence[Sequence[Sequence[str]]],
    *,
    caption: str,
    align: str | None = None,
    long: bool = False,
) -> str:
    r"""A table of cells that are LaTeX already, in the style of the package booktabs, with a rule between groups.

    A `long` one goes on over several pages (package longtable), and has one group. Another one that is wider than a
    column of a two-column article is set in small type, and over both columns (table*) if it must be.

    >>> print(to_latex(("method", "mAP"), [[("OH", ".43")], [("ITQ", ".36")]], caption="Digits", align="lr"), end="")
    \begin{table}
    \centering
    \caption{Digits}
    \begin{tabular}{lr}
    \toprule
    method & mAP \\
    \midrule
    OH & .43 \\
    \midrule
    ITQ & .36 \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    import pandas as pd  # noqa: PLC0415

    every = [list(header), *(row for group in groups for row in group)]
    small = not long and "p{" not in (align or "") and _points_wide(every) > COLUMN
    both = small and _points_wide(every, *SMALL) > COLUMN
    frame = pd.DataFrame([row for group in groups for row in group], columns=list(header))
    text = frame.style.hide(axis="index").to_latex(
        hrules=True, column_format=align or "l" * len(header), caption=caption,
        position_float=None if long else "centering", environment="longtable" if long else "table*" if both else None,
    )  # fmt: skip
    lines = text.splitlines()
    if small:
        at = next(at for at, line in enumerate(lines) if line.startswith(r"\begin{tabular}"))
        lines.insert(at, r"\footnotesize\setlength{\tabcolsep}{4pt}")
    end = lines.index(r"\midrule") + 1
    for group in groups[:-1]:
        end += len(group)
        lines.insert(end, r"\midrule")
        end += 1
    return "\n".join(lines) + "\n"


def _points_wide(rows: Sequence[Sequence[str]], character: float = 5.25, between: float = 12.0) -> float:
    r"""About how wide a table is in print.

    >>> _points_wide([("mAP",), (r"\textbf{0.5 $\pm$ 0.1}",)], 1, 0)
    9
    """
    bare = [[COMMAND.sub(lambda it: "" if it[0] == BOLD else "x", cell) for cell in row] for row in rows]
    plain = [[re.sub("[{}$]", "", cell) for cell in row] for row in bare]
    return sum(character * max(map(len, column)) + between for column in zip(*plain, strict=True))


def escape_latex(text: str) -> str:
    r"""Text for LaTeX, on one line: an empty line would end a caption.

    XeLaTeX and LuaLaTeX take any script; pdfLaTeX, which would stop at letters that it does not know, gets their codes.

    >>> escape_latex("β = 50 % ± 1")
    '$\\beta$ = 50 \\% $\\pm$ 1'
    >>> print(escape_latex("犬_1"))
    {\ifdefined\Umathchar 犬\else\texttt{U+72AC}\fi}\_1
    """
    escaped = "".join(LATEX.get(letter, letter) for letter in " ".join(text.split()))
    return FOREIGN.sub(_foreign, escaped)


def _foreign(letters: re.Match[str]) -> str:
    codes = " ".join(f"U+{ord(letter):04X}" for letter in letters[0])
    shown = "".join(letter for letter in letters[0] if letter.isprintable())
    return rf"{{\ifdefined\Umathchar {shown}\else\texttt{{{codes}}}\fi}}"


def bibliography(texts: Iterable[str]) -> str:
    r"""Every BibTeX entry of the texts, in their order and once: BibTeX refuses a key that comes twice.

    >>> print(bibliography(["@misc{a,\n}", "@misc{b,\n}\n\n@misc{a,\n}", ""]), end="")
    @misc{a,
    }
    <BLANKLINE>
    @misc{b,
    }
    """
    entries = (entry.strip() for text in texts for entry in re.split(r"\n(?=@)", text))
    return "\n\n".join(dict.fromkeys(entry for entry in entries if entry)) + "\n"


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.17g}"
    text = str(value)
    # a spreadsheet would compute a text that begins like a formula
    return f"'{text}" if text.startswith(FORMULA) and not isinstance(value, int) and not is_number(text) else text


def is_number(text: str) -> bool:
    """Whether Python reads the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
