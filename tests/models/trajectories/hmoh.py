"""HMOH (Lin et al., IJCV 2020): one perceptron per bit; the hash is the sum of W over the start and all points."""


def follow(W, points):
    """The sum of W after every point (x, codeword)."""
    W, total = W.copy(), W.copy()
    for x, b in points:
        for k in range(W.shape[1]):
            if (W[:, k] @ x) * b[k] < 0:
                W[:, k] = W[:, k] + b[k] * x
        total = total + W
        yield total, 0.0
