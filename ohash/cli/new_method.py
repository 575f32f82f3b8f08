"""Write a template for a method of your own: a file that runs as it is, to be changed.

Examples:
  python3 -m ohash new-method my.py
  python3 -m ohash check my.py
  python3 -m ohash run --plugin my.py --method my --dataset digits
  ohash-lab --plugin my.py

With --plugin the method is on Live, Compare, Sweeps and Paper like any other.
"""

import argparse
import re
from pathlib import Path

from ohash.runtime.files import write_file

TEMPLATE = '''"""MyMethod: a perceptron step for every bit that disagrees with a pair, as long as its loss."""
from dataclasses import dataclass

import numpy as np

from ohash.core.parameters import param
from ohash.models.base import HasherSpec
from ohash.models.learners import LearnerParams, PairLearner


@dataclass(frozen=True)
class Params(LearnerParams):  # which has r, center, dtype and seed
    eta: float = param(0.05, symbol="η", title="step size", lo=0, hi=10, slider=(0.001, 1), scale="log", help="Step.")


class MyMethod(PairLearner):
    key = "my_method"
    Params = Params  # state of your own: make it in _begin(self, d), name it in ARRAYS = (*PairLearner.ARRAYS, "_v")

    def _learn_pair_block(self, x_i, x_j, s, D_h, updated):  # rows of x_i and x_j in order; W is self._Wt (r, d)
        for t in range(len(s)):  # with center="frozen" self._mean is subtracted from x_i and x_j already: leave it be
            f_i, f_j = self._Wt @ x_i[t], self._Wt @ x_j[t]
            differ = (f_i >= 0) != (f_j >= 0)
            D_h[t] = differ.sum()
            R = D_h[t] / self.r if s[t] > 0 else max(0.0, 0.5 - D_h[t] / self.r)  # similarity loss per bit
            moved = (differ if s[t] > 0 else ~differ) & (R > 0)
            weak = (np.abs(f_i) < np.abs(f_j))[:, None]  # the end that is nearer to the hyperplane follows the other
            step = np.where(weak, np.outer(np.sign(f_j), x_i[t]), np.outer(np.sign(f_i), x_j[t]))
            self._Wt += self.params.eta * R * s[t] * moved[:, None] * step
            updated[t] = moved.any()
            self._bit_updates += moved
            self._clock += (1, updated[t])  # pairs learnt, changes of W


HASHER = HasherSpec(
    hasher=MyMethod, title="MyMethod", cite="", bibtex="", supervision="pairs", consumes="pairs", features="kernel"
)
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("file", type=Path, help="file to write; its name becomes the key of the method")


def run(options: argparse.Namespace) -> int:
    """Write the template, and say what to do with it."""
    file: Path = options.file
    key = re.sub(r"\W+", "_", file.stem.lower()).strip("_")
    if file.suffix != ".py" or not key or key[0].isdigit():
        raise ValueError(f"file must be a name like my_method.py, got {file}")
    if file.exists():
        raise ValueError(f"{file} exists already, and is left as it is")
    write_file(file, template(key))
    print(
        f"{file} holds the method {key!r}, and runs as it is. Next:\n"
        f"  python3 -m ohash check {file}\n"
        f"  python3 -m ohash run --plugin {file} --method {key} --dataset digits\n"
        f"  ohash-lab --plugin {file}"
    )
    return 0


def template(key: str) -> str:
    """The file of a method with this key.

    >>> template("my_hash").splitlines()[15]
    'class MyHash(PairLearner):'
    """
    name = "".join(part.capitalize() for part in key.split("_"))
    return TEMPLATE.replace("my_method", key).replace("MyMethod", name)
