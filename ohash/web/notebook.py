"""The playground as a widget of a notebook."""

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from ohash.web.settings import check_setting

if TYPE_CHECKING:
    from ohash.web.widget import Playground


def playground(
    link: str = "",
    *,
    data: str | None = None,
    features: str | None = None,
    r: int | None = None,
    T: int | None = None,
    beta: float | None = None,
    C: float | None = None,
    noise: float | None = None,
    drift: float | None = None,
    pace: float | None = None,
    seed: int | None = None,
    changes: str | None = None,
    at: int | None = None,
    only: str | None = None,
) -> "Playground":
    """The playground of the Learn page as a widget of a notebook (Jupyter, VS Code, Colab, marimo).

    `link` is what follows ``?`` on the Learn page or ``#`` in the file, or what *Copy call* gave; the other arguments
    set its parts: ``ohash.playground(data="rings", features="rbf", r=8)``. With `at` it waits at that pair, without it
    plays; `only="C"` locks all other settings.
    """
    given = {
        "data": data, "features": features, "r": r, "T": T, "beta": beta, "C": C, "noise": noise, "drift": drift,
        "pace": pace, "seed": seed, "changes": changes, "at": at,
        "only": only,
    }  # fmt: skip
    for name, value in given.items():
        if value is not None:
            check_setting(name, value)
    try:
        from ohash.web.widget import Playground  # noqa: PLC0415
    except ImportError as error:
        raise ValueError('the playground in a notebook needs anywidget: pip install "ohash[notebook]"') from error
    parts = [link.lstrip("?#"), urlencode({key: value for key, value in given.items() if value is not None}, safe=":,")]
    return Playground(start="&".join(part for part in parts if part))
