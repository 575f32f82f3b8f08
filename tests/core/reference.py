"""OH and MMOH written a second time, slowly: one loop per sum, one line per equation of the paper, float64 throughout.

Shares no code with `ohash`; nothing is simplified (x (g - h)ᵀ is formed as a matrix, H and G as sums over all bits), so
that agreement with the kernel means something.
"""

import math
from dataclasses import dataclass

import numpy as np

TIE = 1e-9  # margins this near to each other, relative to their size, are equal (PAPER_NOTES 3, row 15)
ZERO = 1e-12  # a projection Σ w x this small, relative to Σ |w x|, is 0
COLUMNS = ("D_h", "R", "loss", "ratio", "tau", "norm2", "p0", "updated", "degenerate")


def floats(a):
    """Python's own floats: a loop over them is many times faster than one over an array."""
    return np.asarray(a, dtype=np.float64).tolist()


def dot(a, b):
    total = 0.0
    for u, v in zip(a, b, strict=True):
        total += u * v
    return total


def project(w, x):
    """wᵀx; what is 0 up to rounding is 0."""
    total = dot(w, x)
    return 0.0 if abs(total) <= ZERO * dot([abs(v) for v in w], [abs(v) for v in x]) else total


def hash_code(W, x):
    """Eq. (1), bit by bit: h_k = 1 if w_kᵀx >= 0, else -1."""
    x = floats(x)
    return [1 if project(w, x) >= 0 else -1 for w in floats(W.T)]


def hamming(a, b):
    distance = 0
    for u, v in zip(a, b, strict=True):
        if u != v:
            distance += 1
    return distance


def threshold(beta, r):
    """PAPER_NOTES 3, row 10: beta r, made an integer when it is one up to 1e-9."""
    product = beta * r
    nearest = round(product)
    if abs(product - nearest) < 1e-9:
        return float(nearest)
    return product


def similarity_loss(h_i, h_j, s, alpha, beta):
    """Eq. (3)."""
    D = hamming(h_i, h_j)
    if s == 1:
        return max(0.0, float(D - alpha))
    return max(0.0, threshold(beta, len(h_i)) - D)


def flipped_bits(delta, p0, select):
    """The p0 bits with the smallest (or largest) delta; those level with the p0-th of them in the order of the bits."""
    if p0 == 0:
        return []
    cut = sorted(delta.values(), reverse=select == "largest")[p0 - 1]
    level = sorted(k for k in delta if abs(delta[k] - cut) <= TIE * cut)
    clear = [k for k in delta if k not in level and (delta[k] < cut if select == "smallest" else delta[k] > cut)]
    return clear + level[: p0 - len(clear)]


def zero_loss_pair(W, x_i, x_j, h_i, h_j, s, alpha, beta, select="smallest"):
    """Algorithm 2 (dissimilar) or 3 (similar): (g_i, g_j, p0)."""
    D = hamming(h_i, h_j)
    if s == -1:
        pool = [k for k in range(len(h_i)) if h_i[k] == h_j[k]]  # K_0
        p0 = math.ceil(threshold(beta, len(h_i))) - D
    else:
        pool = [k for k in range(len(h_i)) if h_i[k] != h_j[k]]  # K_1
        p0 = D - alpha
    w, x_i, x_j = floats(W.T), floats(x_i), floats(x_j)
    potential_i = {k: h_i[k] * project(w[k], x_i) for k in pool}
    potential_j = {k: h_j[k] * project(w[k], x_j) for k in pool}
    side = {k: "i" if potential_i[k] <= potential_j[k] * (1 + TIE) else "j" for k in pool}  # Eq. (20)
    delta = {k: potential_i[k] if side[k] == "i" else potential_j[k] for k in pool}  # Eq. (19)
    g_i, g_j = list(h_i), list(h_j)
    for k in flipped_bits(delta, max(0, p0), select):
        if side[k] == "i":
            g_i[k] = -h_i[k]
        else:
            g_j[k] = -h_j[k]
    return g_i, g_j, max(0, p0)


def prediction_loss(W, x_i, x_j, h_i, h_j, g_i, g_j, R):
    """Eq. (4) to (6): H - G + sqrt(R). With U for W it is Eq. (21)."""
    H = G = 0.0
    x_i, x_j = floats(x_i), floats(x_j)
    for k, w in enumerate(floats(W.T)):
        H += h_i[k] * dot(w, x_i) + h_j[k] * dot(w, x_j)
        G += g_i[k] * dot(w, x_i) + g_j[k] * dot(w, x_j)
    return H - G + math.sqrt(R)


def direction(x_i, x_j, h_i, h_j, g_i, g_j):
    """The matrix x (g - h)ᵀ = x_i (g_i - h_i)ᵀ + x_j (g_j - h_j)ᵀ, entry by entry, Eq. (12)."""
    rows = []
    for u, v in zip(floats(x_i), floats(x_j), strict=True):
        rows.append([u * (g_i[k] - h_i[k]) + v * (g_j[k] - h_j[k]) for k in range(len(h_i))])
    return np.array(rows)


def frobenius2(M):
    total = 0.0
    for value in floats(np.ravel(M)):
        total += value * value
    return total


@dataclass
class Reference:
    """T models; OH is T = 1."""

    W: np.ndarray  # (T, d, r)
    alpha: int = 0
    beta: float = 0.5
    C: float = 0.1
    center: str = "none"
    ema: float = 0.01
    select: str = "smallest"
    rounds: int = 1

    def __post_init__(self):
        self.W = np.array(self.W, dtype=np.float64)
        self.mean = np.zeros(self.W.shape[1])
        self.total, self.count = np.zeros(self.W.shape[1]), 0  # of the points the mean has seen

    def warm_up(self, X):
        if self.center != "none":
            for x in X:
                self.total, self.count = self.total + x, self.count + 1
            self.mean = self.total / self.count

    def learn(self, X, i, j, s):
        """Columns (pairs, T), by name."""
        columns = {name: np.zeros((len(i), len(self.W))) for name in COLUMNS}
        for t in range(len(i)):
            for m, cells in enumerate(self.step(X[i[t]].astype(np.float64), X[j[t]].astype(np.float64), s[t])):
                for name, value in cells.items():
                    columns[name][t, m] = value
        return columns

    def step(self, raw_i, raw_j, s):
        """One pair for every model, then the mean."""
        x_i, x_j = raw_i - self.mean, raw_j - self.mean
        cells = []
        for W in self.W:
            h_i, h_j = hash_code(W, x_i), hash_code(W, x_j)
            R = similarity_loss(h_i, h_j, s, self.alpha, self.beta)
            cells.append({"D_h": hamming(h_i, h_j), "R": R})
        losses = [one["R"] for one in cells]
        for m in range(len(self.W)):
            selected = losses[m] > 0 and (s == -1 or m == losses.index(min(losses)))
            for turn in range(self.rounds if selected else 0):
                done = self.update(m, x_i, x_j, s)
                if turn == 0:
                    cells[m] |= done
                if not done.get("updated"):
                    break
        if self.center == "running":
            for x in (raw_i, raw_j):
                self.total, self.count = self.total + x, self.count + 1
            self.mean = self.total / self.count
        if self.center == "ema":
            for x in (raw_i, raw_j):
                self.mean = (1 - self.ema) * self.mean + self.ema * x
        return cells

    def update(self, m, x_i, x_j, s):
        """Algorithm 1 for model m: one update, with h computed now."""
        W = self.W[m]
        h_i, h_j = hash_code(W, x_i), hash_code(W, x_j)
        R = similarity_loss(h_i, h_j, s, self.alpha, self.beta)
        if R == 0:
            return {}
        g_i, g_j, p0 = zero_loss_pair(W, x_i, x_j, h_i, h_j, s, self.alpha, self.beta, self.select)
        M = direction(x_i, x_j, h_i, h_j, g_i, g_j)
        norm2 = frobenius2(M)
        if norm2 == 0:
            return {"degenerate": True}
        loss = prediction_loss(W, x_i, x_j, h_i, h_j, g_i, g_j, R)
        tau = min(self.C, loss / norm2)  # Eq. (16)
        self.W[m] = W + tau * M  # Eq. (10)
        return {"loss": loss, "ratio": loss / norm2, "tau": tau, "norm2": norm2, "p0": p0, "updated": True}


def random_stream(seed, d=7, pairs=200, similar=0.5, zeros=0.0, offset=0.0):
    """(X, i, j, s): Gaussian points shifted by `offset`, a share `zeros` of them the zero vector; each comes once."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * pairs, d)) + offset
    X[rng.random(2 * pairs) < zeros] = 0.0
    i, j = rng.permutation(2 * pairs).reshape(2, pairs)
    s = np.where(rng.random(pairs) < similar, 1, -1)
    return X, i, j, s


def recurring_stream(seed, n=20, d=20, pairs=2000, noise=0.1, unit=False):
    """(X, i, j, s): pairs of n points of five classes, a share `noise` of them mislabelled.

    A full step leaves every bit that it flips alone, p0 = 1, at the margin sqrt(R)/2. Here the points come again, so
    bits tie up to rounding all the time.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, n)
    X = rng.normal(size=(5, d))[labels] + rng.normal(size=(n, d))
    if unit:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    i = rng.integers(0, n, pairs)
    j = (i + rng.integers(1, n, pairs)) % n
    s = np.where((labels[i] == labels[j]) != (rng.random(pairs) < noise), 1, -1)
    return X, i, j, s
