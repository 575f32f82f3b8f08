"""What HCOH, HMOH and OECC share: each class has a codeword, and a point pulls W towards the codeword of its label."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.models import codebooks, labels
from ohash.models.stream_learner import Rows, StreamLearner


class CodewordLearner(StreamLearner):
    """A learner of labelled points with a growing codebook."""

    title: ClassVar[str]
    ARRAYS: ClassVar[tuple[str, ...]] = (*StreamLearner.ARRAYS, "book", "classes", "form")

    @property
    def book(self) -> npt.NDArray[np.int8]:
        """Codewords (classes seen, r)."""
        return self._book

    @property
    def classes(self) -> npt.NDArray[np.int64]:
        """The classes seen, in the order of the book."""
        return self._classes

    def learn_points(self, X: npt.ArrayLike, i: npt.ArrayLike, y: npt.ArrayLike | None) -> None:
        """Learn rows i of X, strictly in order, with their labels."""
        self._learn_points(X, i, y)

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._book = np.zeros((0, self.r), np.int8)
        self._classes = np.zeros(0, np.int64)
        self._form = np.zeros(1, np.int64)

    def _words(self, count: int) -> npt.NDArray[np.int8]:
        """The next codewords."""
        raise NotImplementedError

    def _step(self, rows: Rows, words: Rows) -> None:
        """Learn rows (n, d) towards codewords (n, r), in order."""
        raise NotImplementedError

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> npt.NDArray[Any]:
        found, self._form[0] = labels.check(y, n, int(self._form[0]), self.title)
        fresh = codebooks.new_classes(self._classes, found)
        if len(fresh):
            self._book = np.concatenate([self._book, self._words(len(fresh))])
            self._classes = np.concatenate([self._classes, fresh])
        return found

    def _absorb(self, rows: Rows, labels: Any) -> None:
        words, has = codebooks.targets(self._book, self._classes, labels)
        self._step(rows[has], words[has])
        self._clock[0] += len(rows) - int(has.sum())  # a point without any label teaches nothing
