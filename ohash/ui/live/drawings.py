"""What the Live page draws of one moment of a run: charts with their captions, and the numbers beside them.

Nothing here asks Streamlit for anything but how the session looks at the charts (`chart_switches`): pictures are also
drawn where no script runs.
"""

from collections.abc import Callable
from functools import partial

from ohash.engine.observer import WINDOW
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.chart import Chart
from ohash.plots.live import charts
from ohash.ui.live import reference_runs
from ohash.ui.live.numbers import numbers_html
from ohash.ui.live.reference_runs import with_pinned_run
from ohash.ui.parts import present
from ohash.ui.parts.live_chart import CHART_KEYS, NARROW, LiveChart, live_chart
from ohash.ui.session import live_run, view_state
from ohash.ui.session.broadcast import ChartSwitches
from ohash.ui.session.feed import Frame
from ohash.ui.session.session import Session
from ohash.ui.workarounds.style import dark

HEIGHTS = 212, 212, 178, 178  # pixels
WIDE = 610, 270  # pixels of the first chart, and what its switch takes from its title
PRESENTED_SWITCH = 330  # pixels that the switch on the first chart takes from its title
PRESENTED_KEYS = {"quality": "chart_a", "hills": "chart_b", "loss": "chart_c", "tau": "chart_d"}


def drawings_of(session: Session, now: Snapshot, switches: ChartSwitches) -> list[LiveChart]:
    """The charts, drawn once for all who see the same."""
    draw = partial(_presented_charts if session.present else _charts, session, now, switches)
    if session.ghosts or session.earlier or live_run.hub().lease(session.id).companions:
        return draw()
    return live_run.drawings(session).charts.get(now, (session.present, switches), draw)


def chart_switches(session: Session) -> ChartSwitches:
    """How the session looks at the charts."""
    per_pair, log, bound = (bool(view_state.view(name)) for name in ("per_pair", "log_loss", "bound"))
    return ChartSwitches(view_state.view("quality") or "mAP", per_pair, log, bound, session.narrow, dark())


def stream_charts(switches: ChartSwitches) -> tuple[Callable[[Snapshot], Chart], ...]:
    """B to D: hills, loss and step size."""
    loss = partial(charts.loss, per_pair=switches.per_pair, log=switches.log_loss, bound=switches.bound)
    return charts.hills, loss, charts.tau


def _figures(session: Session, now: Snapshot, switches: ChartSwitches) -> list[Chart]:
    """A to D: score, hills, loss and step size."""
    others = (with_pinned_run(session, now, draw) for draw in stream_charts(switches))
    return [_quality(session, now, switches), *others]


def _charts(session: Session, now: Snapshot, switches: ChartSwitches) -> list[LiveChart]:
    """A to D with their captions, on axes that only grow; a switch stands on the first."""
    figures = zip(CHART_KEYS, HEIGHTS, _figures(session, now, switches), strict=True)
    first = (NARROW, 0) if session.narrow else WIDE
    draw = partial(live_chart, caption=True, moving=now.state == "running", dark=switches.dark)
    return [
        draw(_widen(session, now, chart, key), key, height, width, title_margin=switch)
        for (key, height, chart), (width, switch) in zip(figures, [first, *3 * [(NARROW, 0)]], strict=True)
    ]


def _widen(session: Session, now: Snapshot, chart: Chart, key: str) -> Chart:
    return live_run.drawings(session).axis_ranges.widen(key, chart, remember=now.t >= WINDOW)


def _presented_charts(session: Session, now: Snapshot, switches: ChartSwitches) -> list[LiveChart]:
    """A and B, or one chart, large enough for the back row; at the usual size on a phone."""
    if session.narrow:
        return _charts(session, now, switches)[:2]
    view = present.view(session)
    if view == present.GALLERY:
        return []
    if view != present.TWO:
        chart = _quality(session, now, switches) if view == "quality" else charts.CHARTS[view](now)
        switch = PRESENTED_SWITCH if view == "quality" else 0
        return [_presented_chart(chart, PRESENTED_KEYS.get(view, f"chart_{view}"), 1000, switch)]
    return [
        _presented_chart(_quality(session, now, switches), "chart_a", 760, PRESENTED_SWITCH),
        _presented_chart(charts.hills(now), "chart_b", 425),
    ]


def _presented_chart(chart: Chart, key: str, width: int, title_margin: int = 0) -> LiveChart:
    """The style gives it the height that the screen has."""
    size = theme.SIZE_PRESENTED
    return live_chart(chart, key, 400, width, size, title_margin=title_margin, caption=True, presenting=True)


def _quality(session: Session, now: Snapshot, switches: ChartSwitches) -> Chart:
    return reference_runs.quality(session, now, switches.score(now.similar_by))


def notes_html(session: Session, now: Snapshot | None, drawings: list[LiveChart]) -> str:
    """The captions of the charts, and the numbers."""
    numbers = "" if now is None or session.present else numbers_html(now)
    return f'<div class="ohash-notes">{"".join(drawing.note for drawing in drawings)}{numbers}</div>'


def frame_of(now: Snapshot, top: str, drawings: list[LiveChart], notes: str) -> Frame:
    """All of it, to be compared with the next."""
    specs = {one.key: one.spec for one in drawings}
    return Frame(now.seq, top, specs, {one.key: one.alt for one in drawings}, notes)
