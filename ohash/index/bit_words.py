"""Codes as words of 64 bits, (T, words, n): a scan runs along the items, and one item is one access per word.

Bit k of a code is bit k % 64 of word k // 64. Bytes packed in the other bit order are reordered on input.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Bytes
from ohash.evaluation.packed_codes import bit_length, code_array

BitOrder = Literal["little", "big"]
Words = npt.NDArray[np.uint64]

# Every byte with its bits reversed.
REVERSED = np.packbits(np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"), axis=1)[:, 0]


def check_bitorder(bitorder: str) -> BitOrder:
    """`bitorder` if it is one of those of `numpy.packbits`."""
    if bitorder not in ("little", "big"):
        raise ValueError(f"bitorder must be 'little' or 'big', got {bitorder!r}")
    return bitorder  # type: ignore[return-value]


def code_length(codes: npt.ArrayLike, width: int, r: int | None) -> int:
    """Bits of a code: as given, as the codes remember, or 8 per byte."""
    own_r = getattr(codes, "r", -1)
    return bit_length(width, own_r if r is None and own_r > 0 else r)


def refuse_numbers(name: str, codes: npt.ArrayLike) -> None:
    """Refuse codes that are numbers, as those of int8: their Hamming distance means nothing.

    >>> refuse_numbers("codes", np.zeros((3, 1), np.uint8))
    """
    if not getattr(codes, "hamming", True):
        raise ValueError(
            f"{name} must be bits, got numbers, as int8, product quantisation and float vectors have them: their "
            "Hamming distance says nothing about the vectors; `ohash index MODEL.npz --features FILE --export numpy` "
            "writes a search with the distance of the method"
        )


def reorder_bits(packed: Bytes, bitorder: BitOrder) -> Bytes:
    """Little-endian bytes as bytes of `bitorder`, or the other way round.

    >>> reorder_bits(np.uint8([[0b11]]), "big")
    array([[192]], dtype=uint8)
    """
    return REVERSED[packed] if bitorder == "big" else packed


def words_from_codes(name: str, codes: npt.ArrayLike, r: int | None, bitorder: BitOrder) -> tuple[Words, int]:
    """(words (T, ceil(r/64), n), r) of packed codes (n, ceil(r/8)) or (T, n, ceil(r/8)).

    >>> words_from_codes("codes", np.uint8([[1, 2], [3, 0]]), 10, "little")
    (array([[[513,   3]]], dtype=uint64), 10)
    """
    refuse_numbers(name, codes)
    packed = code_array(name, codes)
    r = code_length(codes, packed.shape[2], r)
    packed = reorder_bits(packed, bitorder)
    if r % 8 and (packed[..., -1] >> (r % 8)).any():
        raise ValueError(
            f"{name} must have 0 in the unused bits of the last byte, {r} bits are used, got others; give r, or the "
            "bitorder the codes were packed in"
        )
    T, n, width = packed.shape
    padded = np.zeros((T, n, -(-width // 8) * 8), np.uint8)
    padded[..., :width] = packed
    return np.ascontiguousarray(padded.view("<u8").astype(np.uint64).transpose(0, 2, 1)), r


def codes_from_words(words: Words, r: int) -> Bytes:
    """Packed little-endian codes (T, n, ceil(r/8)): the inverse of `words_from_codes`.

    >>> codes_from_words(np.uint64([[[513, 3]]]), 10)
    array([[[1, 2],
            [3, 0]]], dtype=uint8)
    """
    rows = np.ascontiguousarray(words.transpose(0, 2, 1)).astype("<u8")
    return np.ascontiguousarray(rows.view(np.uint8)[..., : -(-r // 8)])


def replace_bits(words: Words, fresh: Words, bits: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], int]:
    """Copy `bits` (T, r) from `fresh` to `words`, in place; (which of them changed in any item, how many flipped).

    >>> words = np.uint64([[[0b00, 0b11]]])
    >>> replace_bits(words, np.uint64([[[0b10, 0b00]]]), np.array([[True, False]])), words
    ((array([[ True, False]]), 1), array([[[0, 2]]], dtype=uint64))
    """
    changed, flipped = np.zeros_like(bits), 0
    for model, w in {(int(model), int(bit) // 64) for model, bit in np.argwhere(bits)}:
        some = slice(64 * w, 64 * w + 64)
        differing = (words[model, w] ^ fresh[model, w]) & _word(bits[model, some])
        words[model, w] ^= differing
        flipped += int(np.bitwise_count(differing).sum(dtype=np.int64))
        anywhere = np.array([np.bitwise_or.reduce(differing)], "<u8").view(np.uint8)
        count = len(changed[model, some])
        changed[model, some] = np.unpackbits(anywhere, count=count, bitorder="little").astype(bool)
    return changed, flipped


def _word(bits: npt.NDArray[np.bool_]) -> np.uint64:
    """Up to 64 bits as a word."""
    return np.uint64(int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little"))
