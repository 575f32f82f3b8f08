"""The comparisons of this server, and the one of a session."""

from ohash.comparison import params as comparisons
from ohash.comparison.params import Comparison
from ohash.comparison.runner import ComparisonRunner
from ohash.engine.params import OWN
from ohash.runtime.lazy import once_per_process
from ohash.streams import registry as datasets
from ohash.ui.session import own_data
from ohash.ui.session.hub import Hub
from ohash.ui.session.limits import MAX_COMPARISONS
from ohash.ui.session.session import Session


@once_per_process
def hub() -> Hub[ComparisonRunner]:
    """The server's comparisons."""
    return Hub[ComparisonRunner](MAX_COMPARISONS, limit_of_visitor=1).watch()


def runner(session: Session) -> ComparisonRunner:
    """The runner of the session's comparison, started if there is none; a finished one is kept."""
    if session.comparison is None:
        session.comparison = default_comparison(session, session.params.dataset, session.params.content)
    asked = session.comparison
    return hub().run_unless(
        session.id, session.comparison_work, lambda one: one.comparison == asked,
        lambda: ComparisonRunner(asked, own_data.dataset_of(session, asked)),
    )  # fmt: skip


def choose(session: Session, comparison: Comparison, *, restart: bool = False) -> None:
    """Start another comparison, or the same one from the beginning."""
    if restart:
        hub().end(session.id)
        session.comparison_work.runner = None
    session.comparison, session.warnings, session.sides = comparison, [], (0, 1)


def default_comparison(
    session: Session, dataset: str, content: str = "", bits: int = comparisons.USUAL_BITS
) -> Comparison:
    """The comparison that data are opened with, of codes of so many bits.

    Own data get three splits unless they are large, because one seed decides little.
    """
    own, spec = session.own.get(content) if dataset == OWN else None, comparisons.own_data_spec(dataset)
    entries = comparisons.default_methods(own or datasets.lookup(dataset), bits)
    seeds = comparisons.default_seeds(spec if own is None else own)
    kernel = {} if own is None else {"kernel": own.kernel}
    return comparisons.build_comparison(dataset, entries, seeds, content=content, bits=bits, **kernel)
