"""Where the CPU time of a run goes."""

from dataclasses import dataclass, field

from ohash.core.compiling import working_seconds

CPU_COLUMNS = ("cpu_learn", "cpu_encode", "cpu_evaluate")


@dataclass
class Clock:
    """CPU seconds of this thread, by what they were spent on."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(CPU_COLUMNS, 0.0))

    def add(self, name: str, since: float) -> None:
        """Book the time since `since` (from `working_seconds`)."""
        self.seconds[name] += working_seconds() - since
