"""When codes are judged: pair counts that depend on the length of the run alone."""

PER_DECADE = 8
FIRST_CHECKPOINT = 100
REGULAR = 40


def checkpoints(pairs: int, at: str = "curve") -> list[int]:
    """Pair counts at which codes are judged: 0, geometric at first, then regular, and the last.

    A regular one that would fall within half a step of the last is left out.

    >>> checkpoints(100_000)[:6], checkpoints(100_000)[-3:]
    ([0, 100, 133, 177, 237, 316], [94998, 97498, 100000])
    """
    if at != "curve":
        tenths = 10 if at == "tenths" else 1
        return sorted({pairs * k // tenths for k in range(tenths + 1)})
    step = max(1, pairs // REGULAR)
    found, t = [0], float(min(FIRST_CHECKPOINT, pairs))
    while t < pairs - step / 2:
        found.append(int(t))
        t = min(t * 10 ** (1 / PER_DECADE), t + step)
    return [*found, pairs]
