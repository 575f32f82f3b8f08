"""Data of the user's own that sweeps need: kept beside the runs, once, by fingerprint, as plain buffers.

A sweep is a process of its own and goes on without the page, or after a crash without the command that began it, so it
must find its data again. They are taken away with the last sweep that names them (`sweep_files.delete_sweep`).
"""

import io
from collections.abc import Mapping
from pathlib import Path

from ohash.engine.params import OWN
from ohash.models import registry
from ohash.runtime.frames import read_frame, write_frame
from ohash.store.store import Store
from ohash.store.traces import write_atomically
from ohash.streams.dataset import Dataset, dataset_from_frame, dataset_to_frame
from ohash.sweeps.sweep import Sweep, build_sweep

DATA, END = "data", ".frame"
MOST_BYTES = 2**30


def own_fingerprints(chosen: Sweep) -> list[str]:
    """Fingerprints of the data a sweep needs that have no name."""
    return list(dict.fromkeys(cell.params.content for cell in chosen.cells if cell.params.dataset == OWN))


def own_data_file(store: Store, content: str) -> Path:
    """Where they lie."""
    return store.folder / DATA / f"{Path(content).name}{END}"


def save_own_data(store: Store, dataset: Dataset) -> str:
    """Keep a copy for sweeps; returns the fingerprint. Very large ones are better read in place."""
    if dataset.X.nbytes > MOST_BYTES:
        raise ValueError(
            f"data of a sweep must take at most {MOST_BYTES / 2**30:g} GiB, got {dataset.X.nbytes / 2**30:.1f} GiB; "
            "put the file into a folder and name it with --data DIR: there it is read in place, however large"
        )
    content = dataset.fingerprint()
    file = own_data_file(store, content)
    if not file.exists():
        packed = io.BytesIO()
        write_frame(packed, *dataset_to_frame(dataset))
        store.write(lambda: file.parent.mkdir(parents=True, exist_ok=True))
        store.write(lambda: write_atomically(file, packed.getvalue()))
    return content


def load_own_dataset(store: Store, content: str) -> Dataset:
    """What was kept; what is not there, or is damaged, is a ValueError."""
    file = own_data_file(store, content)
    try:
        with file.open("rb") as stream:
            frame = read_frame(stream)
        if frame is None:
            raise ValueError("it is empty")
        found = dataset_from_frame(*frame)
        if found.fingerprint() != content:
            raise ValueError(f"its fingerprint is {found.fingerprint()}")
    except FileNotFoundError:
        raise ValueError(
            f"this sweep needs data of somebody's own (fingerprint {content or 'missing'}), which are not kept here; "
            "give them: python3 -m ohash sweep SPEC --features FILE"
        ) from None
    except (EOFError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{file} must be the data of a sweep, and is damaged ({error}); delete it, and give the data again"
        ) from error
    return found


def load_own_data(store: Store, chosen: Sweep) -> dict[str, Dataset]:
    """The data without a name that a sweep needs, by fingerprint."""
    return {content: load_own_dataset(store, content) for content in own_fingerprints(chosen)}


def with_own_data(chosen: Sweep, dataset: Dataset) -> Sweep:
    """The same sweep on data of one's own, with the kernel that suits them where the sweep does not say."""
    if any("dataset" in dict(case) for case in chosen.cases) or "dataset" in dict(chosen.grid):
        raise ValueError(
            "--features takes the place of the dataset in [base], but this sweep has one in its grid or cases; take it "
            "out of them"
        )
    base = {**dict(chosen.base), "dataset": OWN, "content": dataset.fingerprint()}
    said = {**base, **dict(chosen.grid)}
    cases: list[dict[str, object]] = [dict(case) for case in chosen.cases]
    if "kernel" not in said:
        kernels = [_kernel({**said, **case}, dataset) for case in cases]
        base["kernel"] = kernels[0]
        cases = [
            case if kernel == kernels[0] else {"kernel": kernel, **case}
            for case, kernel in zip(cases, kernels, strict=True)
        ]
    grid = {key: list(values) for key, values in chosen.grid}
    return build_sweep(chosen.name, base=base, grid=grid, cases=cases, seeds=chosen.seeds)


def _kernel(said: Mapping[str, object], dataset: Dataset) -> str:
    method = said.get("method", "oh")
    return "none" if isinstance(method, str) and registry.find(method).raw else dataset.kernel
