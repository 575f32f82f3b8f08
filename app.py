"""The dashboard's router: page config, navigation, and what the server does when it starts."""

import streamlit as st

from ohash.ui.server_start import MIDDLEWARE, ROUTES, check_plugins, lifespan
from ohash.ui.session.access import is_owner
from ohash.ui.workarounds.router import before_page, mark_routed
from ohash.ui.workarounds.style import ICON, LOGO

if not st.runtime.exists():  # `streamlit run` imports this file once, before it serves
    check_plugins()
    app = st.App(__file__, lifespan=lifespan, middleware=MIDDLEWARE, routes=ROUTES)
else:
    mark_routed()
    st.logo(LOGO, size="medium")
    of_owner = [
        st.Page("pages/sweeps.py", title="Sweeps", url_path="sweeps"),
        st.Page("pages/paper.py", title="Paper", url_path="paper"),
    ]
    page = st.navigation(
        {
            "": [
                st.Page("pages/live.py", title="Live", default=True),
                st.Page("pages/compare.py", title="Compare", url_path="compare"),
                st.Page("pages/data.py", title="Data", url_path="data"),
                st.Page("pages/learn.py", title="Learn", url_path="learn"),
            ],
            "Experiments": [
                st.Page("pages/step.py", title="Step by step", url_path="step"),
                st.Page("pages/advise.py", title="Learn or rotate?", url_path="advise"),
                st.Page("pages/runs.py", title="Runs", url_path="runs"),
                *(of_owner if is_owner() else []),
            ],
        },
        position="top",
    )
    st.set_page_config(page_title=f"{page.title} · ohash", page_icon=ICON, layout="wide")
    before_page(page.title)
    page.run()
