"""Methods of the field that are not here, each with the reason: nothing is written from guesses."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AbsentMethod:
    """A published method without an implementation; `reason` ends the sentence "not here, because ..."."""

    title: str
    aliases: tuple[str, ...]
    cite: str
    reason: str

    def __str__(self) -> str:
        """One sentence."""
        return f"{self.title} ({self.cite}) is not here, because {self.reason}."


ABSENT = (
    AbsentMethod(
        "FCOH",
        ("fast class-wise updating for online hashing",),
        "Lin, Ji, Sun, Zhang, Huang, Tian, Tao: Fast Class-wise Updating for Online Hashing, TPAMI 2022",
        "neither the text of its paper nor a program of its authors was at hand, and the abstract does not determine "
        "its updates",
    ),
    AbsentMethod(
        "FOH",
        ("fast online hashing", "fast online hashing with multi-label projection"),
        "Jia, Cao, Liu, Gui: Fast Online Hashing with Multi-Label Projection, AAAI 2023",
        "the text of its paper was not at hand, and the authors' program does not settle it: in the step for the codes "
        "of the past the label projection has a sign that pushes codes away from it, and the loop for several labels "
        "is left out",
    ),
)
