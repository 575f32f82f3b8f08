"""Text embeddings of WordLlama (Miller 2024, MIT): the mean of the vectors of a text's tokens, read from its package.

The package carries a table of token vectors (safetensors: a JSON header and plain arrays) and a tokenizer. Nothing of
it is executed; the library `tokenizers` (extra `samples`) runs the tokenizer.
"""

import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ohash.core.arrays import Singles
from ohash.streams.samples import SourceMissingError, find_source

VERSION = "0.4.0.post1"
WEIGHTS, TOKENIZER = "l2_supercat_256.safetensors", "l2_supercat_tokenizer_config.json"
ARCHIVE = f"wordllama-{VERSION}.tar.gz"
HOW = f"Get it with: pip download --no-deps wordllama=={VERSION} (18 MB), and name its folder with --sources."
DTYPES = {"F16": np.float16, "F32": np.float32}
TEXTS_AT_ONCE = 4096


def embed(texts: Sequence[str], sources: Path | None = None) -> Singles:
    """One vector per text, (n, 256); not normalized."""
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError:
        raise SourceMissingError("the library tokenizers is not installed: pip install 'ohash[samples]'") from None
    weights, tokenizer_json = _read_package(find_source(f"WordLlama {VERSION}", [ARCHIVE], sources, (), HOW))
    table, tokenizer = read_safetensors(weights), Tokenizer.from_str(tokenizer_json.decode("utf-8"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    vectors = np.zeros((len(texts), table.shape[1]), np.float32)
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        some = list(texts[start : start + TEXTS_AT_ONCE])
        for at, encoded in enumerate(tokenizer.encode_batch(some, add_special_tokens=False), start):
            if encoded.ids:
                vectors[at] = table[np.minimum(encoded.ids, len(table) - 1)].mean(axis=0)
    return vectors


def read_safetensors(data: bytes) -> Singles:
    """The only matrix of a safetensors file: 8 bytes with the length of a JSON header, the header, the values.

    >>> head = json.dumps({"w": {"dtype": "F16", "shape": [1, 2], "data_offsets": [0, 4]}}).encode()
    >>> values = np.array([[1, 2]], np.float16).tobytes()
    >>> read_safetensors(len(head).to_bytes(8, "little") + head + values).tolist()
    [[1.0, 2.0]]
    """
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    arrays = {name: entry for name, entry in header.items() if name != "__metadata__"}
    if len(arrays) != 1:
        raise ValueError(f"the weights must be one matrix, got {', '.join(arrays) or 'none'}")
    entry = next(iter(arrays.values()))
    start, stop = entry["data_offsets"]
    values = np.frombuffer(data[8 + length + start : 8 + length + stop], DTYPES[entry["dtype"]])
    return values.reshape(entry["shape"]).astype(np.float32)


def _read_package(path: Path) -> tuple[bytes, bytes]:
    """Weights and tokenizer of the source archive."""
    held: dict[str, bytes] = {}
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            name = member.name.rsplit("/", 1)[-1]
            content = archive.extractfile(member) if name in (WEIGHTS, TOKENIZER) else None
            if content is not None:
                held[name] = content.read()
    if len(held) != 2:
        raise ValueError(f"{path} must hold {WEIGHTS} and {TOKENIZER}; download it again")
    return held[WEIGHTS], held[TOKENIZER]
