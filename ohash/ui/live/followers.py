"""Followers (`ohash follow`) on the dashboard: Live watches one, Runs lists all. Nothing here changes any of them."""

import html
from functools import partial

import streamlit as st

from ohash.engine.narrative import amount
from ohash.plots.follow import follow_charts, tick_charts
from ohash.plots.renderers.plotly import figure
from ohash.production.watch import FollowerStatus, arrays, list_watched, read_watched
from ohash.ui.compare import cards
from ohash.ui.parts import static_chart
from ohash.ui.parts.background_work import REDUCED_MOTION_SECONDS
from ohash.ui.session import access, live_run, tab
from ohash.ui.session.session import Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.style import dark

PARAMETER = "follow"
TICK_SECONDS = 1.0
FEW_TICKS = 4  # on a narrow screen
MISSING = (
    "No follower of this link is known here. `ohash follow` prints its link when it begins; it and this server must "
    "have the same OHASH_HOME."
)


def key_in_address() -> str:
    """The key of the follower that the address names, "" without one."""
    return st.query_params.get(PARAMETER, "")


def show(session: Session) -> None:
    """One follower, drawn again every second while it may move."""
    cards.apply()
    live_run.hub().poll(session.id)
    tab.follow_browser(session)
    if st.button("Back to Live", icon=":material/arrow_back:", key="leave_follower"):
        st.query_params.clear()
        st.rerun()
    watched = read_watched(key_in_address()) if access.is_owner() else None
    if watched is None:
        st.error(MISSING if access.is_owner() else "Followers are shown to the owner of this server only.")
        return
    every = max(TICK_SECONDS, REDUCED_MOTION_SECONDS * session.reduced_motion)
    fragment(partial(_draw, session, watched.key), key="follower", every=every if watched.may_go_on else None)


def _draw(session: Session, key: str) -> None:
    live_run.hub().poll(session.id)
    watched = read_watched(key)
    if watched is None:
        st.error(MISSING)
        return
    st.markdown(f"#### {escape_markdown(watched.title)}")
    st.html(_status_html(watched))
    checks = follow_charts(arrays(watched.checks))
    charts = [*tick_charts(arrays(watched.ticks)), checks[0]]
    columns = st.columns(1 if session.narrow else 2)
    for at, chart in enumerate(charts):
        with columns[at % len(columns)]:
            if chart.empty:
                st.markdown(f"**{chart.title}**")
            else:
                drawing = figure(chart, dark())
                every = -(-len(drawing.layout.xaxis.tickvals or ()) // FEW_TICKS) if session.narrow else 1
                if every > 1:  # numbers of six digits stand side by side
                    shown = {name: drawing.layout.xaxis[name][::every] for name in ("tickvals", "ticktext")}
                    drawing.update_xaxes(**shown)
                static_chart.show(chart, f"follower_{at}", 240, drawing)
    if not checks[0].empty:
        st.caption(checks[0].caption)


def _status_html(watched: FollowerStatus) -> str:
    counts = [f"{watched.t:,} pairs of the stream"]
    counts += [f"{watched.learnt:,} learnt, including drawn negatives"] if watched.learnt > watched.t else []
    counts += [f"{watched.skipped:,} were not pairs of these vectors"] if watched.skipped else []
    alarms = f"{watched.alarms:,} drift alarm{'s' * (watched.alarms != 1)}"
    counts.append(f"{alarms}, the latest: {watched.alarm}" if watched.alarm else alarms)
    price = watched.price or f"no check since this process started; one comes every {watched.check_every:,} pairs"
    return (
        f'<div class="ohash-verdict" role="status" data-state="{watched.state}" data-pairs="{watched.t}">'
        f"<p><b>{html.escape(_sentence(price))}.</b></p><p>{html.escape(_sentence(watched.status()))}.</p>"
        f"<small>{html.escape(' · '.join(counts))}</small></div>"
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def show_list() -> None:
    """All followers, each with the link that Live opens it by; nothing for a visitor, and nothing without any."""
    every = list_watched() if access.is_owner() else []
    if not every:
        return
    st.markdown(f"#### {amount(len(every), 'follower')} learning beside production")
    for one in every:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link(
                "pages/live.py", label=escape_markdown(one.title), icon=":material/visibility:",
                query_params={PARAMETER: one.key},
            )  # fmt: skip
            st.caption(f"{one.t:,} pairs · {one.alarms:,} drift alarms · {one.status()}")
