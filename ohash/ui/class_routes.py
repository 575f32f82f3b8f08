"""Follow me: the lecturer's browser says where it is, and those of a class ask, outside of Streamlit's sessions.

A request counts as the lecturer's if its browser has shown the key; the header keeps other sites from sending one.
"""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ohash.ui.session import access
from ohash.ui.session.classroom import LONGEST_PLACE, classroom
from ohash.ui.workarounds.browser import COOKIE, token_of

PATH = "/ohash-class"
HEADER = "x-ohash"


async def place(request: Request) -> Response:
    """GET: where the lecturer is, and whether this is she. POST: she is here now, or nowhere.

    The header of a POST has the number of places it knows of. One that comes late, when there is a newer place, changes
    nothing, and its answer says so: the place is another than that sent. The header of a GET says whether the page
    leads: when it asks no more, it has been closed, and nobody follows it. A POST whose header is "leaves" is its last.
    """
    if not access.is_class():
        return Response(status_code=404)
    owner = access.is_owners_browser(token_of(request.cookies.get(COOKIE, "")))
    if request.method == "POST":
        if not owner or HEADER not in request.headers:
            return Response(status_code=403)
        if request.headers[HEADER] == "leaves":
            classroom().leave()
            return Response(status_code=204)
        body = await request.body()
        try:
            classroom().lead(body[: LONGEST_PLACE + 1].decode(), known=int(request.headers[HEADER]))
        except ValueError:
            return Response(status_code=400)
    if owner and request.headers.get(HEADER) == "leads":
        classroom().hear()
    now, number = classroom().now
    followed, away = classroom().followed, classroom().away
    answer = {"owner": owner, "place": now if owner else followed, "number": number, "away": away}
    answer["class"] = classroom().key
    return JSONResponse(answer, headers={"cache-control": "no-store"})


ROUTES = [Route(PATH, place, methods=["GET", "POST"])]
SCRIPT = f"<script>\n{Path(__file__).with_name('class_bar.js').read_text(encoding='utf-8')}</script>\n"
