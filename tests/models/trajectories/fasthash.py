"""FastHash (Lin et al., CVPR 2014): for each bit, minimum cuts of blocks, then boosted trees, whose bits count on."""

import numpy as np

from ohash.models.batch.fasthash import Pairs
from ohash.models.supervision import SharedLabels
from tests.models import literal_cuts, literal_trees


def fit(X, y, r, neighbours, sweeps, trees, depth, seed):
    """The rows of X that were learnt from, in their order, and the sums of the trees on them, (n, r)."""
    rng = np.random.default_rng(seed)
    sample = rng.permutation(len(X))
    X, y = X[sample], y[sample]
    similar = y[:, None] == y
    drawn = Pairs(SharedLabels(np.eye(y.max() + 1)[y]), neighbours, rng)  # which pairs are listed, and the blocks
    listed = np.zeros((len(X), len(X)), bool)
    listed[drawn.rows, drawn.indices] = True
    D, sums = np.zeros((len(X), len(X)), int), []
    for k in range(r):
        equal = np.where(similar, D**2, np.maximum(0, r / 2 - D) ** 2)
        differ = np.where(similar, (D + 1) ** 2, np.maximum(0, r / 2 - D - 1) ** 2)
        A = np.where(listed, 4 * (equal - differ), 0).astype(int)
        z = np.ones(len(X), int)
        for _ in range(sweeps):
            for b in rng.permutation(len(drawn.blocks)):
                literal_cuts.settle(A, z, drawn.blocks.members(b))
        base, grown = float(z[0]), []
        if len(set(z.tolist())) == 2:
            base, grown = literal_trees.boost(X, z, trees, depth, np.random.default_rng((seed, k)))
        sums.append([base + sum(literal_trees.answer(tree, x) for tree in grown) for x in X])
        bits = np.where(np.array(sums[-1]) >= 0, 1, -1)
        D += bits[:, None] != bits
    return sample, np.array(sums).T
