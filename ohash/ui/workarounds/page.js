// What the browser does by itself where Streamlit has no option: keys, history, clicks, read-outs.
//
// Keys: Streamlit reserves R (it runs the script again, which does no harm), so a button cannot have it; and a button with
// the key Space takes it away from every other control reached with the keyboard. A key pressed before its button is
// drawn is kept until it is.
// History: Streamlit adds an entry at every change of the address, and Back would meet the server, which writes its own
// address again: the user could never leave. An experiment replaces the one before it, and Back leads to the page before,
// or from a data set to the list of all of them.
// Streamlit sends and writes the query that the server wrote last; of the playground, which writes its own, only the
// browser knows the newest.
// Clicks: an item of the gallery becomes the query, a row of the list of data sets is opened, the introduction is closed
// and remembered as seen, a QR code fills the screen, a lesson is shown from its top; a curve over the pairs (ECharts
// shows a hand there, and the pair in its read-out) opens Step by step at that pair.
// Present mode: the keys 1 to 9 press the scenes, Escape presses Back.
// Names of pictures: Streamlit calls every chart that is downloaded alike; data set, method, r and seed are added.
// Live region: the headline is redrawn five times a second; a screen reader is told when its words change.
// Read-outs: ECharts drops its own with every new frame; the pointer's last position is sent again before the next frame
// is painted.

if (!window.ohashKeys) {
  window.ohashKeys = true;
  const onLive = () => document.querySelector(".ohash-status");
  const early = [];  // pressed while the page is being drawn: numbers move before the buttons are there
  const absent = (name) => name.startsWith("scene_") && (  // the stage was left, or has fewer scenes
    !document.querySelector(".st-key-presenting") || document.querySelector("[class*=st-key-scene_] button") &&
    document.querySelector("[data-test-script-state=notRunning]"));
  const press = (name) => {
    const button = document.querySelector(`.st-key-${name} button`);
    if (button && !early.length) return button.click();
    if (!onLive() || absent(name) || early.push(name) > 1) return;
    const drawn = new MutationObserver(() => {
      const next = document.querySelector(`.st-key-${early[0]} button`);
      if (next) next.click();
      if (next || !onLive() || absent(early[0])) early.shift();
      if (!early.length) drawn.disconnect();
    });
    drawn.observe(document.body, {childList: true, subtree: true, attributeFilter: ["data-test-script-state"]});
  };
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range";
    if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
    if (event.key === "r") press("reset");
    if (event.key === "ArrowRight" && !document.querySelector(".st-key-step")) press("step");
  });
  let tabbed = false;  // :focus-visible is true of everything as soon as a key is pressed
  document.addEventListener("pointerdown", () => { tabbed = false; }, true);
  const plays = (event) => {
    if (event.key === "Tab") tabbed = true;
    const at = event.target, text = /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) && at.type !== "range";
    const reached = tabbed && at.matches("a, button, summary, [role]:not(main)");
    return event.key === " " && !text && !reached && (onLive() || document.querySelector(".st-key-play button"));
  };
  document.addEventListener("keydown", (event) => {
    if (plays(event)) { event.preventDefault(); if (!event.repeat) press("play"); }
  }, true);
  document.addEventListener("keyup", (event) => { if (plays(event)) event.preventDefault(); }, true);
  if (localStorage.getItem("ohash.intro")) document.documentElement.dataset.intro = "seen";
  document.addEventListener("click", (event) => {
    const pressed = event.target.closest && event.target.closest(".ohash-intro :is(button, a)");
    if (!pressed) return;
    localStorage.setItem("ohash.intro", "seen");
    document.documentElement.dataset.intro = "seen";
    const lesson = pressed.dataset.press && document.querySelector(pressed.dataset.press);
    if (lesson) { event.preventDefault(); lesson.click(); }
  });
  document.addEventListener("click", (event) => {
    const large = document.querySelector(".ohash-qr-screen");
    const code = event.target.closest && event.target.closest(".ohash-qr");
    if (large) large.remove();
    if (!code || large) return;
    const screen = document.createElement("div");
    screen.className = "ohash-qr-screen";
    screen.setAttribute("role", "dialog");
    screen.setAttribute("aria-label", "QR code; click or press Escape to close");
    screen.append(code.querySelector("img").cloneNode(), code.dataset.address);
    document.body.append(screen);
  });
  document.addEventListener("keydown", (event) => {
    const large = document.querySelector(".ohash-qr-screen");
    if (large && event.key === "Escape") { large.remove(); event.stopPropagation(); }
    else if (event.key === "Escape") document.querySelector(".st-key-presenting .st-key-back button")?.click();
  }, true);
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.composedPath()[0].tagName) && event.target.type !== "range";
    if (!/^[1-9]$/.test(event.key) || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const link = document.querySelector(`.st-key-presenting #scene_${event.key}`);
    if (link) link.click(); else if (document.querySelector(".st-key-presenting")) press(`scene_${event.key}`);
  });
  document.addEventListener("click", (event) => {  // in present mode the arrows step, also after a click on a choice
    if (event.detail && event.target.closest && event.target.closest('.st-key-presenting [data-testid="stButtonGroup"]'))
      setTimeout(() => document.activeElement?.blur(), 0);
  }, true);
  document.addEventListener("click", (event) => {  // of the lessons one is open
    const title = event.target.closest && event.target.closest(".st-key-lessons summary");
    const lessons = title && title.closest(".st-key-lessons");
    if (!lessons || !event.isTrusted) return;
    setTimeout(() => {
      const mine = title.closest("details");
      if (!mine?.open) return;
      for (const other of lessons.querySelectorAll("details[open]"))
        if (other !== mine) other.querySelector("summary").click();
      lessons.scrollTop = 0;
    }, 50);
  });
  const markScene = (scene) => {
    for (const one of document.querySelectorAll(".ohash-scene"))
      if (one === scene) one.setAttribute("aria-current", "true"); else one.removeAttribute("aria-current");
    const question = document.querySelector(".ohash-question");
    if (question) question.replaceChildren(...(scene ? window.ohashWithCards(scene.dataset.says) : []));
  };
  document.addEventListener("click", (event) => {
    const scene = event.target.closest && event.target.closest(".ohash-scene");
    if (!scene) return;
    markScene(scene);
    const query = new URLSearchParams(location.search);
    query.set("present", scene.dataset.scene);
    history.replaceState(history.state, "", `${location.pathname}?${query}`);
  });
  window.addEventListener("ohash-place", () => {
    const named = new URLSearchParams(location.search).get("present");
    markScene([...document.querySelectorAll(".ohash-scene")].find((one) => one.dataset.scene === named));
  });
  let charted = "";
  document.addEventListener("click", (event) => {
    const chart = event.target.closest && event.target.closest("[class*=st-key-chart_], [class*=st-key-more_]");
    const name = chart && chart.className.match(/st-key-(?:chart|more)_(\w+)/);
    charted = name ? ({a: "score", b: "hills", c: "loss", d: "step-size"}[name[1]] || name[1]) : "";
  }, true);
  const overPairs = "a|c|tau_quantiles|both_truths|update_rate|bits|stale_gap|prequential|cost|certificate";
  const ofPairs = new RegExp(`st-key-(?:chart|more)_(?:${overPairs})(?: |$)`);
  const takeApart = (pair, left) => {
    if (!left || !document.querySelector(".ohash-status") || !window.ohashTell) return;
    window.ohashTell("pair", pair);
    setTimeout(takeApart, 3000, pair, left - 1);  // a message can be lost
  };
  document.addEventListener("click", (event) => {
    const on = event.target, within = "[class*=st-key-chart_], [class*=st-key-more_]";
    const chart = on.tagName === "CANVAS" && on.closest(within);
    if (!chart || !ofPairs.test(chart.className) || on.parentElement.style.cursor !== "pointer") return;
    const told = [...chart.querySelectorAll("div")].find((one) => one.style.position === "absolute" && one.innerText);
    const pairs = told && told.innerText.match(/^[\d,]+/);
    if (pairs) takeApart(Math.max(0, Number(pairs[0].replaceAll(",", "")) - 1), 3);
  }, true);  // before ECharts moves its read-out to the pixel of the click
  const follow = HTMLAnchorElement.prototype.click;
  HTMLAnchorElement.prototype.click = function () {
    const run = document.querySelector(".ohash-status");
    if (/\.png$/.test(this.download) && run && run.dataset.file && charted)
      this.download = `${run.dataset.file}-${charted}.png`;
    return follow.call(this);
  };
  const says = document.createElement("div");
  says.className = "ohash-unseen ohash-says";
  says.setAttribute("role", "status");
  document.body.append(says);
  setInterval(() => {
    const headline = document.querySelector(".ohash-headline");
    if (headline && says.textContent !== headline.textContent) says.textContent = headline.textContent;
  }, 1000);
  const push = history.pushState;
  history.pushState = function (state, unused, url) {
    const next = new URL(url || "", location.href), part = (one) => new URLSearchParams(one.search).get("view");
    const turned = /\/data$/.test(next.pathname) && location.search && part(next) !== part(location);
    const here = next.pathname === location.pathname && !turned;
    if (here && document.querySelector(".st-key-playground")) {
      const present = next.searchParams.get("present");
      next.search = location.search;
      present === null ? next.searchParams.delete("present") : next.searchParams.set("present", present);
    }
    (here ? history.replaceState : push).call(history, state, unused, here ? next.href : url);
  };
  const choose = (event) => {
    const item = event.target.closest && event.target.closest(":is(.ohash-gallery, .ohash-list) [data-row]");
    if (item && window.ohashTell && (event.type === "click" || event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      window.ohashTell("row", Number(item.dataset.row));
    }
  };
  document.addEventListener("click", choose);
  document.addEventListener("keydown", choose);
  let pointer = null;
  document.addEventListener("mousemove", (event) => {
    if (event.isTrusted) pointer = event.target.tagName === "CANVAS" ? event : null;
  }, true);
  const beforeFrame = () => {
    if (pointer && pointer.target.isConnected && document.querySelector(".ohash-status"))
      pointer.target.dispatchEvent(
        new MouseEvent("mousemove", {clientX: pointer.clientX, clientY: pointer.clientY, bubbles: true}));
    requestAnimationFrame(beforeFrame);
  };
  requestAnimationFrame(beforeFrame);
}
