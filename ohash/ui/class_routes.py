"""Follow me: the lecturer's browser says where it is, and those of a class ask, outside of Streamlit's sessions.

A request counts as the lecturer's if its browser has shown the key; the header keeps other sites from sending one.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ohash.ui.session import access
from ohash.ui.session.classroom import LONGEST_PLACE, classroom
from ohash.ui.workarounds.browser import COOKIE, token_of

PATH = "/ohash-class"
HEADER = "x-ohash"


async def place(request: Request) -> Response:
    """GET: where the lecturer is, and whether this is she. POST: she is here now, or nowhere."""
    if not access.is_class():
        return Response(status_code=404)
    owner = access.is_owners_browser(token_of(request.cookies.get(COOKIE, "")))
    if request.method == "POST":
        if not owner or HEADER not in request.headers:
            return Response(status_code=403)
        body = await request.body()
        try:
            classroom().lead(body[: LONGEST_PLACE + 1].decode())
        except ValueError:
            return Response(status_code=400)
    return JSONResponse({"owner": owner, "place": classroom().place}, headers={"cache-control": "no-store"})


ROUTES = [Route(PATH, place, methods=["GET", "POST"])]
# For a class only: the bar, and the questions it asks every two seconds.
SCRIPT = """
<script>
if (!window.ohashClass) {
  window.ohashClass = true;
  const bar = document.createElement("div");
  bar.className = "ohash-class";
  bar.setAttribute("role", "status");
  const words = document.createElement("span"), button = document.createElement("button");
  bar.append(words, button);
  document.body.append(bar);
  let leads = sessionStorage.getItem("ohash.leads") === "yes", owner = false;
  let told = "", before = "";  // the place that the lecturer's browser has named, and where it was two seconds ago
  const detached = () => sessionStorage.getItem("ohash.follows") === "no";
  const here = () => {
    const query = new URLSearchParams(location.search);
    query.delete("key");
    return `${location.pathname}${query.size ? `?${query}` : ""}`;
  };
  const ask = async (place) => {
    const options = place === undefined ? {} : {method: "POST", body: place, headers: {"x-ohash": "1"}};
    const answer = await fetch("/ohash-class", {...options, credentials: "same-origin"});
    return answer.ok ? answer.json() : null;
  };
  const show = (text, label) => {
    bar.hidden = !label;
    if (words.textContent !== text) words.textContent = text;
    if (button.textContent !== label) button.textContent = label;
  };
  // Another page is named at once; another query when it has stood still, so that a class loads it once per sweep of
  // a slider, not once per value.
  const settled = () => here() === before || here().split("?")[0] !== told.split("?")[0];
  const look = async () => {
    try {
      const named = leads && here() !== told && settled() ? here() : undefined;
      before = here();
      const answer = await ask(named);
      if (!answer) { leads = false; sessionStorage.removeItem("ohash.leads"); return; }
      owner = answer.owner;
      if (owner) {
        if (named !== undefined) told = named;
        show(leads ? "The class follows you." : "", leads ? "Stop" : "Follow me");
      } else if (answer.place && !detached()) {
        show("You follow the lecturer.", "Leave");
        // once per place: the server may write the address of a page in another way
        if (answer.place !== here() && answer.place !== sessionStorage.getItem("ohash.been")) {
          sessionStorage.setItem("ohash.been", answer.place);
          location.assign(answer.place);
        }
      } else show("", answer.place ? "Follow the lecturer" : "");
    } catch { bar.hidden = true; }
  };
  button.addEventListener("click", async () => {
    if (owner) {
      leads = !leads;
      told = "";
      leads ? sessionStorage.setItem("ohash.leads", "yes") : sessionStorage.removeItem("ohash.leads");
      if (!leads) await ask("");
    } else {
      sessionStorage.setItem("ohash.follows", detached() ? "yes" : "no");
      sessionStorage.removeItem("ohash.been");
    }
    told = "";
    look();
  });
  setInterval(look, 2000);
  look();
}
</script>
<style>
.ohash-class {position: fixed; left: 50%; transform: translateX(-50%); bottom: .4rem; z-index: 999990; display: flex;
  gap: .6rem; align-items: center; padding: .25rem .7rem; border-radius: .5rem; font-size: .9rem;
  background: light-dark(#e8f1fa, #14283b); color: light-dark(#1f2430, #f2f2f2);}
.ohash-class[hidden] {display: none;}
.ohash-class button {font: inherit; color: inherit; background: none; border: 1px solid currentColor; cursor: pointer;
  border-radius: .4rem; padding: .1rem .5rem;}
@media (max-width: 640px) {.ohash-class {bottom: 4.2rem;}}
</style>
"""
