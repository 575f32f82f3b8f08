"""The contenders: what people store today without clicks, and what clicks can teach, each with its bytes per item."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Literal

import numpy as np

from ohash.advice.click_log import ClickLog, Matrix
from ohash.advice.coders import BitCoder, Coder, DecodedCoder, EstimateCoder, FloatCoder, identity
from ohash.advice.learning import Learning
from ohash.models.quantizers.bbq import BBQ
from ohash.models.quantizers.int8 import Int8
from ohash.models.quantizers.pq import PQ
from ohash.models.quantizers.rabitq import RaBitQ
from ohash.models.quantizers.rotated import random_rotation
from ohash.models.quantizers.turboquant import TurboQuant

Kind = Literal["reference", "free", "learnt"]
CoderSteps = Generator[float, None, Coder]
SAMPLE = 20_000  # documents that means, ranges and centroids are taken from
LENGTHS = (64, 128, 256)  # bits of learnt codes, and one bit per dimension up to MAX_BITS
MAX_BITS = 512
WHITENED = 128  # bits of click whitening besides one per dimension
PQ_SAMPLE = 4096
MODELS = 4  # T of MMOH


@dataclass(frozen=True)
class Contender:
    """One way to store documents, in `bits` per dimension, the few floats of an estimate not counted.

    `make` fits it; of a "learnt" one anew in every split, to its clicks. `trained` is what it takes of a split's
    learning, for its seconds. `codes` names the codes that it shares with one other, which scores them otherwise.
    """

    key: str
    title: str
    kind: Kind
    bits: float
    make: Callable[[Learning], CoderSteps]
    trained: tuple[str, ...] = ()
    first: bool = False  # measured first, for an early answer
    codes: str = ""


def contenders(log: ClickLog) -> list[Contender]:
    """All contenders for these data, float vectors first."""
    d, dot = log.d, log.metric == "dot"
    lengths = sorted({r for r in (*LENGTHS, min(d, MAX_BITS)) if r <= max(d, LENGTHS[0])})
    main = min(d, MAX_BITS)
    made: list[Contender] = [
        Contender("float", "float32", "reference", 32, lambda _: _now(FloatCoder(log.docs, dot=dot)), first=True),
        Contender(
            "rabitq_1", "RaBitQ, 1 bit", "free", 1, partial(_plain_rabitq, bits=1), first=True
        ),
        Contender(
            "adapter_rabitq_1", "adapter + RaBitQ, 1 bit", "learnt", 1,
            partial(_adapted_rabitq, bits=1), ("adapter",), first=True,
        ),
        Contender(
            f"oh_{main}", f"OH, {main} bits", "learnt", main / d,
            partial(_oh, r=main, asymmetric=False), ("choice", f"oh {main}"), first=True, codes=f"oh {main}",
        ),
        Contender("rotated", "rotated sign", "free", 1, _rotated_sign),
        Contender("sign", "sign", "free", 1, lambda learning: _signs(learning, np.eye(d))),
        Contender("bbq", "BBQ-style, 1 bit", "free", 1, lambda learning: _rabitq(learning, BBQ())),
        Contender("turboquant_1", "TurboQuant, 1 bit", "free", 1, partial(_turboquant, bits=1)),
    ]  # fmt: skip
    for r in reversed(lengths):
        made += _learnt(r, r / d, whitened=r in (WHITENED, main), hamming=r != main)
    if main % MODELS == 0:
        made.append(
            Contender(
                f"mmoh_{main}", f"MMOH, {MODELS} x {main // MODELS} bits, distances summed", "learnt", main / d,
                partial(_oh, r=main, asymmetric=False, T=MODELS), ("choice", f"mmoh {main}"),
            )
        )  # fmt: skip
    made.append(Contender("adapter_float", "adapter, float32", "reference", 32, _adapted_float, ("adapter",)))
    for bits in (2, 4):
        made += [
            Contender(
                f"rabitq_{bits}", f"RaBitQ, {bits} bits", "free", bits,
                partial(_plain_rabitq, bits=bits),
            ),
            Contender(
                f"turboquant_{bits}", f"TurboQuant, {bits} bits", "free", bits,
                partial(_turboquant, bits=bits),
            ),
            Contender(
                f"adapter_rabitq_{bits}", f"adapter + RaBitQ, {bits} bits", "learnt", bits,
                partial(_adapted_rabitq, bits=bits), ("adapter",),
            ),
        ]  # fmt: skip
    made += [
        Contender(
            f"cut_{share}",
            f"first {d // share} dimensions, int8",
            "free",
            8 * (d // share) / d,
            partial(_int8, k=d // share),
        )
        for share in (8, 4, 2)
        if d >= 2 * share
    ]
    made.append(Contender("int8", "int8", "free", 8, partial(_int8, k=d)))
    if find_spec("faiss") is not None and d >= 16:
        made.append(Contender("opq", "OPQ", "free", 8 * (d // 8) / d, _opq))
    return made


def _learnt(r: int, bits: float, *, whitened: bool, hamming: bool) -> list[Contender]:
    """OH at one length by the query's float projections, also by Hamming distance unless it is there; whitening."""
    trained = "choice", f"oh {r}"
    scorings = [("", "", False)] if hamming else []
    made = [
        Contender(
            f"oh_{r}{key}", f"OH, {r} bits{words}", "learnt", bits,
            partial(_oh, r=r, asymmetric=asymmetric), trained, codes=f"oh {r}",
        )
        for key, words, asymmetric in [*scorings, ("_asymmetric", ", float query", True)]
    ]  # fmt: skip
    if whitened:
        made += [
            Contender(
                f"whitening_{r}", f"click whitening, {r} bits", "learnt", bits,
                partial(_whitening, r=r, asymmetric=False), ("adapter",), codes=f"whitening {r}",
            ),
            Contender(
                f"whitening_{r}_asymmetric", f"click whitening, {r} bits, float query", "learnt", bits,
                partial(_whitening, r=r, asymmetric=True), ("adapter",), codes=f"whitening {r}",
            ),
        ]  # fmt: skip
    return made


def _now(coder: Coder) -> CoderSteps:
    """A coder that needs no time."""
    yield 0.0
    return coder


def _seed(learning: Learning) -> int:
    return learning.options.seed


def _rng(learning: Learning) -> np.random.Generator:
    return np.random.default_rng(learning.options.seed)


def _sample(log: ClickLog, max_docs: int = SAMPLE) -> Matrix:
    """Some documents, evenly spaced."""
    return log.docs[np.linspace(0, log.n_docs - 1, min(log.n_docs, max_docs)).astype(np.int64)]


def _dot(learning: Learning) -> bool:
    return learning.log.metric == "dot"


def _signs(learning: Learning, W: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> CoderSteps:
    return _now(BitCoder(W.astype(np.float32), learning.map_docs, learning.map_docs, asymmetric=False))


def _rotated_sign(learning: Learning) -> CoderSteps:
    d = learning.log.d
    return _signs(learning, random_rotation(d, d, _rng(learning)))


def _rabitq(learning: Learning, model: RaBitQ) -> CoderSteps:
    model.warm_up(_sample(learning.log))
    return _now(EstimateCoder(model, dot=_dot(learning)))


def _plain_rabitq(learning: Learning, bits: int) -> CoderSteps:
    return _rabitq(learning, RaBitQ(r=learning.log.d, seed=_seed(learning), dim_bits=bits))


def _turboquant(learning: Learning, bits: int) -> CoderSteps:
    model = TurboQuant(r=learning.log.d, seed=_seed(learning), dim_bits=bits)
    model.warm_up(_sample(learning.log))
    return _now(EstimateCoder(model, dot=_dot(learning)))


def _int8(learning: Learning, k: int) -> CoderSteps:
    model = Int8()
    model.warm_up(np.ascontiguousarray(_sample(learning.log)[:, :k]))
    cut = identity if k == learning.log.d else lambda X: np.ascontiguousarray(X[:, :k])
    return _now(DecodedCoder(model, cut, cut, dot=_dot(learning)))


def _opq(learning: Learning) -> CoderSteps:
    yield 0.0
    model = PQ(r=8 * (learning.log.d // 8), iterations=3, rotation="learnt", seed=_seed(learning))
    model.fit(_sample(learning.log, PQ_SAMPLE))
    return DecodedCoder(model, dot=_dot(learning))


def _adapted_rabitq(learning: Learning, bits: int) -> CoderSteps:
    adapter = yield from learning.adapter()
    model = RaBitQ(r=learning.log.d, seed=_seed(learning), dim_bits=bits)
    model.warm_up(adapter.map_docs(_sample(learning.log)))
    return EstimateCoder(model, adapter.map_docs, adapter.map_queries)


def _adapted_float(learning: Learning) -> CoderSteps:
    adapter = yield from learning.adapter()
    return FloatCoder(learning.log.docs, adapter.map_docs, adapter.map_queries)


def _oh(learning: Learning, r: int, *, asymmetric: bool, T: int = 1) -> CoderSteps:
    W = yield from learning.oh(r, T)
    return BitCoder(W, learning.map_docs, learning.map_queries, asymmetric=asymmetric)


def _whitening(learning: Learning, r: int, *, asymmetric: bool) -> CoderSteps:
    W = yield from learning.whitening(r)
    adapter = yield from learning.adapter()

    def docs(X: Matrix) -> Matrix:
        return np.asarray(X - adapter.doc_mean, np.float32)

    def queries(X: Matrix) -> Matrix:
        return np.asarray(X - adapter.query_mean, np.float32)

    return BitCoder(W, docs, queries, asymmetric=asymmetric)
