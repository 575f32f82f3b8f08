"""Terms and symbols: each has a meaning from where it is declared, and a card at its first place only."""

import re

import pytest

import ohash
from ohash.core.parameters import parameter_table
from ohash.engine.step_by_step import PairViewer
from ohash.evaluation.metric_descriptions import METRICS
from ohash.models.online.oh_params import OHParams
from ohash.plots.glossary import cards_in_markdown, glossary, symbols_in, terms_in, with_cards
from ohash.plots.step_by_step import stages
from ohash.web.lessons import lessons


def test_meanings_come_from_where_they_are_declared():
    assert glossary()["mAP"] == METRICS["map"].help
    assert parameter_table(OHParams)["beta"].help in glossary()["β"]
    assert {"hash code", "OH", "MMOH", "mAP", "τ", "W", "LSH", "pair AUC", "C", "T", "r"} <= glossary().keys()
    assert all(len(meaning) > 20 for meaning in glossary().values())


def test_a_card_stands_at_the_first_place_of_a_term_and_nowhere_else():
    html = with_cards("Hash codes: a hash code <b> of OH, and OH again; OHWEU is another method, Rx no loss.")
    assert len(re.findall("<abbr", html)) == 2 and "&lt;b&gt;" in html
    assert html.count("</abbr>") == 2 and ">OH</abbr>" in html and ">hash code</abbr>" in html
    assert "OHWEU</abbr>" not in html and "R</abbr>" not in html


def test_longer_terms_come_before_their_parts():
    assert terms_in("recall@10 of MMOH codes, D_h of hash codes") == ["recall@10", "MMOH", "D_h", "hash code"]
    assert terms_in("mAP@1000 is another score") == []


def test_a_meaning_is_escaped():
    card = with_cards("τ")
    assert re.fullmatch(r'<abbr class="ohash-term" tabindex="0" aria-description="[^"<>]+">τ</abbr>', card)


def test_markdown_keeps_its_markup_and_a_term_met_before_has_no_second_card():
    text, answer = cards_in_markdown("Set *C* of `C`; [C](?C=1), $C$, a <b> Hamming\ndistance", "then C and τ")
    card = '<abbr class="ohash-term" tabindex="0" aria-description="[^"<>]+">'
    assert re.fullmatch(
        rf"Set \*{card}C</abbr>\* of `C`; \[C\]\(\?C=1\), \$C\$, a &lt;b> {card}Hamming\ndistance</abbr>", text
    )
    assert re.fullmatch(rf"then C and {card}τ</abbr>", answer)


def test_the_symbols_of_an_update_are_all_in_the_glossary():
    experiment = ohash.experiment("blobs2d", "oh", r=8, kernel="none", pairs=100, C=0.1)
    viewer = PairViewer(experiment)
    at = viewer.find("update", 0)
    assert at is not None
    symbols = symbols_in(line for stage in stages(viewer.view(at), 0) for line in stage.tex)
    assert {"W", "D_h", "R", "δ", "g", "H", "G", "ℓ", "C", "τ", "p₀"} <= set(symbols) <= glossary().keys()


def test_most_lessons_have_terms_to_look_up():
    texts = [f"{lesson.text} {lesson.question} {lesson.answer} {lesson.exercise}" for lesson in lessons()]
    assert sum(bool(terms_in(text)) for text in texts) >= 7


@pytest.mark.parametrize("spelling", ["pair AUC", "pair-AUC", "pair\nAUC"])
def test_a_term_has_its_card_however_it_is_spelt(spelling):
    assert terms_in(f"the {spelling} of recent pairs") == ["pair AUC"]
    assert f">{spelling}</abbr>" in with_cards(spelling)
