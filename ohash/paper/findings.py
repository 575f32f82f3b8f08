"""A claim of the paper, and the finding: its verdict on the data that were run."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ohash.paper.measurements import Measurements, MissingCellError, NotRunError
from ohash.paper.settings import EMBEDDED, PAPER_KINDS, Kind, Setting, settings, stand_ins_text
from ohash.paper.verdicts import Part, Verdict, all_of, holm

UNDECIDED: tuple[Verdict, ...] = ("cannot tell", "not run yet")
Judge = Callable[[Measurements, Setting], Iterable[Part]]


@dataclass(frozen=True)
class Claim:
    """One claim: what the paper says, where, and the test we put it to.

    `judge` yields the parts for one data set; `kinds` are the kinds of data the claim is about.
    """

    key: str
    text: str
    place: str
    test: str
    figures: tuple[str, ...]
    judge: Judge
    kinds: tuple[Kind, ...] = PAPER_KINDS


@dataclass(frozen=True)
class Finding:
    """A claim and its verdict, with the parts it rests on, and the data they were measured on."""

    claim: Claim
    verdict: Verdict
    parts: tuple[Part, ...]
    data: tuple[Setting, ...] = ()

    @property
    def stand_ins(self) -> str:
        """The data, each with those of the paper that they stand for; empty for random pairs."""
        return stand_ins_text(self.data)

    @property
    def decisive(self) -> tuple[Part, ...]:
        """The parts that decide the verdict; the others are shown beside them."""
        return tuple(part for part in self.parts if part.decisive)

    @property
    def held_text(self) -> str:
        """On how many data sets the claim holds, as text; empty for one data set."""
        names = dict.fromkeys(part.setting for part in self.decisive)
        held = sum(all(part.verdict == "holds" for part in self.decisive if part.setting == name) for name in names)
        undecided = all(part.effect is None and part.verdict in UNDECIDED for part in self.decisive)
        return f"holds on {held} of {len(names)}" if len(names) > 1 and not undecided else ""

    @property
    def interval(self) -> str:
        """The kind of interval that all parts share; empty if they differ or have none."""
        kinds = {part.effect.interval for part in self.parts if part.effect is not None}
        return kinds.pop() if len(kinds) == 1 else ""

    @property
    def reason(self) -> str:
        """Why there is no verdict: the reasons of the undecided parts, each once; empty if there is a verdict."""
        if self.verdict not in UNDECIDED:
            return ""
        reasons = list(dict.fromkeys(part.reason for part in self.decisive if part.verdict in UNDECIDED))
        return "; ".join(reasons[:2]) + (f"; and {len(reasons) - 2} more reasons" if len(reasons) > 2 else "")


def judge_claim(claim: Claim, measurements: Measurements, data: Sequence[Setting] | None = None) -> Finding:
    """Judge a claim on every data set it is about; "not run yet" where nothing was run or recorded.

    Several parts are corrected for their number (`holm`). A claim about no figure is theory, and needs no data.
    """
    parts: list[Part] = []
    all_settings = settings() if measurements.data is None else measurements.data
    if not claim.figures:
        parts += claim.judge(measurements, EMBEDDED[0])
        return _finding(claim, parts, EMBEDDED)
    for setting in all_settings if data is None else data:
        if setting.kind not in claim.kinds:
            continue
        try:
            parts += claim.judge(measurements, setting)
        except NotRunError as missing:
            parts.append(Part(setting.title, "", None, "not run yet", str(missing)))
        except MissingCellError as missing:
            parts.append(Part(setting.title, "", None, "cannot tell", str(missing)))
    return _finding(claim, holm(parts), all_settings if data is None else data)


def _finding(claim: Claim, parts: Sequence[Part], data: Sequence[Setting]) -> Finding:
    names = {part.setting for part in parts}
    verdict = all_of([part.verdict for part in parts if part.decisive])
    return Finding(claim, verdict, tuple(parts), tuple(one for one in data if one.title in names))
