"""The playground as a widget of a notebook."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from ohash.web.playground_settings import check_link, check_setting, settings_of

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

    `link` is the address of the Learn page or of the file, what follows ``?`` or ``#`` there, or what *Copy call* gave;
    the other arguments replace its parts: ``ohash.playground(data="rings", features="rbf", r=8)``. With `at` it waits
    at that pair, without it plays; `only="C"` locks all other settings.
    """
    given = {
        "data": data, "features": features, "r": r, "T": T, "beta": beta, "C": C, "noise": noise, "drift": drift,
        "pace": pace, "seed": seed, "changes": changes, "at": at, "only": only,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        check_setting(name, value)
    link = settings_of(link)
    for part in filter(None, (link, urlencode(given))):
        check_link(part)
    try:
        from ohash.web.widget import Playground  # noqa: PLC0415
    except ImportError as error:
        raise ValueError('the playground in a notebook needs anywidget: pip install "ohash[notebook]"') from error
    start = dict(parse_qsl(link, keep_blank_values=True)) | given
    return Playground(start=urlencode(start, safe=":,"))
