"""Terms and symbols with their meaning, as cards that open where a term occurs; each is declared in one place.

Parameters come from OH's table, scores from the metrics; what neither declares is declared here.
"""

import html
import re
from functools import cache, lru_cache

from ohash.core.parameters import parameter_table
from ohash.evaluation.metrics import METRICS
from ohash.models.online.mmoh import MMOHParams

TERMS = {
    "hash code": "A short row of bits that stands for an item. Items with similar bits are found fast.",
    "Hamming distance": "The number of bits in which two codes differ.",
    "D_h": "The number of bits in which the two codes of a pair differ.",
    "OH": "Online Hashing: a model that learns its bits from pairs, one pass, one pair after the other.",
    "MMOH": "Multi-model Online Hashing: T models of OH on one stream. Search takes the best of their T distances.",
    "LSH": "Locality-sensitive hashing: random hyperplanes, which learn nothing. What every method should beat.",
    "ITQ": "Iterative quantisation: a rotation of the principal axes that makes bits lose little; it uses no labels.",
    "W": "The matrix of a model: one column, that is one hyperplane, per bit.",
    "R": "The similarity loss of a pair: by how many bits its distance misses what it should be, Eq. (3).",
    "τ": "The size of an update: as long as the pair asks for, but never longer than C, Eq. (16).",
}
METRIC_TERMS = {"mAP": "map", "recall@10": "recall_at_k", "pair AUC": "pair_auc"}


@cache
def glossary() -> dict[str, str]:
    """Every term with its meaning, in the order in which one meets them."""
    rows = parameter_table(MMOHParams)
    symbols = {rows[key].symbol: f"{rows[key].title}: {rows[key].help}" for key in ("beta", "C", "alpha", "r", "T")}
    scores = {term: METRICS[key].help for term, key in METRIC_TERMS.items()}
    return {**TERMS, **symbols, **scores}


@cache
def _pattern() -> re.Pattern[str]:
    longest_first = sorted(glossary(), key=len, reverse=True)
    return re.compile(rf"(?<![\w@])({'|'.join(map(re.escape, longest_first))})s?(?![\w@])")


def terms_in(text: str) -> list[str]:
    """The terms that occur in a text, in their order.

    >>> terms_in("MMOH has the higher mAP at equal bits; τ is at most C.")
    ['MMOH', 'mAP', 'τ', 'C']
    """
    return list(dict.fromkeys(match[1] for match in _pattern().finditer(text)))


@lru_cache(maxsize=256)
def with_cards(text: str) -> str:
    """The text as HTML, each term at its first place with a card that opens under the pointer or by keyboard.

    >>> with_cards("R < βr").startswith('<abbr class="ohash-term" tabindex="0" title="The similarity loss')
    True
    """
    met: set[str] = set()

    def card(match: re.Match[str]) -> str:
        term = match[1]
        if term in met:
            return html.escape(match[0])
        met.add(term)
        meaning = html.escape(glossary()[term])
        return f'<abbr class="ohash-term" tabindex="0" title="{meaning}">{html.escape(match[0])}</abbr>'

    parts, last = [], 0
    for match in _pattern().finditer(text):
        parts += [html.escape(text[last : match.start()]), card(match)]
        last = match.end()
    return "".join([*parts, html.escape(text[last:])])
