"""Names of methods in select boxes, with what they learn from."""

from ohash.comparison.results import supervision_text
from ohash.models.base import HasherSpec


def describe_supervision(title: str, spec: HasherSpec) -> str:
    """A method's title, what it learns from, and the package it needs if that is missing."""
    needs = f" · needs {spec.needs}" if spec.missing else ""
    return f"{title} · {supervision_text(spec.supervision)}{needs}"
