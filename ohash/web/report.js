// What the page says about a run beside its pictures, also to a screen reader.

const wholeNumber = (n) => n.toLocaleString("en");
const known = (value) => (Number.isNaN(value) ? "–" : value.toFixed(2));

// Numbers are those of the moment shown; the scrubber and the links name the run's own, with the pair that is shown.
function report({ element, find, scrub, canvases, run: whole, shown: run, view, look, showLive }, aloud) {
  const { data, r, T } = run.params, m = view.model;
  const codes = canvases.codes(run)[m];
  const agreement = `Agreement with the labels ${known(run.now)}, at the start ${known(run.start)}.`;
  const summary = `${plural(run.t, "pair")} learnt. ${agreement}`;
  Object.assign(element.dataset, { pairs: whole.t, agreement: run.now });
  [scrub.max, scrub.value] = [whole.seen, whole.t];
  scrub.setAttribute("aria-valuetext", `pair ${wholeNumber(whole.t)} of ${wholeNumber(whole.seen)}`);
  find(".status").textContent = statusWords(run);
  for (const [name, title, value] of captions(run)) {
    const caption = find(`[data-chart=${name}]`);
    if (caption.firstChild?.textContent !== title) caption.replaceChildren(make("span", {}, ...withCards(title)), make("b"));
    caption.lastChild.textContent = value; // a card stays open while the numbers change
  }
  find(".point").replaceChildren(...pointWords(run, codes, view.focus, m));
  find(".buckets").replaceChildren(...bucketWords(run, codes, m, look, element.matches(".presents") ? 3 : 5));
  find(".hint").textContent = hintWords(run, view);
  showLive(whole);
  canvases.top.setAttribute("aria-label", `${SHAPES[data].title}: points in the plane, and the `
    + `${plural(r, "boundary", "boundaries")} of the code. ${summary}`);
  if (aloud) find(".says").textContent = summary;
}

function statusWords({ t, seen, updates, params: { r, T } }) {
  const pairs = t < seen ? `${wholeNumber(t)} of ${plural(seen, "pair")}` : plural(t, "pair");
  return `${pairs}, ${plural(updates, "update")}${T > 1 ? ` · ${T} × ${r} = ${T * r} bits` : ""}`;
}

// Name, title and value of each chart.
function captions({ start, now, sumR, sumFrozenR, taus }) {
  const sum = (value) => value.toLocaleString("en", { maximumFractionDigits: 1 });
  const shown = taus.slice(-N_TAUS), cut = shown.filter(({ clipped }) => clipped).length;
  return [
    ["agreement", "Label agreement (mAP)", Number.isNaN(now) ? "no pair yet" : `${known(start)} → ${known(now)}`],
    ["loss", "ΣR, W frozen dashed", `${sum(sumR)}; ${sum(sumFrozenR)}`],
    ["tau", "τ, and C dashed", shown.length ? `${percent(cut / shown.length)} capped at C` : "no update yet"],
  ];
}

function hintWords({ nextIsPossible, params: { T } }, { focus, notice }) {
  if (focus !== null) return "Strongest grey: the same code; paler: 1 and 2 bits away.";
  if (!notice && !nextIsPossible) return "Choose a colour above and paint points here.";
  const models = T > 1 ? "One picture per model. " : "";
  return notice || `${models}Inside a cell between the boundaries every point has the same code.`;
}
