"""The paper's figures as sweeps: every one is there, and a cell depends on nothing else."""

from dataclasses import replace

import pytest

from ohash.engine.params import protocol
from ohash.models.registry import find, hashers
from ohash.paper import figures, method_claims
from ohash.paper import settings as data
from ohash.paper.figures import FIGURES
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import FULL, QUICK, Omission
from ohash.store.store import Store
from ohash.streams import registry
from tests.paper.fake_measurements import FakeMeasurements, claim


@pytest.mark.parametrize("profile", [QUICK, pytest.param(FULL, marks=pytest.mark.slow)], ids=lambda one: one.key)
def test_every_figure_of_the_paper_is_there_for_every_embedded_dataset(profile):
    assert [key for key in FIGURES if key.isdigit()] == ["2", "3", "4", "5", "6", "7", "8"]
    measured = Measurements(Store(), profile)
    for figure in FIGURES.values():
        places = measured.cells(figure)
        assert {where.setting for where in places} == {one.key for one in figure.settings()}
        assert {where.method for where in places if "@" not in where.method} == set(figure.methods)
        beside = {where.method: where.x for where in places if "@" in where.method}
        assert set(beside.values()) == ({64} if figure.two_protocols else set())
        assert all(len(cells) == profile.seeds for cells in places.values())
    assert {one.dataset for one in data.EMBEDDED} == {"patches", "fashion", "digits"}
    assert {where.setting for where in measured.cells(FIGURES["texts"])} == {"words", "debian"}


def test_every_method_here_is_in_the_figures_of_all_methods_with_64_bits_or_as_long_as_the_vectors():
    embedded = {key for key, spec in hashers().items() if spec.hasher.__module__.startswith("ohash.")}
    every = {*figures.EVERY, *figures.LONG_AS_VECTORS}
    assert embedded - every == {"float", "random_codes"}, "references"
    for cell in (*FIGURES["methods"].sweep(QUICK).cells, *FIGURES["texts"].sweep(QUICK).cells):
        assert cell.params.model.r * getattr(cell.params.model, "T", 1) == 64
        whole = getattr(cell.params.model, "dims", "") == "all"
        assert whole == (cell.params.method in figures.LONG_AS_VECTORS), "such codes have d dimensions, whatever r is"
    learn_labels = {key for key in every if find(key).supervision == "labels" and not find(key).pairwise}
    by_distance = {where.method for where in Measurements(Store(), QUICK).cells(FIGURES["methods"])
                   if where.setting == "fashion-metric"}  # fmt: skip
    assert by_distance == every - learn_labels == set(FIGURES["texts"].methods)


def test_cells_do_not_depend_on_the_defaults_of_a_data_set(monkeypatch):
    wanted = {key: [cell.key for cell in FIGURES[key].sweep(QUICK).cells] for key in ("4", "8", "arrival")}
    known = registry.datasets()
    chosen = {"C": 1.0, "beta": 0.9, "r": 8, "sigma": 3.0, "m": 77}
    other = {key: replace(spec, kernel="none", normalize=False, defaults=chosen) for key, spec in known.items()}
    monkeypatch.setattr(registry, "datasets", lambda: other)
    figures._sweep.cache_clear()
    assert wanted == {key: [cell.key for cell in FIGURES[key].sweep(QUICK).cells] for key in wanted}
    figures._sweep.cache_clear()


@pytest.mark.parametrize("figure", ["6", "8"])
def test_a_single_run_by_the_papers_protocol_has_the_parameters_and_features_of_its_figures(figure):
    measured = Measurements(Store(), QUICK)
    for setting in FIGURES[figure].settings():
        cells = [
            cell.params
            for where, them in measured.cells(FIGURES[figure]).items()
            if where.setting == setting.key and where.x == 64 and "@" not in where.method
            for cell in them
        ]
        for cell in cells:
            beta = {"beta": setting.beta} if cell.method in ("oh", "mmoh") else {}
            single = protocol(setting.dataset, cell.method, similar_by=setting.similar_by, **beta)
            assert (single.model, single.stream) == (cell.model, cell.stream)
            assert (single.features, single.features.warm_up) == (
                replace(cell.features, warm=single.features.warm), cell.features.warm_up
            )  # fmt: skip


@pytest.mark.parametrize("profile", [QUICK, FULL], ids=["quick", "full"])
def test_batch_methods_have_the_parameters_of_their_cards_and_the_text_says_which(profile):
    for method, keys in (("ksh", ("8", "arrival", "methods")), ("fasthash", ("8", "methods"))):
        card = find(method).params()
        for key in keys:
            for cell in FIGURES[key].sweep(profile, data.EMBEDDED, (method,)).cells:
                assert replace(cell.params.model, r=card.r, seed=card.seed) == card
    description = figures.describe_batch_methods()
    assert (
        "KSH learns from 1,000 points in up to 500 iterations" in description and "50 trees of depth 4" in description
    )
    assert description in FIGURES["8"].ours


def test_a_figure_without_data_has_nothing_to_run():
    assert FIGURES["7"].sweep(QUICK, data.EMBEDDED[1:]).cells == () and not FIGURES["texts"].sweep(QUICK, ()).cells


@pytest.mark.slow
def test_what_a_profile_leaves_out_is_said_and_not_asked_for():
    assert not FULL.left_out and not QUICK.left_out
    no_tracks = replace(FULL, left_out=(Omission("fasthash", "slow", ("tracks",)),))
    for profile, runs in ((FULL, True), (no_tracks, False)):
        cells = [(cell.params.method, cell.params.dataset) for cell in FIGURES["8"].sweep(profile).cells]
        assert ("fasthash", "digits") in cells and ("ksh", "patches") in cells
        assert (("fasthash", "patches") in cells) == runs
    less = replace(
        FULL, left_out=(Omission("ssbc", "slow", bits=(32, 128)), Omission("sketch_hash", "slow", bits=(128,)))
    )
    cells = [(cell.params.method, cell.params.model.r) for cell in FIGURES["6"].sweep(less).cells]
    assert ("ssbc", 64) in cells and ("ssbc", 128) not in cells and ("sketch_hash", 32) in cells
    scores = {("6", "mmoh", r): 0.6 for r in FULL.bits} | {("6", "ssbc", r): 0.5 for r in (16, 64)}
    measured = FakeMeasurements(scores)
    measured.profile = replace(less, seeds=3)
    parts = list(method_claims._versus("6", "mmoh", "ssbc")(measured, data.EMBEDDED[3]))
    assert [part.what for part in parts if part.decisive] == ["r = 16", "r = 64"]
    scores = {("6", method, r): 0.5 for method in figures.ONLINE for r in (64, 128)} | {("6", "mmoh", 64): 0.7}
    measured.scores = scores | {("6", "mmoh", 128): 0.7}
    parts = judge_claim(claim("mmoh-first"), measured, [data.EMBEDDED[3]]).parts
    assert [(part.decisive, "not run" in part.what) for part in parts[:2]] == [(True, False), (False, True)]
    measured.profile = replace(measured.profile, left_out=(*less.left_out, Omission("mlh", "slow", bits=(128,))))
    parts = judge_claim(claim("mmoh-first"), measured, [data.EMBEDDED[3]]).parts
    assert "(MLH, SSBC and OSH not run)" in parts[1].what


@pytest.mark.slow
def test_a_claim_about_methods_that_were_left_out_says_so(monkeypatch, tmp_path):
    by_distance = next(one for one in data.EMBEDDED if one.kind == "metric")
    monkeypatch.setattr(figures, "settings", lambda: (by_distance,))
    without = tuple(Omission(method, "--without") for method in ("fasthash", "ksh"))
    notes = {
        left_out: judge_claim(
            claim("ksh-metric"), Measurements(Store(tmp_path), replace(QUICK, left_out=left_out)), [by_distance]
        )
        .parts[0]
        .note
        for left_out in (without, ())
    }
    assert notes[without].startswith("what it is compared with in figure 8") and notes[without].endswith("left out")
    assert notes[()].endswith("has been run")
