"""Build a search index of your vectors, and export codes and encoder to search engines or plain NumPy.

Examples:
  python3 -m ohash run --features x.npy --pairs-file clicks.csv --method oh --out trained/
  python3 -m ohash index trained/model.npz --features x.npy --out index/
  python3 -m ohash index trained/model.npz --features x.npy --export pgvector numpy --out deployed/
  python3 -m ohash index codes.npy --bits 48 --export faiss --out deployed/

int8, product quantisation and RaBitQ have a distance of their own: "numpy" writes their codes and a search with it,
"faiss" an index that ranks by it (RaBitQ: for r = d) and queries.py, which prepares queries for it.
Each engine gets its files and a page, such as pgvector.md, with the statements to run; these are tested in the engine.
The index is written as index.npz, for ohash.HammingIndex.load. "numpy" writes encoder.py and encoder.npz, which encode
queries for the other systems without ohash. Bit k of a code is bit k % 8 of byte k // 8; --bitorder big (Milvus's
convention) reverses the bits within a byte, for the encoder and every engine except faiss and pgvector, which fix it.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import ohash
from ohash.core.arrays import Numbers
from ohash.core.codes import Codes
from ohash.evaluation.diagnostics import code_diagnostics
from ohash.index.bit_words import code_length
from ohash.index.distance_export import ranks_by_own_distance, refuse_hamming, write_search
from ohash.index.export import TARGETS, accepted_bitorder, check_target_bitorder, write_encoder
from ohash.index.faiss_export import write_faiss
from ohash.models.base import AsymmetricHasher, OnlineHasher
from ohash.models.storage import refuse_untrained
from ohash.number_formats import percent
from ohash.streams.readers.own_data import open_files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("file", metavar="MODEL.npz|CODES.npy", help="a model saved by ohash, or packed codes (uint8)")
    parser.add_argument("--features", metavar="FILE", help="vectors to encode with the model")
    parser.add_argument("--export", nargs="+", default=[], choices=(*TARGETS, "numpy"), help="systems to export to")
    parser.add_argument("--out", metavar="DIR", default="index", help="folder to write to (index)")
    parser.add_argument("--bits", type=int, help="bits per code in CODES.npy, if the last byte is not full")
    parser.add_argument(
        "--bitorder", choices=("little", "big"), default="little", help="bit order of exported bytes (little)"
    )


def run(options: argparse.Namespace) -> int:
    """Encode, index, export."""
    out = Path(options.out)
    model = None if options.file.endswith(".npy") else ohash.load(options.file)
    if model is not None:
        refuse_untrained(model, options.file)
    if model is None and (options.features or "numpy" in options.export):
        raise ValueError("--features and --export numpy need a model (MODEL.npz), got codes")
    targets = [target for target in options.export if target != "numpy"]
    if "faiss" in targets:  # pgvector is text, without bytes
        check_target_bitorder(options.bitorder, "faiss")
    if model is not None and ranks_by_own_distance(model):
        return _export_own_distance(options, model, targets)
    written: list[Path] = []
    if model is not None and "numpy" in options.export:
        written += write_encoder(model, out, options.bitorder, targets)
    codes = _codes(options, model)
    if codes is None:
        if targets or not written:
            raise ValueError("a model alone has no codes: pass the vectors to encode with --features FILE")
    else:
        index = ohash.HammingIndex(codes)
        out.mkdir(parents=True, exist_ok=True)
        index.save(out / "index.npz")
        written.append(out / "index.npz")
        for target in targets:
            written += index.export(target, out, accepted_bitorder(options.bitorder, target))
        _describe(index, codes)
        if targets and index.T > 1:
            print("the engines rank by the sum over the models, not by the smallest distance first, as this index does")
    _say_written(written, out)
    return 0


def _say_written(files: list[Path], out: Path) -> None:
    """The names of the files; one that several engines load is written once."""
    print(f"wrote {', '.join(dict.fromkeys(file.name for file in files))} to {out}")


def _export_own_distance(options: argparse.Namespace, model: AsymmetricHasher, targets: list[str]) -> int:
    """A method with its own distance: no Hamming index, but a search in plain NumPy, or a faiss index with it."""
    others = [target for target in targets if target != "faiss"]
    if others or not options.export:
        refuse_hamming(model, others)
    if not options.features:
        raise ValueError("a model alone has no codes: pass the vectors to encode with --features FILE")
    out, Z = Path(options.out), _map_rows(options, model)
    written = write_faiss(model, Z, out) if "faiss" in targets else []
    written += write_search(model, Z, out) if "numpy" in options.export else []
    _say_written(written, out)
    return 0


def _map_rows(options: argparse.Namespace, model: OnlineHasher) -> Numbers:
    X = open_files(options.features).X
    feature_map = getattr(model, "feature_map", None)
    return X if feature_map is None else feature_map.transform(X)


def _codes(options: argparse.Namespace, model: OnlineHasher | None) -> Codes | None:
    if model is None:
        packed = np.load(options.file, allow_pickle=False)
        return Codes(packed, code_length(packed, packed.shape[-1] if packed.ndim else 0, options.bits), -1)
    if not options.features:
        return None
    return model.encode(_map_rows(options, model))


def _describe(index: ohash.HammingIndex, codes: Codes) -> None:
    diagnostics = code_diagnostics(codes)
    shares = f"distinct codes {percent(diagnostics.distinct)}, bit balance {diagnostics.balance:.2f}"
    print(f"{index!r}, {index.nbytes / 1e6:.3g} MB; {shares}")
    sample = codes[..., :: max(1, codes.shape[-2] // 100), :]
    index.search(sample[..., :1, :], 1)  # compiles
    for k in (1, min(100, len(index))):
        start = time.thread_time()
        result = index.search(sample, k)
        seconds = (time.thread_time() - start) / sample.shape[-2]
        print(f"search for the {k} nearest: {1e3 * seconds:.3g} ms per query by {result.by} ({result.why})")
