"""Saved and loaded, a model goes on bit for bit; a damaged file is a ValueError and never runs code."""

import json
import pickle
import stat

import numpy as np
import pytest

import ohash
from ohash.models import storage
from ohash.models.quantizers.lsh import LSH, LSHParams
from ohash.runtime import files
from tests.core.reference import random_stream

X, AT_I, AT_J, S = random_stream(1, d=6, pairs=200)
X = X.astype(np.float32)


def make(kind, **options):
    return ohash.OH(**options) if kind == "oh" else ohash.MMOH(T=3, **options)


def state_of(model):
    values, arrays = model.state()
    return json.dumps(values, sort_keys=True), {n: (a.dtype, a.shape, a.tobytes()) for n, a in arrays.items()}


@pytest.mark.parametrize("kind", ["oh", "mmoh"])
@pytest.mark.parametrize("center", ["none", "frozen", "running", "ema"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_going_on_after_loading_is_never_having_saved(tmp_path, dtype, center, kind):
    model = make(kind, r=11, alpha=1, beta=0.55, C=0.07, seed=9, dtype=dtype, center=center, ema=0.03, rounds=2)
    model.warm_up(X[:30])
    model.learn(X, AT_I[:90], AT_J[:90], S[:90])
    model.C, model.beta = 0.3, 1 / 3
    model.save(tmp_path / "model.npz")
    back = ohash.load(tmp_path / "model.npz")
    assert type(back) is type(model) and back.params == model.params
    assert state_of(back) == state_of(model)
    assert (back.version, back.pairs, back.T, back.d) == (model.version, model.pairs, model.T, model.d)
    for one, other in ((model, back),):
        ours, theirs = one.learn(X, AT_I[90:], AT_J[90:], S[90:]), other.learn(X, AT_I[90:], AT_J[90:], S[90:])
        for name, column in ours.columns().items():
            assert column.tobytes() == theirs.columns()[name].tobytes(), name
    assert state_of(back) == state_of(model)
    assert back.certificate == model.certificate
    assert back.encode(X).tobytes() == model.encode(X).tobytes()
    assert back.encode(X).version == model.version


@pytest.mark.parametrize("kind", ["oh", "mmoh"])
def test_a_model_that_has_seen_nothing(tmp_path, kind):
    """The random state travels: the W drawn after loading is the W that would have been drawn."""
    model = make(kind, r=8, seed=4)
    model.save(tmp_path / "m")
    back = ohash.load(tmp_path / "m")
    assert back.d is None
    back.start(6)
    model.start(6)
    assert back.W.tobytes() == model.W.tobytes()


@pytest.mark.parametrize("options", [{"m": 12}, {"kernel": "none"}, None])
def test_the_feature_map_travels_with_the_model(tmp_path, options):
    model = ohash.OH(r=8, center="running")
    model.feature_map = ohash.FeatureMap(**(options or {"m": 12}))
    if options is not None:
        Z = model.feature_map.fit(X).transform(X)
        model.warm_up(Z[:100])
        model.learn(Z, AT_I, AT_J, S)
    model.save(str(tmp_path / "m.npz"))
    back = ohash.load(str(tmp_path / "m.npz"))
    assert state_of(back) == state_of(model)
    if options is not None:
        assert back.feature_map.transform(X).tobytes() == Z.tobytes()
        assert back.encode(back.feature_map.transform(X)).tobytes() == model.encode(Z).tobytes()


def test_a_given_W_travels(tmp_path):
    W = np.random.default_rng(0).normal(size=(6, 8))
    model = ohash.OH(r=8, dtype="float64", W=W)
    model.save(tmp_path / "m.npz")
    np.testing.assert_array_equal(ohash.load(tmp_path / "m.npz").W, W)


def test_lsh_travels(tmp_path):
    for center in ("none", "frozen"):
        model = LSH(LSHParams(r=13, seed=3, center=center))
        model.save(tmp_path / "fresh.npz")
        assert (
            ohash.load(tmp_path / "fresh.npz").encode(X).tobytes() == LSH(LSHParams(r=13, seed=3)).encode(X).tobytes()
        )
        model.warm_up(X[:9])
        model.save(tmp_path / "m.npz")
        back = ohash.load(tmp_path / "m.npz")
        assert back.encode(X).tobytes() == model.encode(X).tobytes() and back.version == model.version


# -- the file ----------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    model = ohash.MMOH(T=2, r=9, center="running")
    model.warm_up(X[:20])
    model.learn(X, AT_I, AT_J, S)
    path = tmp_path / "model.npz"
    model.save(path)
    return path


def rewrite(path, change):
    """The saved file with `change(header, arrays)` applied."""
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays.pop("header")))
    change(header, arrays)
    np.savez(path, header=np.array(json.dumps(header)), **arrays)


def test_no_pickle_and_a_format_number_inside(saved):
    with np.load(saved, allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
        header = json.loads(str(archive["header"]))
    assert header["format"] == storage.FORMAT and header["method"] == "mmoh"


def test_every_truncation_is_refused(saved):
    whole = saved.read_bytes()
    for size in (0, 1, 4, 100, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="must be a model saved by ohash"):
            ohash.load(saved)


def test_every_flipped_byte_is_refused_or_harmless(saved):
    """2 % of all bytes, one at a time: a ValueError, or a model that is the one that was saved."""
    whole = saved.read_bytes()
    expected = state_of(ohash.load(saved))
    rng = np.random.default_rng(0)
    refused = 0
    for at in rng.choice(len(whole), len(whole) // 50, replace=False):
        broken = bytearray(whole)
        broken[at] ^= 1 << int(rng.integers(8))
        saved.write_bytes(broken)
        try:
            back = ohash.load(saved)
        except ValueError as error:
            assert str(saved) in str(error)
            refused += 1
        else:
            assert state_of(back) == expected, "a silently changed model"
    assert refused > 50


@pytest.mark.parametrize(
    "content", [b"hello", b"PK\x03\x04", pickle.dumps({"W": 1}), b"\x93NUMPY\x01\x00", b"\0" * 500]
)
def test_foreign_files_are_refused(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(ValueError, match=r"path must be a model saved by ohash, got .*f, which is foreign or damaged"):
        ohash.load(tmp_path / "f")


def test_other_numpy_files_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", W=X)
    np.savez(tmp_path / "c.npz", header=np.array("not json"))
    np.savez(tmp_path / "d.npz", header=np.array("[1, 2]"))
    for name in ("a.npy", "b.npz", "c.npz", "d.npz"):
        with pytest.raises(ValueError, match=r"path must be a model saved by ohash"):
            ohash.load(tmp_path / name)


class Bomb:
    """Unpickling it would call `exploded`."""

    gone_off = False

    def __reduce__(self):
        return exploded, ()


def exploded():
    Bomb.gone_off = True
    return "{}"


def test_a_pickle_inside_is_refused_and_never_run(tmp_path, saved):
    np.savez(tmp_path / "bomb.npz", header=np.array([Bomb()], dtype=object))
    with np.load(saved) as archive:
        arrays = dict(archive)
    np.savez(tmp_path / "inner.npz", **(arrays | {"Wt": np.array([Bomb()], dtype=object)}))
    (tmp_path / "raw").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.npz", "inner.npz", "raw"):
        with pytest.raises(ValueError, match="foreign or damaged"):
            ohash.load(tmp_path / name)
    assert not Bomb.gone_off


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: arrays.pop("sums"),
        lambda header, arrays: arrays.update(Wt=arrays["Wt"][:, :-1]),
        lambda header, arrays: arrays.update(Wt=arrays["Wt"].astype(np.float64)),
        lambda header, arrays: arrays.update(clock=arrays["clock"][:1]),
        lambda header, arrays: arrays.update(mean=arrays["mean"][:-1]),
        lambda header, arrays: header["values"].pop("rng"),
        lambda header, arrays: header["values"].pop("params"),
        lambda header, arrays: header["values"]["params"].update(r=-1),
        lambda header, arrays: header["values"]["params"].update(unknown=1),
        lambda header, arrays: header["values"]["params"].update(r=10),
        lambda header, arrays: header.update(values=None),
        lambda header, arrays: header.pop("values"),
        lambda header, arrays: header.pop("method"),
    ],
)
def test_a_sound_archive_with_unsound_content_is_refused(saved, change):
    rewrite(saved, change)
    with pytest.raises(ValueError, match=r"path must be a sound model, got .* damaged"):
        ohash.load(saved)


def test_other_formats_and_methods_are_named(saved):
    rewrite(saved, lambda header, arrays: header.update(format=99))
    with pytest.raises(ValueError, match=r"path must be a model of format 1, got .* of format 99"):
        ohash.load(saved)
    rewrite(saved, lambda header, arrays: header.update(format=1, method="nosuch"))
    with pytest.raises(ValueError, match=r"a model of the method 'nosuch', which is not registered; .*--plugin"):
        ohash.load(saved)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        ohash.load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("where", ["before the first byte", "after some bytes"])
def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(saved, monkeypatch, where):
    before = saved.read_bytes()

    def savez(file, **arrays):
        if where == "after some bytes":
            file.write(b"PK\x03\x04 half a file")
        raise KeyboardInterrupt

    monkeypatch.setattr(files.np, "savez", savez)
    with pytest.raises(KeyboardInterrupt):
        ohash.OH(r=8).save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_reader_sees_the_old_file_or_the_new_one_never_half_of_one(saved, monkeypatch):
    """While the new file is being written, the path still holds the whole old one."""
    old = state_of(ohash.load(saved))
    real = np.savez
    seen = []

    def savez(file, **arrays):
        real(file, **arrays)
        seen.append(state_of(ohash.load(saved)))

    monkeypatch.setattr(files.np, "savez", savez)
    ohash.OH(r=8).save(saved)
    assert seen == [old]
    assert ohash.load(saved).r == 8


def test_a_saved_model_is_as_readable_as_any_file(saved, tmp_path):
    (tmp_path / "plain").touch()
    assert stat.S_IMODE(saved.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_ohash_save_is_the_same_as_the_method(tmp_path):
    model = ohash.OH(r=8)
    model.learn(X, AT_I, AT_J, S)
    ohash.save(model, tmp_path / "a.npz")
    assert state_of(ohash.load(tmp_path / "a.npz")) == state_of(model)
