"""Terms and symbols with their meaning, as cards that open where a term occurs; each is declared in one place.

Parameters come from OH's table, scores from the metrics; what neither declares is declared here.
"""

import html
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from ohash.core.parameters import parameter_table
from ohash.evaluation.metric_descriptions import METRICS
from ohash.models.online.mmoh import MMOHParams

TERMS = {
    "hash code": "A short row of bits that stands for an item. Items with similar bits are found fast.",
    "Hamming distance": "The number of bits in which two codes differ.",
    "D_h": "The number of bits in which the two codes of a pair differ.",
    "OH": "Online Hashing: a model that learns its bits from pairs, one pass, one pair after the other.",
    "MMOH": "Multi-model Online Hashing: T models of OH on one stream. Search uses the smallest of their T distances.",
    "LSH": "Locality-sensitive hashing: random hyperplanes, which learn nothing. What every method should beat.",
    "ITQ": "Iterative quantisation: the rotation of the principal axes whose signs lose least; it uses no labels.",
    "W": "The matrix of a model: one column, that is one hyperplane, per bit.",
    "R": "The similarity loss of a pair: by how many bits its distance misses what it should be, Eq. (3).",
    "ΣR": "The cumulative loss: the similarity losses R of all pairs so far, added up.",
    "δ": "The margin of a bit: the smaller |wᵀx| of the two items. A small one takes a small update to flip, Eq. (19).",
    "p₀": "How many bits must flip for the pair to have no loss, Eq. (17).",
    "g": "Zero-loss codes: the codes of the pair after the p₀ cheapest flips, Algorithms 2 and 3.",
    "H": "How well the present codes h fit the hyperplanes, Eq. (4).",
    "G": "How well the zero-loss codes g fit the hyperplanes, Eq. (5).",
    "ℓ": "The prediction loss: how much better the present codes fit than zero-loss ones, and a margin, Eq. (6).",
    "τ": "The size of an update: as large as the loss of the pair requires, but never larger than C, Eq. (16).",
}
# Symbols in equations, as TeX spells them; T is the transpose there, or a number of pairs.
TEX = {
    r"\tau": "τ", r"\alpha": "α", r"\beta": "β", r"\delta": "δ", r"\ell": "ℓ", "D_h": "D_h", "p_0": "p₀", "W": "W",
    "R": "R", "C": "C", "r": "r", "g": "g", "H": "H", "G": "G",
}  # fmt: skip
METRIC_TERMS = {"mAP": ("map", None), "recall@10": ("recall_at_k", 10), "pair AUC": ("pair_auc", None)}


@cache
def glossary() -> dict[str, str]:
    """Every term with its meaning, in the order in which one meets them."""
    rows = parameter_table(MMOHParams)
    symbols = {rows[key].symbol: f"{rows[key].title}: {rows[key].help}" for key in ("beta", "C", "alpha", "r", "T")}
    scores = {term: METRICS[key].meaning(k) for term, (key, k) in METRIC_TERMS.items()}
    return {**TERMS, **symbols, **scores}


@cache
def _pattern() -> re.Pattern[str]:
    longest_first = sorted(glossary(), key=len, reverse=True)
    between = r"(?:\s+|-)"  # a line may end within a term, and pair AUC is also spelt pair-AUC
    spelt = [between.join(map(re.escape, term.split())) for term in longest_first]
    return re.compile(rf"(?<![\w@])({'|'.join(spelt)})s?(?![\w@])")


def _term(match: re.Match[str]) -> str:
    return re.sub(r"[\s-]+", " ", match[1])


def terms_in(text: str) -> list[str]:
    """The terms that occur in a text, in their order.

    >>> terms_in("MMOH has the higher mAP at equal bits; τ is at most C.")
    ['MMOH', 'mAP', 'τ', 'C']
    """
    return list(dict.fromkeys(_term(match) for match in _pattern().finditer(text)))


def symbols_in(tex: Iterable[str]) -> list[str]:
    r"""The symbols of the glossary in equations, in their order.

    >>> symbols_in([r"\tau = \min\{C,\ \ell\}\qquad \text{Eq. (16) of R}", r"W^T x_i"])
    ['τ', 'C', 'ℓ', 'W']
    """
    plain = re.sub(r"\\(?:text|mathrm|operatorname)\s*{[^}]*}|\^T", " ", " ".join(tex))
    tokens = re.findall(r"\\[A-Za-z]+|D_h|p_0|[A-Za-z]", plain)
    return list(dict.fromkeys(TEX[token] for token in tokens if token in TEX))


@lru_cache(maxsize=256)
def with_cards(text: str) -> str:
    """The text as HTML, each term at its first place with a card, which `ohash/web/cards.js` opens.

    >>> with_cards("R < βr").startswith('<abbr class="ohash-term" tabindex="0" aria-description="The similarity loss')
    True
    """
    return _with_cards(text, html.escape, set())


@lru_cache(maxsize=256)
def cards_in_markdown(*texts: str) -> tuple[str, ...]:
    """Texts in Markdown that are read one after another, each term with a card where it is first met.

    Code, formulas and addresses stay as they are, and an angle bracket is no HTML.

    >>> cards_in_markdown("`r` and a <b>", "[r](?r=3)")[0]
    '`r` and a &lt;b>'
    """
    met: set[str] = set()
    marked = []
    for text in texts:
        parts = re.split(r"(`[^`]*`|\$[^$]*\$|\]\([^)]*\))", text)
        plain = [_with_cards(part, lambda one: one.replace("<", "&lt;"), met) for part in parts[::2]]
        parts[::2] = plain
        marked.append("".join(parts))
    return tuple(marked)


def _with_cards(text: str, escape: Callable[[str], str], met: set[str]) -> str:
    parts, last = [], 0
    for match in _pattern().finditer(text):
        term, shown = _term(match), escape(match[0])
        if term not in met:
            meaning = html.escape(glossary()[term])
            shown = f'<abbr class="ohash-term" tabindex="0" aria-description="{meaning}">{shown}</abbr>'
        met.add(term)
        parts += [escape(text[last : match.start()]), shown]
        last = match.end()
    return "".join([*parts, escape(text[last:])])
