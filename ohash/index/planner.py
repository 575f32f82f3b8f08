"""SearchPlanner: scan or look-ups for the queries at hand, decided by what earlier queries have shown."""

import numpy as np

from ohash.index.bit_words import Words
from ohash.index.multi_index_kernels import ITEMS, LEVEL, LOOKUPS
from ohash.index.scan import ROW_BITS
from ohash.index.searcher import MARGIN, MIN_ITEMS, PILOTS, Searcher, Values

# What a kind of query is remembered by: "k" or "radius", its value, and how models are combined.
QueryKind = tuple[str, int, int]


class SearchPlanner:
    """Remembers what look-ups cost for each kind of query, and how much tables would have saved so far."""

    def __init__(self, searcher: Searcher) -> None:
        """Start without any experience."""
        self._searcher = searcher
        self.reset()

    def reset(self) -> None:
        """Forget everything, because the codes have changed."""
        self._lookup_costs: dict[QueryKind, float] = {}
        self._saved = 0.0

    def nearest(self, queries: Words, rule: int, step: int, k: int) -> tuple[Values, int, str]:
        """(values, how many queries were looked up, why)."""
        searcher, kind = self._searcher, ("k", k, rule)
        if searcher.n < MIN_ITEMS:
            return searcher.scan(queries, rule, step, k), 0, self._too_few()
        pilots = 0 if kind in self._lookup_costs else min(PILOTS, len(queries))
        values = searcher.scan(queries[:pilots], rule, step, k)
        if pilots:
            radii = (values[:, -1] >> ROW_BITS) // step
            self._estimate(kind, queries[:pilots], rule, [int(radius) for radius in radii])
        rest = queries[pilots:]
        look_up, why = self._should_look_up(kind, len(queries), len(rest))
        if not look_up:
            return np.concatenate([values, searcher.scan(rest, rule, step, k)]), 0, why
        more, work = searcher.look_up(rest, rule, step, k, searcher.costs.limits(k))
        too_costly = work[:, LEVEL] < 0
        if too_costly.any():
            more[too_costly] = searcher.scan(np.ascontiguousarray(rest[too_costly]), rule, step, k)
        self._record(kind, work)
        return np.concatenate([values, more]), int((~too_costly).sum()), self._report(work)

    def within(self, queries: Words, rule: int, step: int, radius: int) -> tuple[list[Values], int, str]:
        """(values of each query, how many queries were looked up, why)."""
        searcher, kind = self._searcher, ("radius", radius, rule)
        if searcher.n < MIN_ITEMS:
            return [searcher.scan_radius(query, rule, step, radius) for query in queries], 0, self._too_few()
        if kind not in self._lookup_costs:
            pilots = queries[:PILOTS]
            self._estimate(kind, pilots, rule, [radius] * len(pilots))
        look_up, why = self._should_look_up(kind, len(queries), len(queries))
        if not look_up:
            return [searcher.scan_radius(query, rule, step, radius) for query in queries], 0, why
        parts, works = [], []
        for query in queries:
            part, work = searcher.look_up_radius(query, rule, step, radius, searcher.costs.limits(0))
            parts.append(searcher.scan_radius(query, rule, step, radius) if part is None else part)
            works.append(work)
        work = np.concatenate(works)
        self._record(kind, work)
        return parts, int((work[:, LEVEL] >= 0).sum()), self._report(work)

    def _estimate(self, kind: QueryKind, queries: Words, rule: int, radii: list[int]) -> None:
        estimates = [self._searcher.estimate(query, rule, radius) for query, radius in zip(queries, radii, strict=True)]
        costs = self._searcher.costs
        self._lookup_costs[kind] = float(
            np.mean([costs.lookups(one.lookups, one.rows, one.items) for one in estimates])
        )

    def _should_look_up(self, kind: QueryKind, queries: int, left: int) -> tuple[bool, str]:
        """Whether to look up the `left` of `queries` that have not been scanned, and if not, why."""
        lookup, build, scan = self._lookup_costs[kind], self._searcher.costs.build, self._scan_cost(kind)
        if lookup > MARGIN * scan:
            return False, f"look-ups would be {lookup / scan:.2g} x the work of a scan"
        self._saved += (scan - lookup) * queries
        if self._saved < build:
            more = (build - self._saved) / (scan - lookup)
            return False, (
                f"look-ups would be {lookup / scan:.2g} x the work of a scan, once about {more:,.0f} more queries "
                f"have paid for {self._searcher.table_layout}"
            )
        return left > 0, f"look-ups will be {lookup / scan:.2g} x the work of a scan, from the next query on"

    def _record(self, kind: QueryKind, work: Values) -> None:
        """Learn from the actual cost; a query that was scanned in the end cost both."""
        costs = self._searcher.costs
        actual = [
            2 * self._scan_cost(kind) if level < 0 else costs.lookups(values, rows, items)
            for values, rows, items, level in work.tolist()
        ]
        self._lookup_costs[kind] = 0.5 * (self._lookup_costs[kind] + float(np.mean(actual)))

    def _scan_cost(self, kind: QueryKind) -> float:
        name, k, _ = kind
        return self._searcher.costs.scan(k if name == "k" else 0)

    def _report(self, work: Values) -> str:
        lookups, items = work[:, LOOKUPS].mean(), work[:, ITEMS].mean()
        scanned = int((work[:, LEVEL] < 0).sum())
        return (
            f"{self._searcher.table_layout}: {lookups:,.0f} look-ups per query, distances to {items:,.0f} of "
            f"{self._searcher.n:,} items" + (f"; {scanned:,} queries were scanned in the end" if scanned else "")
        )

    def _too_few(self) -> str:
        return f"{self._searcher.n:,} codes are too few for tables"
