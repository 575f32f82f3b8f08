"""What an item takes in store: the codes of T models, and what else the method keeps with them."""

from typing import Any


def bits_of(hasher: Any) -> int:
    """Bits in all: T · r, and what is beside."""
    return int(getattr(hasher, "T", 1)) * int(hasher.r) + 8 * _beside(hasher)


def bytes_of(hasher: Any) -> int:
    """Bytes: every code fills whole ones."""
    return int(getattr(hasher, "T", 1)) * -(-int(hasher.r) // 8) + _beside(hasher)


def _beside(hasher: Any) -> int:
    return int(getattr(hasher, "extra_bytes", 0))
