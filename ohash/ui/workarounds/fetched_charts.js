export default ({ data, parentElement }) => {
  const place = parentElement.querySelector(".ohash-fetch"), known = place.address !== undefined;
  place.address = data.address;
  if (known) return;
  const instances = new WeakMap();
  const find = (element) => {
    const name = Object.keys(element).find((one) => one.startsWith("__reactFiber$"));
    for (let fiber = name && element[name], up = 0; fiber && up < 30; fiber = fiber.return, up += 1)
      for (let hook = fiber.memoizedState; hook && typeof hook === "object" && "next" in hook; hook = hook.next) {
        const state = hook.memoizedState;
        if (state && typeof state.setOption === "function" && state.getDom && state.getDom() === element) return state;
      }
    return null;
  };
  const chartOf = (key) => {
    const element = document.querySelector(`.st-key-${key} [_echarts_instance_]`);
    if (!element) return null;
    let chart = instances.get(element);
    if (!chart || chart.isDisposed()) instances.set(element, chart = find(element));
    return chart && !chart.isDisposed() ? chart : null;
  };
  const status = () => document.querySelector(".ohash-words .ohash-status");
  const showWords = (html) => {  // a sentence that stays keeps the focus of its terms
    const words = document.querySelector(".ohash-words"), read = document.createElement("template");
    read.innerHTML = html;
    for (const selector of [".ohash-status", ".ohash-headline"]) {
      const [now, next] = [words, read.content].map((root) => root.querySelector(selector));
      if (now.outerHTML !== next.outerHTML) now.replaceWith(next);
    }
  };
  const show = (picture) => {
    const charts = picture.charts.map(([key]) => chartOf(key));
    if (charts.some((one) => !one)) return;
    picture.charts.forEach(([, alt, option], at) => {
      if (Object.keys(option).length) charts[at].setOption(option);
      const element = charts[at].getDom();
      if (element.getAttribute("aria-label") !== alt) element.setAttribute("aria-label", alt);
    });
    showWords(picture.words);
    if (picture.notes) document.querySelector(".ohash-notes").outerHTML = picture.notes;
  };
  let timer = 0, moved = "";
  const watch = async () => {
    timer = 0;
    if (!place.isConnected) {
      for (const name of ["keydown", "pointerup"]) document.removeEventListener(name, hurry, true);
      return;
    }
    let wait = 500;
    const shown = status()?.dataset.seq, from = place.address, start = performance.now(), more = moved;
    moved = "";
    try {
      if (shown && data.keys.every(chartOf)) {
        const answer = await fetch(`${from}&shown=${shown}${more}`, { signal: AbortSignal.timeout(8000) });
        if (answer.status === 200) {
          const picture = await answer.json();
          if (place.address === from && status()?.dataset.seq === shown) show(picture);
          wait = Math.max(picture.wait / 2, picture.wait - (performance.now() - start));
        } else if (answer.status === 204) wait = Number(answer.headers.get("ohash-soon")) || 25;
      }
    } catch { wait = 2000; }
    timer = setTimeout(watch, moved ? 0 : wait);
  };
  const hurry = () => {  // a slider was moved: the picture that shows it is asked for at once
    if (!document.activeElement?.matches(".st-key-rail input[type=range]")) return;
    moved = `&changes=${status()?.dataset.changes}`;
    if (timer) { clearTimeout(timer); watch(); }
  };
  for (const name of ["keydown", "pointerup"]) document.addEventListener(name, hurry, true);
  watch();
}
