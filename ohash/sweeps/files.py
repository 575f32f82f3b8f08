"""The sweeps of a store: one small JSON file per sweep, next to the runs; its cells are runs."""

from functools import partial

from ohash.store.store import Store
from ohash.store.traces import write_atomically
from ohash.sweeps.own_data import DATA, END, own_fingerprints
from ohash.sweeps.sweep import Sweep, read_sweep

SWEEPS = "sweeps"


def save_sweep(store: Store, sweep: Sweep) -> None:
    """Save the description of a sweep."""
    file = store.folder / SWEEPS / f"{sweep.key}.json"
    if not file.exists():
        store.write(lambda: file.parent.mkdir(exist_ok=True))
        store.write(lambda: write_atomically(file, sweep.to_json().encode()))


def list_sweeps(store: Store) -> dict[str, Sweep]:
    """Every sweep by key, the newest last; an unreadable file is skipped and noted in `store.problem`."""
    sweeps = {}
    files = (store.folder / SWEEPS).glob("*.json")
    for file in sorted(files, key=lambda file: (file.stat().st_mtime_ns, file.name)):
        try:
            sweeps[file.stem] = read_sweep(file)
        except (OSError, ValueError) as error:
            store.problem = store.problem or f"a sweep of the store was skipped: {error}"
    return sweeps


def delete_sweep(store: Store, key: str) -> None:
    """Delete a sweep, and own data that no other sweep needs; its cells stay."""
    store.write(lambda: (store.folder / SWEEPS / f"{key}.json").unlink(missing_ok=True))
    store.transact(lambda db: db.execute("DELETE FROM activity WHERE sweep = ?", (key,)))
    needed = {content for other in list_sweeps(store).values() for content in own_fingerprints(other)}
    for file in (store.folder / DATA).glob(f"*{END}"):
        if file.name.removesuffix(END) not in needed:
            store.write(partial(file.unlink, missing_ok=True))
