// Takes a recorded run over: from the moment shown it goes on in the page, with the β and C of whoever moves them, and
// its loss and mAP are drawn over the recorded ones.

const SLICE = 14; // milliseconds of work per frame
const REDRAW = 100; // milliseconds between two drawings
const CHART = { width: 520, height: 190, left: 58, right: 8, top: 8, bottom: 24 };
const SVG = "http://www.w3.org/2000/svg";

function shortCount(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

function svgElement(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// Two curves [x, y] over the pairs, and a rule at the pair of the take-over.
function drawBoth(place, { recorded, mine, from, end, lo, hi }) {
  const { width, height, left, right, top, bottom } = CHART, base = height - bottom;
  const px = (x) => left + x / end * (width - left - right);
  const py = (y) => base - (y - lo) / (hi - lo || 1) * (base - top);
  const path = ([x, y]) => x.map((one, at) => `${at ? "L" : "M"}${px(one).toFixed(1)} ${py(y[at]).toFixed(1)}`).join("");
  const line = (curve, role) => svgElement("path", { d: path(curve), class: role, fill: "none" });
  const label = (x, y, anchor, text) => svgElement("text", { x, y, "text-anchor": anchor }, text);
  const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  svg.append(
    svgElement("path", { d: `M${left} ${top}V${base}H${width - right}`, class: "axis", fill: "none" }),
    svgElement("path", { d: `M${px(from)} ${top}V${base}`, class: "rule", fill: "none" }),
    label(left - 5, top + 9, "end", shortCount(hi)), label(left - 5, base, "end", shortCount(lo)),
    label(left, height - 6, "start", "0"), label(width - right, height - 6, "end", `${shortCount(end)} pairs`),
    line(recorded, "recorded"), line(mine, "mine"),
  );
  place.replaceChildren(svg);
}

// `stored` is the continuation of a recording; `shown()` is the number of the moment on the screen.
function mountTakeOver(stored, shown, hold) {
  const find = (selector) => document.querySelector(selector);
  const knobs = { beta: find(".beta"), C: find(".C") };
  const [button, back, says, both] = [".over", ".back", ".over-says", ".over-charts"].map(find);
  const figures = { loss: find("[data-over=loss]"), score: find("[data-over=score]") };
  const times = stored.moments.map(([t]) => t), last = stored.curves.loss[0].at(-1) || 0;
  let run = null, state = null, work = null, playing = false, drawn = 0;

  const values = () => ({ beta: Number(knobs.beta.value), C: 10 ** Number(knobs.C.value) });
  const asText = { beta: (value) => value.toFixed(2), C: (value) => `${Number(value.toPrecision(2))}` };

  function showKnobs(params) {
    for (const [name, input] of Object.entries(knobs)) {
      input.nextElementSibling.textContent = asText[name](params[name]);
      input.setAttribute("aria-valuetext", asText[name](params[name]));
    }
  }

  // The run's own β and C before pair t.
  function inForce(t) {
    const { beta, C } = stored.weights.filter((one) => one.t <= t).pop(), params = { beta, C };
    for (const [at, name, value] of stored.changes) if (at <= t) params[name] = value;
    return params;
  }

  function setKnobs(params) {
    [knobs.beta.value, knobs.C.value] = [params.beta, Math.log10(params.C)];
    showKnobs(params);
  }

  const recordedAt = ([x, y], t) => {
    const after = x.findIndex((one) => one >= t);
    if (after <= 0) return after === 0 && x[0] === t ? y[0] : after === 0 ? NaN : x.at(-1) === t ? y.at(-1) : NaN;
    const share = (t - x[after - 1]) / (x[after] - x[after - 1]);
    return y[after - 1] + share * (y[after] - y[after - 1]);
  };

  function describe() {
    const { t, from, start, params, sumR, curves: { score: [, scores] } } = state;
    const since = start.toLocaleString("en"), recorded = recordedAt(stored.curves.loss, t);
    if (t < start) return `Learning pairs ${from.toLocaleString("en")} to ${since} again.`;
    const map = scores.length ? `, mAP ${scores.at(-1).toFixed(3)}` : "";
    const same = Number.isNaN(recorded) ? "" : ` On the recorded curve: loss ${shortCount(recorded)}`;
    const score = recordedAt(stored.curves.score, state.curves.score[0].at(-1));
    const other = !same ? "" : Number.isNaN(score) || !scores.length ? "." : `, mAP ${score.toFixed(3)}.`;
    const another = params.beta === inForce(t).beta ? "" : " R counts from β r, so that only mAP compares the two β.";
    const ends = t === run.length ? " The pairs in this file end here." : "";
    return `Taken over at pair ${since}, now at pair ${t.toLocaleString("en")} with β = ${asText.beta(params.beta)} and `
      + `C = ${asText.C(params.C)}: cumulative loss ${shortCount(sumR)}${map}.${same}${other}${another}${ends}`;
  }

  function draw() {
    says.textContent = describe();
    const { curves, start, t, sumR } = state, end = Math.max(last, t, 1);
    const loss = [[...curves.loss[0], t], [...curves.loss[1], sumR]];
    const top = Math.max(1, ...stored.curves.loss[1].slice(-1), sumR);
    const each = { from: start, end };
    drawBoth(figures.loss, { ...each, recorded: stored.curves.loss, mine: t < start ? [[], []] : loss, lo: 0, hi: top });
    figures.score.closest("figure").hidden = !stored.truth;
    if (stored.truth) drawBoth(figures.score, { ...each, recorded: stored.curves.score, mine: curves.score, lo: 0, hi: 1 });
  }

  function remember() {
    state.curves.loss[0].push(state.t);
    state.curves.loss[1].push(state.sumR);
  }

  function* judged() {
    if (!run.truth) return;
    const t = state.t, value = yield* score(run, state.models);
    state.curves.score[0].push(t);
    state.curves.score[1].push(value);
  }

  // Up to the moment as the run did, then on and on; yields between pieces of work.
  function* going(moment) {
    const [start, recordedR] = stored.moments[moment];
    while (state.t < start) {
      applyChanges(run, state);
      learnNext(run, state);
      yield;
    }
    applyChanges(run, state);
    state.sumR = recordedR;
    state.params = { ...state.params, ...(state.chosen || {}) };
    remember();
    yield* judged();
    const due = new Set(times), step = times.length > 1 ? times.at(-1) - times.at(-2) : 1000;
    const points = Math.max(1, Math.round(last / 300));
    while (state.t < run.length) {
      learnNext(run, state);
      if (state.t % points === 0) remember();
      if (due.has(state.t) || (state.t > last && (state.t - last) % step === 0)) yield* judged();
      yield;
    }
  }

  function frame() {
    if (!playing) return;
    const since = performance.now();
    let done = false;
    while (!done && performance.now() - since < SLICE) done = work.next().done;
    if (done || since - drawn > REDRAW) {
      draw();
      drawn = since;
    }
    if (done) setPlaying(false);
    else requestAnimationFrame(frame);
  }

  function setPlaying(on) {
    playing = on;
    if (state && !on) draw();
    button.textContent = !state ? "Take over" : on ? "Pause here" : "Go on";
    says.setAttribute("aria-live", on ? "off" : "polite");
    if (on) requestAnimationFrame(frame);
  }

  function takeOver(chosen) {
    hold();
    run ||= openRun(stored);
    const moment = shown(), start = times[moment];
    state = { ...stateBefore(run, start), start, chosen, curves: { loss: [[], []], score: [[], []] } };
    work = going(moment);
    both.hidden = back.hidden = false;
    setPlaying(true);
  }

  // Back to the recording, and to the β and C of the moment it shows.
  function leave(moment) {
    state = null;
    setPlaying(false);
    both.hidden = back.hidden = true;
    says.textContent = "Move β or C, and the run goes on from the moment shown with what you chose.";
    setKnobs(inForce(times[moment]));
  }

  for (const [name, input] of Object.entries(knobs)) {
    input.addEventListener("input", () => {
      const value = values()[name];
      showKnobs(values());
      if (!state) takeOver({ [name]: value });
      else if (state.t < state.start) state.chosen = { ...state.chosen, [name]: value };
      else state.params[name] = value;
      if (!playing && state.t < run.length) setPlaying(true);
    });
  }
  button.addEventListener("click", () => (state ? setPlaying(!playing && state.t < run.length) : takeOver(null)));
  back.addEventListener("click", () => leave(shown()));
  return leave;
}
