"""The sweeps of a store, next to its runs: one small JSON file per sweep, whose cells are runs, and own data.

A sweep runs in a separate process and may be resumed after a crash, without the page or command
that started it, so it must find its data again: own data are saved once per fingerprint, as plain buffers, and deleted
with the last sweep that needs them.
"""

import io
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ohash.engine.params import OWN, kernel_for
from ohash.models import registry
from ohash.runtime.files import write_file
from ohash.runtime.frames import read_frame, write_frame
from ohash.store.store import Store
from ohash.streams.dataset import Dataset, dataset_from_frame, dataset_to_frame
from ohash.sweeps.specification import build_sweep, read_sweep
from ohash.sweeps.sweep import Sweep

DATA, END = "data", ".frame"
MAX_BYTES = 2**30


def own_fingerprints(sweep: Sweep) -> list[str]:
    """Fingerprints of the own data that a sweep needs."""
    return list(dict.fromkeys(cell.params.content for cell in sweep.cells if cell.params.dataset == OWN))


def own_data_file(store: Store, content: str) -> Path:
    """The file of own data."""
    return store.folder / DATA / f"{Path(content).name}{END}"


def save_own_data(store: Store, dataset: Dataset) -> str:
    """Save a copy for sweeps; returns the fingerprint. Very large data are better read in place."""
    if dataset.X.nbytes > MAX_BYTES:
        raise ValueError(
            f"data of a sweep must take at most {MAX_BYTES / 2**30:g} GiB, got {dataset.X.nbytes / 2**30:.1f} GiB; "
            "put the file into a folder and pass --data DIR: there it is read in place, however large"
        )
    content = dataset.fingerprint()
    file = own_data_file(store, content)
    if not file.exists():
        packed = io.BytesIO()
        write_frame(packed, *dataset_to_frame(dataset))
        store.write(lambda: file.parent.mkdir(parents=True, exist_ok=True))
        store.write(lambda: write_file(file, packed.getvalue()))
    return content


def load_own_dataset(store: Store, content: str) -> Dataset:
    """Load saved own data; ValueError if they are missing or damaged."""
    file = own_data_file(store, content)
    try:
        with file.open("rb") as stream:
            frame = read_frame(stream)
        if frame is None:
            raise ValueError("it is empty")
        dataset = dataset_from_frame(*frame)
        if dataset.fingerprint() != content:
            raise ValueError(f"its fingerprint is {dataset.fingerprint()}")
    except FileNotFoundError:
        raise ValueError(
            f"this sweep needs own data (fingerprint {content or 'missing'}) that are not in this store; "
            "pass them: python3 -m ohash sweep SPEC --features FILE"
        ) from None
    except (EOFError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{file} must be the data of a sweep, but is damaged ({error}); delete it and pass the data again"
        ) from error
    return dataset


def load_own_data(store: Store, sweep: Sweep) -> dict[str, Dataset]:
    """The own data that a sweep needs, by fingerprint."""
    return {content: load_own_dataset(store, content) for content in own_fingerprints(sweep)}


def with_own_data(sweep: Sweep, dataset: Dataset) -> Sweep:
    """The same sweep on own data, with the kernel that suits them unless the sweep sets one."""
    if any("dataset" in dict(case) for case in sweep.cases) or "dataset" in dict(sweep.grid):
        raise ValueError(
            "--features replaces the dataset in [base], but this sweep also has one in its grid or cases; remove it "
            "there"
        )
    base = {**dict(sweep.base), "dataset": OWN, "content": dataset.fingerprint()}
    settings = {**base, **dict(sweep.grid)}
    cases: list[dict[str, object]] = [dict(case) for case in sweep.cases]
    if "kernel" not in settings:
        kernels = [_kernel({**settings, **case}, dataset) for case in cases]
        base["kernel"] = kernels[0]
        cases = [
            case if kernel == kernels[0] else {"kernel": kernel, **case}
            for case, kernel in zip(cases, kernels, strict=True)
        ]
    grid = {key: list(values) for key, values in sweep.grid}
    return build_sweep(
        sweep.name, base=base, grid=grid, cases=cases, seeds=sweep.seeds, random=dict(sweep.random),
        halving=dict(sweep.halving),
    )  # fmt: skip


def _kernel(settings: Mapping[str, object], dataset: Dataset) -> str:
    method = settings.get("method", "oh")
    return kernel_for(registry.find(method), dataset.kernel) if isinstance(method, str) else dataset.kernel


SWEEPS = "sweeps"


def save_sweep(store: Store, sweep: Sweep) -> None:
    """Save the description of a sweep."""
    file = store.folder / SWEEPS / f"{sweep.key}.json"
    if not file.exists():
        store.write(lambda: file.parent.mkdir(exist_ok=True))
        store.write(lambda: write_file(file, sweep.to_json().encode()))


def list_sweeps(store: Store) -> dict[str, Sweep]:
    """Every sweep by key, the newest last; an unreadable file is skipped and noted in `store.problem`."""
    sweeps = {}
    files = (store.folder / SWEEPS).glob("*.json")
    for file in sorted(files, key=lambda file: (file.stat().st_mtime_ns, file.name)):
        try:
            sweeps[file.stem] = read_sweep(file)
        except (OSError, ValueError) as error:
            store.problem = store.problem or f"a sweep of the store was skipped: {_reason(file, error)}"
    return sweeps


def _reason(file: Path, error: Exception) -> str:
    """Why a sweep cannot be read; that of a plugin which is not loaded, by its name."""
    if not isinstance(error.__cause__, registry.UnknownMethodError):
        return str(error)
    return f"{json.loads(file.read_text(encoding='utf-8')).get('name', file.stem)}: {error.__cause__.not_loaded}"


def delete_sweep(store: Store, key: str) -> None:
    """Delete a sweep, and own data that no other sweep needs; its cells stay."""
    store.write(lambda: (store.folder / SWEEPS / f"{key}.json").unlink(missing_ok=True))
    store.transact(lambda db: db.execute("DELETE FROM activity WHERE sweep = ?", (key,)))
    # A sweep that cannot be read now, because its plugin is not loaded, names its data, too.
    others = [file.read_text(encoding="utf-8", errors="replace") for file in (store.folder / SWEEPS).glob("*.json")]
    for file in (store.folder / DATA).glob(f"*{END}"):
        if not any(file.name.removesuffix(END) in description for description in others):
            store.write(partial(file.unlink, missing_ok=True))
