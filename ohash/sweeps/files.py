"""The sweeps of a store: what each consists of, one small file beside the runs; its cells are runs."""

from ohash.store.store import Store
from ohash.store.traces import write_atomically
from ohash.sweeps.own_data import DATA, END, own_fingerprints
from ohash.sweeps.sweep import Sweep, read

SWEEPS = "sweeps"


def save_sweep(store: Store, sweep: Sweep) -> None:
    """Remember a sweep."""
    file = store.folder / SWEEPS / f"{sweep.key}.json"
    if not file.exists():
        store.write(lambda: file.parent.mkdir(exist_ok=True))
        store.write(lambda: write_atomically(file, sweep.to_json().encode()))


def sweeps(store: Store) -> dict[str, Sweep]:
    """Every sweep that was begun, by its key, the newest last; a file that cannot be read is left out, and said."""
    found = {}
    files = (store.folder / SWEEPS).glob("*.json")
    for file in sorted(files, key=lambda file: (file.stat().st_mtime_ns, file.name)):
        try:
            found[file.stem] = read(file)
        except (OSError, ValueError) as error:
            store.problem = store.problem or f"a sweep of the store was left out: {error}"
    return found


def delete_sweep(store: Store, key: str) -> None:
    """Forget a sweep, and data of the user's own that no other sweep needs; its cells stay."""
    store.write(lambda: (store.folder / SWEEPS / f"{key}.json").unlink(missing_ok=True))
    store.transact(lambda db: db.execute("DELETE FROM activity WHERE sweep = ?", (key,)))
    needed = {content for other in sweeps(store).values() for content in own_fingerprints(other)}
    for file in (store.folder / DATA).glob(f"*{END}"):
        if file.name.removesuffix(END) not in needed:
            store.write(lambda file=file: file.unlink(missing_ok=True))
