"""The style sheet and the script as parts of the page itself.

Sent as elements they arrive after the first ones, and everything that the style places moves then: two thirds of the
layout shift of a first visit. Streamlit has no option for either, but takes middleware.
"""

from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ohash.ui.workarounds.style import CSS

SCRIPT = Path(__file__).with_name("page.js").read_text(encoding="utf-8")  # what the browser does by itself
STYLE_AND_SCRIPT = f"<style>\n{CSS}</style>\n<script>\n{SCRIPT}</script>\n"

DROPPED = (b"accept-encoding", b"if-none-match", b"if-modified-since")  # the answer must be whole and plain
STALE = (b"content-length", b"etag", b"last-modified")


class AddToPage:
    """ASGI middleware: adds `html` at the end of the body of every page that is opened."""

    def __init__(self, app: ASGIApp, html: str) -> None:
        """`html` goes behind Streamlit's own styles, so that it wins a tie."""
        self.app, self.html = app, html.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, and change documents."""
        wanted = dict(scope.get("headers", ()))
        if scope["type"] != "http" or b"text/html" not in wanted.get(b"accept", b""):
            await self.app(scope, receive, send)
            return
        plain = [(name, value) for name, value in scope["headers"] if name not in DROPPED]
        start: Message = {}
        parts: list[bytes] = []

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    await self._finish(start, b"".join(parts), send)

        await self.app({**scope, "headers": plain}, receive, collect)

    async def _finish(self, start: Message, body: bytes, send: Send) -> None:
        headers = list(start["headers"])
        if dict(headers).get(b"content-type", b"").startswith(b"text/html"):
            body = body.replace(b"</body>", self.html + b"</body>", 1)
            headers = [(name, value) for name, value in headers if name not in STALE]
            headers.append((b"content-length", str(len(body)).encode()))
        await send({**start, "headers": headers})
        await send({"type": "http.response.body", "body": body})
