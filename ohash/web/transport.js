// Controls, the clock, the link, and what the page says about a run. `mountPlayground` puts one into an element.

const PACES = [1, 2, 5, 10, 30, 100, 300, 1000, 3000];
const LONGEST = 50000; // pairs that a link makes up for when it is opened
const FRAME_MS = 9; // learning may take this much of a frame
const CONTROLS = [
  { key: "data", title: "Points", options: Object.entries(SHAPES).map(([key, shape]) => [key, shape.title]) },
  { key: "features", title: "Features", options: [["linear", "linear with bias"], ["rbf", "RBF, 36 anchors"]] },
  { key: "r", title: "r, bits", lo: 1, hi: 16, step: 1 },
  { key: "T", title: "T, models", lo: 1, hi: 4, step: 1 },
  { key: "beta", title: "β", lo: 0.1, hi: 1, step: 0.05, live: true,
    help: "dissimilar codes should differ in at least β r bits" },
  { key: "C", title: "C", lo: 0.001, hi: 10, step: 0.1, log: true, live: true, help: "the longest step τ" },
  { key: "noise", title: "Noise", lo: 0, hi: 0.5, step: 0.05, live: true, help: "share of pairs with the wrong answer" },
  { key: "pace", title: "Pairs per second", list: PACES, live: true },
  { key: "seed", title: "Seed", lo: 0, hi: 999, step: 1, number: true },
];

const clamp = (value, { lo, hi, step, log }) => {
  const inside = Math.min(hi, Math.max(lo, value));
  return log ? inside : +(lo + Math.round((inside - lo) / step) * step).toFixed(6);
};

// The parameters, live changes and pair count in a link, and what in it was not possible.
function readLink(text) {
  const params = { ...DEFAULTS }, problems = [], query = new URLSearchParams(text.replace(/^[#?]/, ""));
  const read = (control, raw) => {
    let value = control.options ? raw : Number(raw);
    if (control.options && !control.options.some(([key]) => key === raw)) value = undefined;
    else if (control.list && !control.list.includes(value)) value = undefined;
    else if (!control.options && !Number.isFinite(value)) value = undefined;
    else if (control.lo !== undefined) value = clamp(value, control);
    if (value === undefined) problems.push(`${control.key}=${raw} is not possible`);
    else if (String(value) !== raw && Number(raw) !== value) problems.push(`${control.key} is ${value}, not ${raw}`);
    return value;
  };
  for (const control of CONTROLS) {
    if (query.has(control.key)) params[control.key] = read(control, query.get(control.key)) ?? DEFAULTS[control.key];
  }
  const changes = [];
  for (const item of (query.get("changes") ?? "").split(",").filter(Boolean)) {
    const [t, key, raw] = item.split(":"), control = CONTROLS.find((one) => one.key === key && one.live && one.lo !== undefined);
    const value = control && Number.isInteger(+t) && raw !== undefined ? read(control, raw) : undefined;
    if (value === undefined) problems.push(`the change ${item} is not possible`);
    else changes.push([+t, key, value]);
  }
  const at = Math.min(LONGEST, Math.max(0, Math.floor(Number(query.get("at")) || 0)));
  if (query.has("at") && String(at) !== query.get("at")) problems.push(`at is ${at}, not ${query.get("at")}`);
  return { params, changes, at, problems, paused: query.has("at") };
}

function writeLink(run) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(run.first)) if (value !== DEFAULTS[key]) query.set(key, value);
  if (run.params.pace !== DEFAULTS.pace) query.set("pace", run.params.pace);
  if (run.changes.length) query.set("changes", run.changes.map((change) => change.join(":")).join(","));
  if (run.t) query.set("at", run.t);
  return `#${query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
}

function codeSquares(signs, marked = [], role = "") {
  const row = document.createElement("span");
  row.className = signs.length > 9 ? "code long" : "code";
  row.setAttribute("role", "img");
  row.setAttribute("aria-label", `code ${signs.map((sign) => (sign > 0 ? 1 : 0)).join("")}`);
  row.style.setProperty("--mark", role);
  signs.forEach((sign, k) => {
    const square = row.appendChild(document.createElement("i"));
    square.classList.toggle("on", sign > 0);
    square.classList.toggle("marked", marked.includes(k));
  });
  return row;
}

const signsOf = (code, r) => [...Array(r).keys()].map((k) => ((code >> k) & 1 ? 1 : -1));
const percent = (share) => `${Math.round(100 * share)} %`;
const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;

function mountPlayground(root, colours) {
  const find = (selector) => root.querySelector(selector);
  const element = find(".playground"), plane = find(".plane"), charts = [...root.querySelectorAll(".side canvas")];
  const link = readLink(location.hash);
  const view = { focus: null, model: 0, showPair: true, slow: true, font: 11 };
  let run, planes, look, codes, playing = false, owed = 0, before = 0, frame = 0, stale = true, measured = 0, told = 0;

  function begin(params, changes = [], at = 0) {
    run = new PlaygroundRun(params, changes);
    while (run.t < at) run.learn();
    if (at) run.measure();
    planes = run.models.map(() => new Plane(params.r));
    view.focus = null;
    view.model = 0;
    stale = true;
    resize();
    describe(true);
  }

  // The colours of the page: its text is light where its ground is dark.
  function readLook() {
    const [red, green, blue] = getComputedStyle(element.parentElement).color.match(/[\d.]+/g).map(Number);
    const chosen = colours[red + green + blue > 384 ? "dark" : "light"];
    if (look && look.chosen === chosen) return;
    look = { ...chosen, chosen, font: getComputedStyle(element).fontFamily, line: `rgb(${mix(chosen.ink, chosen.background, 0.55)})`,
      classes: CLASS_ROLES.map((role) => chosen.roles[role]) };
    for (const name of ["ink", "faint", "grid"]) element.style.setProperty(`--${name}`, look[name]);
    element.style.setProperty("--blue", look.roles.now);
    element.style.setProperty("--ground", look.background);
    stale = true;
  }

  function fit(canvas, width, height) {
    const scale = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
  }

  function resize() {
    const width = find(".stage").clientWidth, roof = Math.max(300, window.innerHeight - 215), T = run.params.T;
    const side = Math.floor(T === 2 ? Math.min(width, 2 * roof) : Math.min(width, roof));
    if (side <= 0) return;
    view.boxes = [...Array(T).keys()].map((m) => {
      const size = T === 1 ? side : side / 2 - 3;
      return { x: (m % 2) * (size + 6), y: Math.floor(m / 2) * (size + 6), size };
    });
    fit(plane, side, T === 2 ? Math.ceil(side / 2) : side);
    charts.forEach((canvas) => { canvas.style.width = canvas.style.height = ""; });
    charts.forEach((canvas) => fit(canvas, canvas.clientWidth, canvas.clientHeight));
    stale = true;
  }

  function draw() {
    codes = run.codes();
    view.slow = !playing || run.params.pace <= 10;
    view.showPair = !playing || run.params.pace <= 100;
    const context = plane.getContext("2d");
    context.clearRect(0, 0, plane.width, plane.height);
    run.models.forEach((_, m) => drawPlane(context, view.boxes[m], run, m, planes[m], codes[m], view, look));
    const size = (canvas) => [canvas.getContext("2d"), canvas.clientWidth, canvas.clientHeight];
    const to = (curve, y) => ({ x: [...curve.x, run.t], y: [...curve.y, y] });
    drawCurve(...size(charts[0]), to(run.agreement, run.now), { lo: 0, hi: 1, level: run.start, colour: look.roles.labels }, look);
    drawCurve(...size(charts[1]), to(run.loss, run.sumR), { lo: 0, hi: Math.max(1, run.sumR), colour: look.roles.now }, look);
    drawTaus(...size(charts[2]), run.taus, run.params.C, look);
  }

  function tick(now) {
    frame = requestAnimationFrame(tick);
    if (document.hidden || !element.isConnected) return;
    if (playing) {
      owed = Math.min(owed + run.params.pace * Math.min(100, now - before) / 1000, 400);
      const from = performance.now();
      while (owed >= 1 && performance.now() - from < FRAME_MS) {
        run.learn();
        owed -= 1;
        stale = true;
      }
    }
    before = now;
    if (now - measured > 100) {
      measured = now;
      readLook();
      if (playing && stale) run.measure();
    }
    if (stale && view.boxes) {
      run.place();
      draw();
      stale = false;
      if (view.showPair) describePair();
      if (now - told > (playing ? 250 : 0)) { told = now; describe(!playing); }
    }
    element.dataset.frames = Number(element.dataset.frames ?? 0) + 1;
  }

  // Everything in words: numbers of the charts, the latest pair, the point in focus, the buckets.
  function describe(aloud) {
    if (!look) readLook();
    codes = run.codes();
    const { r, T } = run.params;
    const caption = (name, title, value) => {
      find(`[data-chart=${name}]`).innerHTML = `<span>${title}</span><b>${value}</b>`;
    };
    find(".status").textContent = `${run.t.toLocaleString("en")} pairs, ${plural(run.updates, "update")}`
      + (T > 1 ? ` · ${T} × ${r} = ${T * r} bits per point` : "");
    element.dataset.pairs = run.t;
    element.dataset.agreement = run.now;
    caption("agreement", "Label agreement (mAP)", `${run.start.toFixed(2)} → ${run.now.toFixed(2)}`);
    caption("loss", "Cumulative loss ΣR", run.sumR.toLocaleString("en", { maximumFractionDigits: 1 }));
    const cut = run.taus.slice(-120).filter((one) => one.clipped).length;
    caption("tau", "τ, and C dashed", run.taus.length ? `${percent(cut / Math.min(120, run.taus.length))} cut off at C` : "no update yet");
    describePair();
    describePoint();
    describeBuckets();
    const summary = `${run.t} pairs learnt. Agreement with the labels ${run.now.toFixed(2)}, at the start ${run.start.toFixed(2)}.`;
    plane.setAttribute("aria-label", `${SHAPES[run.params.data].title}: points in the plane, and the ${plural(r, "boundary").replace("boundarys", "boundaries")} of the code. ${summary}`);
    if (aloud) find(".says").textContent = summary;
  }

  function describePair() {
    const box = find(".pair"), { last } = run, { r, T } = run.params;
    if (!last) { box.textContent = "No pair yet. Play, or Step to take one pair at a time."; return; }
    const losses = last.steps.map((one) => one.R);
    const m = losses.indexOf(last.s === 1 ? Math.min(...losses) : Math.max(...losses)), step = last.steps[m];
    const wanted = last.s === 1 ? "0 wanted" : `at least ${Math.ceil(step.br)} wanted`;
    const differing = signsOf(0, r).map((_, k) => k).filter((k) => step.h_i[k] !== step.h_j[k]);
    const role = look.roles[last.s === 1 ? "similar" : "dissimilar"];
    const words = document.createElement("p");
    const who = T > 1 ? ` Model ${m + 1}, the ${last.s === 1 ? "nearest to right" : "furthest from right"}:` : "";
    words.innerHTML = `Pair ${run.t.toLocaleString("en")}: <b style="color:${role}">${last.s === 1 ? "similar" : "dissimilar"}</b>`
      + `${last.wrong ? " (noise: the wrong answer)" : ""}.${who} ${step.D_h} of ${plural(r, "bit")} differ${step.D_h === 1 ? "s" : ""}, ${wanted}. `;
    if (step.R === 0) words.innerHTML += T > 1 && last.s === 1 ? "R = 0: one right model is enough, none moves." : "R = 0: nothing to learn.";
    else if (step.tau === 0) words.innerHTML += `R = ${+step.R.toFixed(2)}, but nothing moves.`;
    else {
      const after = hamming(hashCode(run.models[m], last.z_i), hashCode(run.models[m], last.z_j));
      const ends = step.ratio > step.tau ? `τ = C = ${+step.tau.toPrecision(2)}, cut off from ${step.ratio.toPrecision(2)}` : `τ = ${step.tau.toPrecision(2)}`;
      words.innerHTML += `R = ${+step.R.toFixed(2)}: ${step.bits.length === 1 ? "line" : "lines"} ${step.bits.map((k) => k + 1).sort((a, b) => a - b).join(", ")} `
        + `move${step.bits.length === 1 ? "s" : ""}, ${ends}. Now ${after} differ${after === 1 ? "s" : ""}.`;
    }
    const table = document.createElement("table");
    for (const signs of [step.h_i, step.h_j]) {
      table.insertRow().insertCell().append(codeSquares(signs, differing, role));
    }
    box.replaceChildren(words, table);
  }

  function describePoint() {
    const box = find(".point"), hint = find(".hint"), { r, T } = run.params, m = view.model;
    if (view.focus === null) {
      box.textContent = "Point at the picture, or use the arrow keys on it: its nearest point shows its bits here.";
      hint.textContent = view.notice || `${T > 1 ? "One picture per model. " : ""}Inside a cell between the boundaries every point has the same code.`;
      return;
    }
    const code = codes[m][view.focus], label = run.labels[view.focus], at = [[0, 0], [0, 0], [0, 0]];
    codes[m].forEach((other, k) => {
      const D = bitCount(other ^ code);
      if (k === view.focus || D > 2) return;
      at[D][0] += 1;
      at[D][1] += run.labels[k] === label ? 1 : 0;
    });
    const words = document.createElement("p");
    words.append(T > 1 ? `Model ${m + 1}, the point: ` : "The point: ", codeSquares(signsOf(code, r)));
    const list = ["the same code", "1 bit away", "2 bits away"].map((name, D) => {
      const line = document.createElement("p");
      line.textContent = `${name}: ${plural(at[D][0], "other point")}${at[D][0] ? `, ${at[D][1]} of its class` : ""}`;
      return line;
    });
    box.replaceChildren(words, ...list);
    hint.textContent = "Strongest grey: the same code; paler: 1 and 2 bits away.";
  }

  function describeBuckets() {
    const { r, T } = run.params, sorted = [...buckets(codes[view.model], run.labels).values()].sort((a, b) => b.size - a.size || a.code - b.code);
    const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    for (const name of [T > 1 ? `Codes of model ${view.model + 1}` : "Code", "points", "of one class"]) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = name;
      head.append(cell);
    }
    for (const bucket of sorted.slice(0, 5)) {
      const row = body.insertRow();
      row.insertCell().append(codeSquares(signsOf(bucket.code, r)));
      row.insertCell().textContent = bucket.size;
      const key = document.createElement("span");
      key.className = "key";
      key.style.background = look.classes[bucket.most];
      row.insertCell().append(key, ` ${percent(bucket.purity)}`);
    }
    const rest = document.createElement("p");
    const more = sorted.length - 5;
    rest.textContent = more > 0 ? `and ${more} more ${more === 1 ? "code" : "codes"}` : "";
    find(".buckets").replaceChildren(table, rest);
  }

  function play(on) {
    playing = on;
    owed = 1;
    find("[data-press=play]").textContent = on ? "Pause" : "Play";
    stale = true;
    if (!on) remember();
  }

  let timer = 0;
  function remember() { // browsers limit how often an address may change
    clearTimeout(timer);
    timer = setTimeout(() => { if (element.isConnected) history.replaceState(history.state, "", writeLink(run)); }, 200);
  }

  const presses = {
    play: () => play(!playing),
    step: () => { if (playing) play(false); run.learn(); run.measure(); stale = true; remember(); },
    over: () => { begin(run.params); showValues(); remember(); },
    link: async (button) => {
      history.replaceState(history.state, "", writeLink(run));
      let copied = true;
      try { await navigator.clipboard.writeText(location.href); } catch { copied = false; }
      button.textContent = copied ? "Copied" : "In the address bar";
      setTimeout(() => { button.textContent = "Copy link"; }, 1500);
    },
  };

  function notify({ problems }) { view.notice = problems.length ? `In the link: ${problems.join("; ")}.` : ""; }

  function choose(control, value) {
    view.notice = "";
    if (control.key === "pace") run.params.pace = run.first.pace = value;
    else if (control.live) run.change(control.key, value);
    else begin({ ...run.params, [control.key]: value });
    stale = true;
    remember();
  }

  const toInput = ({ log, list }, value) => (log ? Math.log10(value) : list ? list.indexOf(value) : value);
  const fromInput = (control, raw) => (control.options ? raw : control.log ? +(10 ** raw).toPrecision(2)
    : control.list ? control.list[raw] : clamp(Number(raw) || 0, control));
  const inputs = {};
  function addControl(control) {
    const label = document.createElement("label"), title = document.createElement("span"), shown = document.createElement("b");
    const input = document.createElement(control.options ? "select" : "input");
    title.textContent = control.title;
    if (control.options) for (const [key, name] of control.options) input.add(new Option(name, key));
    else {
      input.type = control.number ? "number" : "range";
      const scale = (value) => (control.log ? Math.log10(value) : value);
      [input.min, input.max] = control.list ? [0, control.list.length - 1] : [scale(control.lo), scale(control.hi)];
      input.step = control.list ? 1 : control.step;
    }
    input.name = control.key;
    input.setAttribute("aria-label", control.title);
    if (control.help) input.setAttribute("aria-description", control.help);
    input.addEventListener(control.options || control.number ? "change" : "input", () => {
      choose(control, fromInput(control, input.value));
      showValues();
    });
    label.append(title, shown, input);
    if (control.help) label.append(Object.assign(document.createElement("small"), { textContent: control.help }));
    find(".rail").append(label);
    inputs[control.key] = { control, input, shown };
  }

  function showValues() {
    for (const [key, { control, input, shown }] of Object.entries(inputs)) {
      input.value = toInput(control, run.params[key]);
      if (control.options || control.number) continue;
      shown.textContent = key === "noise" ? percent(run.params[key]) : String(+run.params[key].toPrecision(3));
      input.setAttribute("aria-valuetext", shown.textContent);
    }
  }

  // The point nearest to a place on the canvas.
  function point(event) {
    const { left, top } = plane.getBoundingClientRect();
    const x = event.clientX - left, y = event.clientY - top;
    const m = view.boxes.findIndex((box) => x >= box.x && x <= box.x + box.size && y >= box.y && y <= box.y + box.size);
    if (m < 0) return leave();
    const box = view.boxes[m], at = (x - box.x) / box.size * 2 * HALF - HALF, up = HALF - (y - box.y) / box.size * 2 * HALF;
    const away = run.points.map(([u, v]) => (u - at) ** 2 + (v - up) ** 2);
    return aim(m, away.indexOf(Math.min(...away)));
  }
  function aim(m, focus) {
    [view.model, view.focus, stale, told] = [m, focus, true, 0];
  }
  function leave() { aim(view.model, null); }

  plane.addEventListener("pointermove", point);
  plane.addEventListener("pointerdown", point);
  plane.addEventListener("pointerleave", leave);
  plane.addEventListener("blur", leave);
  plane.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (way) aim(view.model, ((view.focus ?? -way) + way + N_POINTS) % N_POINTS);
    else if (event.key === "Escape") leave();
    else if (event.key === " ") play(!playing);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  find(".bar").addEventListener("click", (event) => {
    const button = event.target.closest("[data-press]");
    if (button) presses[button.dataset.press](button);
  });
  const follow = () => {
    if (location.hash === writeLink(run) || !element.isConnected) return;
    const other = readLink(location.hash);
    if (other.paused) play(false);
    begin(other.params, other.changes, other.at);
    showValues();
    notify(other);
  };
  window.addEventListener("hashchange", follow);

  CONTROLS.forEach(addControl);
  readLook();
  begin(link.params, link.changes, link.at);
  showValues();
  notify(link);
  describe(true);
  const observer = new ResizeObserver(resize);
  observer.observe(find(".stage"));
  if (!link.paused && !matchMedia("(prefers-reduced-motion: reduce)").matches) play(true);
  frame = requestAnimationFrame(tick);
  element.playground = { get run() { return run; } };
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    observer.disconnect();
    window.removeEventListener("hashchange", follow);
  };
}
