"""Chooser: scan or look-ups for the queries at hand, by what earlier queries have shown."""

import numpy as np

from ohash.index.bit_words import Words
from ohash.index.engine import FEW, MARGIN, PILOTS, Engine, Values
from ohash.index.multi_index_kernels import ITEMS, LEVEL, LOOKUPS
from ohash.index.scan import ROW_BITS


class Chooser:
    """Remembers what look-ups cost for each k, and how much tables would have saved so far."""

    def __init__(self, engine: Engine) -> None:
        """Nothing is known yet."""
        self._engine = engine
        self.forget()

    def forget(self) -> None:
        """The codes have changed."""
        self._known: dict[tuple[str, int, int], float] = {}
        self._saved = 0.0

    def nearest(self, queries: Words, rule: int, step: int, k: int) -> tuple[Values, int, str]:
        """(values, how many queries were looked up, why)."""
        engine, about = self._engine, ("k", k, rule)
        if engine.n < FEW:
            return engine.scan(queries, rule, step, k), 0, self._too_few()
        pilots = 0 if about in self._known else min(PILOTS, len(queries))
        found = engine.scan(queries[:pilots], rule, step, k)
        if pilots:
            radii = (found[:, -1] >> ROW_BITS) // step
            self._estimate(about, queries[:pilots], rule, [int(radius) for radius in radii])
        rest = queries[pilots:]
        worth, why = self._worth(about, len(queries), len(rest))
        if not worth:
            return np.concatenate([found, engine.scan(rest, rule, step, k)]), 0, why
        more, work = engine.look_up(rest, rule, step, k, engine.costs.limits(k))
        late = work[:, LEVEL] < 0
        if late.any():
            more[late] = engine.scan(np.ascontiguousarray(rest[late]), rule, step, k)
        self._saw(about, work)
        return np.concatenate([found, more]), int((~late).sum()), self._seen(work)

    def within(self, queries: Words, rule: int, step: int, radius: int) -> tuple[list[Values], int, str]:
        """(values of each query, how many were looked up, why)."""
        engine, about = self._engine, ("radius", radius, rule)
        if engine.n < FEW:
            return [engine.scan_ball(query, rule, step, radius) for query in queries], 0, self._too_few()
        if about not in self._known:
            few = queries[:PILOTS]
            self._estimate(about, few, rule, [radius] * len(few))
        worth, why = self._worth(about, len(queries), len(queries))
        if not worth:
            return [engine.scan_ball(query, rule, step, radius) for query in queries], 0, why
        parts, works = [], []
        for query in queries:
            part, work = engine.look_up_ball(query, rule, step, radius, engine.costs.limits(0))
            parts.append(engine.scan_ball(query, rule, step, radius) if part is None else part)
            works.append(work)
        work = np.concatenate(works)
        self._saw(about, work)
        return parts, int((work[:, LEVEL] >= 0).sum()), self._seen(work)

    def _estimate(self, about: tuple[str, int, int], queries: Words, rule: int, radii: list[int]) -> None:
        expected = [self._engine.expected(query, rule, radius) for query, radius in zip(queries, radii, strict=True)]
        costs = self._engine.costs
        self._known[about] = float(np.mean([costs.lookups(one.lookups, one.rows, one.items) for one in expected]))

    def _worth(self, about: tuple[str, int, int], asked: int, left: int) -> tuple[bool, str]:
        """Whether to look up the queries that are left of those asked, and if not, why."""
        known, build, scan = self._known[about], self._engine.costs.build, self._scan(about)
        if known > MARGIN * scan:
            return False, f"look-ups would be {known / scan:.2g} x the work of a scan"
        self._saved += (scan - known) * asked
        if self._saved < build:
            more = (build - self._saved) / (scan - known)
            return False, (
                f"look-ups would be {known / scan:.2g} x the work of a scan, once about {more:,.0f} more queries "
                f"have paid for {self._engine.cut}"
            )
        return left > 0, f"look-ups will be {known / scan:.2g} x the work of a scan, from the next query on"

    def _saw(self, about: tuple[str, int, int], work: Values) -> None:
        """What it really cost; a query that was scanned after all cost both."""
        costs = self._engine.costs
        spent = [
            2 * self._scan(about) if level < 0 else costs.lookups(values, rows, items)
            for values, rows, items, level in work.tolist()
        ]
        self._known[about] = 0.5 * (self._known[about] + float(np.mean(spent)))

    def _scan(self, about: tuple[str, int, int]) -> float:
        kind, k, _ = about
        return self._engine.costs.scan(k if kind == "k" else 0)

    def _seen(self, work: Values) -> str:
        asked, measured = work[:, LOOKUPS].mean(), work[:, ITEMS].mean()
        late = int((work[:, LEVEL] < 0).sum())
        return (
            f"{self._engine.cut}: {asked:,.0f} look-ups a query, {measured:,.0f} of {self._engine.n:,} items measured"
            + (f"; {late:,} queries were scanned after all" if late else "")
        )

    def _too_few(self) -> str:
        return f"{self._engine.n:,} codes are too few for tables"
