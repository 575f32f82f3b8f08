"""Who may do what on this server. Touches session_state.

`ohash-lab --class` makes a key. Whoever opens a link with it is the owner; everybody else is a visitor, with runs,
comparisons and uploads of her own, and nothing of the server's: no stored runs, no sweeps, no folders. Without a key
everybody is the owner, as on one's own laptop. Every rule is checked here, on the server, not in what a page shows.
"""

import hmac
import os
from collections.abc import Mapping

import streamlit as st

from ohash.store.store import StoreError
from ohash.streams import registry
from ohash.ui.workarounds.browser import COOKIE, browser_token, token_of

KEY = "OHASH_KEY"
OWNER = "ohash_owner"
OWNERS_ONLY = ("folder",)  # groups of data sets


def is_class() -> bool:
    """Whether there are owners and visitors."""
    return bool(os.environ.get(KEY))


def is_owner() -> bool:
    """Whether this tab may use and change what belongs to the server."""
    key = os.environ.get(KEY, "")
    if not key:
        return True
    token = browser_token()
    if hmac.compare_digest(st.query_params.get("key", "").encode(), key.encode()):
        st.session_state[OWNER] = True
        if token:
            _owners().add(token)
    return bool(st.session_state.get(OWNER)) or (bool(token) and token in _owners())


def require_owner(what: str) -> None:
    """Refuse to a visitor what belongs to the server."""
    if not is_owner():
        raise StoreError(f"{what} needs the key of this server; ask whoever started it")


def check_data(dataset: str) -> None:
    """Refuse data that only the owner may use, however they were named; why others are missing is the owner's, too."""
    spec = registry.lookup(dataset)
    if spec is not None and not is_owner() and (spec.group in OWNERS_ONLY or spec.missing()):
        raise ValueError(f"dataset must be one that this server offers to visitors, got {dataset!r}; choose another")


def visitor() -> str:
    """Who is behind this tab, as far as can be told: a browser, or an address; "" on one's own server."""
    return (browser_token() or st.context.ip_address or "unknown") if is_class() and not is_owner() else ""


def visitor_of_request(cookies: Mapping[str, str], address: str) -> str:
    """Who sent a request outside of a tab: a browser, or an address; "" on one's own server."""
    token = token_of(cookies.get(COOKIE, ""))
    return (token or address or "unknown") if is_class() and not is_owners_browser(token) else ""


def is_owners_browser(token: str) -> bool:
    """Whether a browser has shown the key; for requests outside of a tab."""
    return is_class() and bool(token) and token in _owners()


@st.cache_resource
def _owners() -> set[str]:
    """Browsers that have shown the key."""
    return set()
