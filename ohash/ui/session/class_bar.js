// For a class only: the bar, and the questions it asks every two seconds, or when there is something to say.
if (!window.ohashClass) {
  window.ohashClass = true;
  const bar = document.createElement("div");
  bar.className = "ohash-class";
  bar.setAttribute("role", "status");
  const words = document.createElement("span"), button = document.createElement("button");
  bar.append(words, button);
  document.body.append(bar);
  const POLL = 250, ASK = 2000, STILL = 1500, LONGEST = 5000, PATIENCE = 8000, TURNING = 30000, REACTING = 1000;  // ms
  const SILENT = 60000;  // a server that compiles may answer so late
  const TRIES = 3;
  const PAGES = ["/", "/advise", "/compare", "/data", "/learn", "/runs", "/step"];  // that every visitor has
  let leads = sessionStorage.getItem("ohash.leads") === "yes", stops = false, owner = false;
  // Of the places of this class: how many the server has had, which of them this browser named last, and what it was.
  let known = -1, mine = -1, told = null, refused = null;
  let seen = "", moved = 0, touched = -STILL, idle = 0, asked = -ASK, turned = 0, busy = false;
  let heard = performance.now();
  let left = null, tries = 0;  // the place before the last one, and how often it was left for that
  // Whoever leaves has left in every window that she opens from then on, also when she has closed her browser, until
  // she follows again or another class begins. A window that is open already keeps to its own choice.
  const FOLLOWS = "ohash.follows", LEFT = "ohash.left";
  let room = "";  // the class, as the server calls it
  const detached = () => sessionStorage.getItem(FOLLOWS) === "no";
  const follow = (on) => {
    sessionStorage.setItem(FOLLOWS, on ? "yes" : "no");
    on ? localStorage.removeItem(LEFT) : localStorage.setItem(LEFT, room);
  };
  const meet = (name) => {
    room = name;
    if (sessionStorage.getItem(FOLLOWS)) return;
    sessionStorage.setItem(FOLLOWS, localStorage.getItem(LEFT) === room ? "no" : "yes");
  };
  // Another window of the lecturer: the server knows her when it has read the key, and until then she goes nowhere.
  const claims = new URLSearchParams(location.search).has("key");
  const waits = () => claims && performance.now() < 15000;
  const joined = (path, query) => `${path}${query.size ? `?${query}` : ""}`;
  const address = () => {
    const query = new URLSearchParams(location.search);
    query.delete("key");
    query.delete("place");
    return joined(location.pathname, query);
  };
  // A place is an address and, on Learn, two things that no address names: whether the playground plays from the pair
  // in it on, which every browser computes for itself, and the lesson that is open, counted from 1. While one folds up
  // it still has the attribute `open`; its contents are inert at once.
  const lessons = () => [...document.querySelectorAll(".st-key-lessons details")];
  const isOpen = (one) => one.querySelector("[data-testid=stExpanderDetails]")?.inert === false;
  const playground = () => {
    const hosts = [...document.querySelectorAll(".st-key-playground *")];
    return hosts.map((one) => one.shadowRoot?.querySelector(".playground")).find(Boolean)?.playground;
  };
  const here = () => {
    const [path, text] = address().split("?"), query = new URLSearchParams(text);
    const open = lessons().findIndex(isOpen) + 1;
    if (playground()?.playing) query.set("plays", 1);
    if (open) query.set("lesson", open);
    return joined(path, query);
  };
  const partsOf = (place) => {
    const [path, text] = place.split("?"), query = new URLSearchParams(text), lesson = Number(query.get("lesson"));
    const plays = query.has("plays");
    for (const key of ["lesson", "plays"]) query.delete(key);
    return {path, query, lesson, plays, target: joined(path, query)};
  };
  // The lesson to open when the page has been drawn, 0 for none, null if it is as the lecturer's or the visitor has
  // chosen another: also of the place that this document was loaded for.
  const AWAY = "away";  // in place of the last place: the lecturer was followed, and has left
  const been = sessionStorage.getItem("ohash.been");
  let wanted = been && been !== AWAY && !detached() ? partsOf(been).lesson : null, pressed = 0;
  const openWanted = (now) => {
    if (wanted === null || idle < 3 || now - pressed < REACTING || !lessons().length) return;
    const others = lessons().filter((one, at) => isOpen(one) !== (at + 1 === wanted));
    if (!others.length) wanted = null;
    for (const one of others) one.querySelector("summary").click();
    pressed = now;
  };
  addEventListener("click", (event) => {
    if (event.isTrusted && event.target.closest?.(".st-key-lessons summary")) wanted = null;
  }, true);
  const ask = async (place) => {
    const asks = {headers: leads ? {"x-ohash": "leads"} : {}};
    const options = place === null ? asks : {method: "POST", body: place, headers: {"x-ohash": String(known)}};
    return fetch("/ohash-class", {...options, credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE)});
  };
  const show = (text, label) => {
    bar.hidden = !text && !label;
    document.documentElement.toggleAttribute("data-class", !bar.hidden);
    button.hidden = !label;
    button.title = text;
    bar.classList.toggle("calm", Boolean(label));
    const app = document.querySelector(".stApp");  // Streamlit says there whether it is light or dark, not on the body
    if (app) bar.style.colorScheme = getComputedStyle(app).colorScheme;
    if (words.textContent !== text) words.textContent = text;
    if (button.textContent !== label) button.textContent = label;
  };
  const lead = (on) => {
    leads = on;
    on ? sessionStorage.setItem("ohash.leads", "yes") : sessionStorage.removeItem("ohash.leads");
  };
  // A place is named when it and the lecturer's hands have rested, so that a class goes there once per sweep of a
  // slider, not once per value; and another page when it has been drawn, since a page may write its own query into
  // the address.
  const settled = (now) => {
    const page = (place) => (place ?? "").split("?")[0];
    if (now - moved < STILL || (now - touched < STILL && now - moved < LONGEST)) return false;
    return page(seen) === page(told) || idle >= 3 || now - moved > LONGEST;
  };
  const toName = (now) => {
    if (!owner || known < 0) return null;
    if (stops) return "";
    return leads && seen !== told && seen !== refused && settled(now) ? seen : null;
  };
  // Where it can, the document stays. The playground opens an address by itself. Streamlit is told of one as by Back;
  // the mark `place` makes the server turn to it, and take the mark away. Otherwise the page is loaded.
  const go = (place) => {
    const {path, query, lesson, plays, target} = partsOf(place), stays = path === location.pathname;
    const app = document.querySelector("[data-test-connection-state=CONNECTED]");
    [turned, wanted] = [performance.now(), lesson];
    plays ? sessionStorage.setItem("ohash.plays", query) : sessionStorage.removeItem("ohash.plays");
    if (target === address()) {  // only another lesson, or it plays now
      if ((playground()?.playing ?? plays) !== plays) dispatchEvent(new Event("ohash-place"));
      return;
    }
    [left, tries] = [address(), tries + 1];
    if (!app || app.dataset.testScriptState === "initial" || !PAGES.includes(path)) return location.assign(target);
    const presents = Boolean(document.querySelector(".st-key-presenting"));
    const alone = stays && document.querySelector(".st-key-playground") && query.has("present") === presents;
    if (!alone) query.set("place", Date.now());
    history[stays ? "replaceState" : "pushState"](history.state, "", `${path}${query.size ? `?${query}` : ""}`);
    if (!alone) dispatchEvent(new PopStateEvent("popstate", {state: history.state}));
    if (stays) dispatchEvent(new Event("ohash-place"));
  };
  // A frame that was under way writes the old address again, and Streamlit takes the query of the last message.
  const lost = (now) => address() === left && touched < turned && tries < TRIES && now - turned > PATIENCE;
  const stuck = (now) => new URLSearchParams(location.search).has("place") && now - turned > TURNING;
  // The server has read the key: it must not be in a link that the lecturer copies for the class.
  const dropKey = () => {
    const address = new URL(location.href);
    if (!address.searchParams.has("key")) return;
    address.searchParams.delete("key");
    history.replaceState(history.state, "", address);
  };
  const hear = (answer, sent) => {
    if (answer.number < mine) [told, mine] = [null, -1];  // the server was started again, and has forgotten
    [owner, known] = [answer.owner, answer.number];
    meet(answer.class);
    if (owner) dropKey();
    if (sent !== null && answer.place === sent) {
      [told, mine] = [sent, answer.number];
      if (!sent) stops = false;
    } else if (sent === null && leads && mine >= 0 && answer.number > mine && !answer.place) {
      lead(false);  // it was stopped in another tab
    }
    if (leads && !owner) show("The class does not follow you: open your link with the key again.", "");
    else if (owner && leads && seen === refused) show("The class stays behind: this address is too long.", "Stop");
    else if (owner) show(leads ? "The class follows you." : "", leads ? "Stop" : "Follow me");
    else if (waits()) show("", "");
    else if (answer.place && !detached()) {
      show("You follow the lecturer.", "Leave");
      // once per place: the server may write the address of a page in another way
      if (answer.place !== here() && answer.place !== sessionStorage.getItem("ohash.been")) {
        sessionStorage.setItem("ohash.been", answer.place);
        tries = 0;
        go(answer.place);
      } else if (stuck(performance.now())) location.assign(partsOf(answer.place).target);
      else if (lost(performance.now())) go(answer.place);
    } else if (answer.away && !detached() && sessionStorage.getItem("ohash.been")) {
      show("The lecturer has left. You stay here, and follow again as soon as she leads.", "Leave");
      sessionStorage.setItem("ohash.been", AWAY);  // where she then is, be it the same place
      tries = TRIES;
    } else show("", answer.place ? "Follow the lecturer" : "");
  };
  // One request at a time. What was not acknowledged is sent again, however its request ended.
  const look = async () => {
    const now = performance.now();
    if (here() !== seen) [seen, moved, idle] = [here(), now, 0];
    idle = document.querySelector("[data-test-script-state=notRunning]") ? idle + 1 : 0;
    if (!leads) openWanted(now);
    const place = toName(now);
    if (busy || (place === null && now - asked < ASK)) return;
    [busy, asked] = [true, now];
    try {
      const answer = await ask(place);
      heard = performance.now();
      if (answer.ok) hear(await answer.json(), place);
      else if (answer.status === 400) refused = place;
      else owner = false;  // the next answer tells
    } catch (problem) {
      if (problem.name === "TimeoutError" && performance.now() - heard < SILENT) return;
      leads || stops ? show("The server does not answer; trying again.", "") : show("", "");
    } finally { busy = false; }
  };
  button.addEventListener("click", () => {
    if (owner) {
      lead(!leads);
      [stops, told, refused] = [!leads, null, null];
      show(leads ? "The class follows you." : "", leads ? "Stop" : "Follow me");
    } else {
      follow(detached());
      sessionStorage.removeItem("ohash.been");
    }
    asked = -ASK;
    look();
  });
  for (const kind of ["keydown", "pointerdown", "pointerup", "input"])
    addEventListener(kind, () => { touched = performance.now(); }, true);
  const leaves = {method: "POST", headers: {"x-ohash": "leaves"}, credentials: "same-origin", keepalive: true};
  addEventListener("pagehide", () => { if (owner && leads) fetch("/ohash-class", leaves).catch(() => {}); });
  setInterval(look, POLL);
  document.addEventListener("visibilitychange", look);
  look();
}
