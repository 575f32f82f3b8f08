"""The playground for anywidget; needs the extra `notebook`."""

import anywidget
import traitlets

from ohash.web.bundle import style, widget_script


class Playground(anywidget.AnyWidget):
    """The playground; it is computed in the browser, and nothing comes back to Python."""

    _esm = widget_script()
    _css = style()
    start = traitlets.Unicode("").tag(sync=True)
