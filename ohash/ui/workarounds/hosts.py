"""The names that a server on this machine answers to.

Whoever owns a name can let it point to this machine (DNS rebinding). A page that was opened under such a name would
then be one of this server's own, with all that whoever started it may do. Streamlit has a list of names,
`server.allowedHosts`, which is empty at first and lets all of them pass, and looks at it for web sockets only.
"""

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
OPTION = "server.allowedHosts"
REFUSED = "This server does not answer to this name. Whoever started it can allow it: --server.allowedHosts=NAME"


def refuse_other_names() -> None:
    """Let a server that listens on this machine only answer to the names of this machine, unless it was told others."""
    if config.get_option("server.address") in LOCAL_HOSTS and not config.get_option(OPTION):
        config.set_option(OPTION, [*LOCAL_HOSTS, "*.localhost", config.get_option("browser.serverAddress")])


class GuardHosts:
    """ASGI middleware: pages and files, too, are only for the names that are allowed."""

    def __init__(self, app: ASGIApp) -> None:
        """`app` is the server."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request that came by another name, and pass everything else on."""
        if scope["type"] == "http" and not is_host_allowed(Headers(scope=scope).get("host")):
            await PlainTextResponse(REFUSED, 403)(scope, receive, send)
        else:
            await self.app(scope, receive, send)
