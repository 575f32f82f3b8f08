"""What the browser of a tab reports: a wish for less motion, a narrow screen, clicks in the gallery and on a curve."""

from ohash.models.registry import find
from ohash.ui.session import live_run
from ohash.ui.session.session import Session
from ohash.ui.workarounds.browser import BrowserReport, listen


def follow(session: Session) -> None:
    """Note what the browser reports; with reduced motion a run waits for Play, and a comparison is redrawn rarely."""

    def report(browser: BrowserReport) -> None:
        session.narrow, session.reduced_motion = browser.narrow, browser.reduced_motion
        if session.reduced_motion and session.playing:  # restart what began when the page was opened
            session.playing = False
            live_run.commit(session, session.params, preset=session.preset, keep_ghost=False)

    def choose_query(row: int | None) -> None:
        session.query_row = row

    def choose_pair(pair: int) -> None:
        if find(session.params.method).key in ("oh", "mmoh"):
            session.pair, session.own_pair, session.stages_shown = pair, None, 1
            session.opens_step = True

    listen(report, choose_query, choose_pair)
