"""What the list of datasets says of one."""

from ohash.streams.registry import datasets


def absent(key: str) -> str:
    return datasets()[key].status()


def problem(key: str) -> str:
    return datasets()[key].missing()
