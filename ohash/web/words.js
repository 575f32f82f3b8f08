// What the page says beside the pictures: the latest pair, the point in focus, the buckets. Each function returns
// elements for a box of the page.

const percent = (share) => `${Math.round(100 * share)} %`;
const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const brief = (v, digits = 2) => String(+v.toPrecision(digits));

// Briefly, yet not as another number that it is not.
function briefly(v, other) {
  let digits = 2;
  while (v !== other && digits < 15 && brief(v, digits) === brief(other, digits)) digits += 1;
  return brief(v, digits);
}

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// A code as a row of small squares, full for +1; marked ones have a frame in a colour.
function codeSquares(signs, marked = [], colour = "") {
  const row = make("span", { className: signs.length > 9 ? "code long" : "code" });
  row.setAttribute("role", "img");
  row.setAttribute("aria-label", `code ${signs.map((sign) => (sign > 0 ? 1 : 0)).join("")}`);
  row.style.setProperty("--mark", colour);
  signs.forEach((sign, k) => {
    const square = row.appendChild(document.createElement("i"));
    square.classList.toggle("on", sign > 0);
    square.classList.toggle("marked", marked.includes(k));
  });
  return row;
}

// The model that decides a pair: for a similar one that with the smallest loss, else that with the largest.
function decisiveModel({ s, steps }) {
  const losses = steps.map((step) => step.R);
  return losses.indexOf(s === 1 ? Math.min(...losses) : Math.max(...losses));
}

// The sub-steps are listed where there is time to read: `slow`.
function pairWords(run, { phase, slow }, look) {
  const { last } = run, { r, T } = run.params;
  if (!run.nextIsPossible) return ["Paint at least two points: there is no pair yet."];
  if (!last) return ["Play, or Step to take the next pair."];
  const m = decisiveModel(last), step = last.steps[m], similar = last.s === 1;
  const colour = look.roles[similar ? "similar" : "dissimilar"];
  const kind = make("b", { textContent: similar ? "similar" : "dissimilar" });
  kind.style.color = colour;
  const who = T > 1 ? ` Model ${m + 1}, with the ${similar ? "smallest" : "largest"} loss:` : "";
  const wanted = similar ? "0 wanted" : `at least ${Math.ceil(step.br)} wanted`;
  const first = make("p", {}, `Pair ${run.t.toLocaleString("en")}: `, kind,
    `${last.wrong ? " (noise: the wrong answer)" : ""}.${who} ${differ(step.D_h, r)}, ${wanted}. `,
    ...withCards(lossWords(step, last, T)), moversWords(last));
  const differing = [...step.h_i.keys()].filter((k) => step.h_i[k] !== step.h_j[k]);
  const codes = make("table");
  [step.h_i, step.h_j].forEach((signs, at) => {
    const row = codes.insertRow();
    row.insertCell().append(make("i", { textContent: "ij"[at] }));
    row.insertCell().append(codeSquares(signs, differing, colour));
  });
  if (!(step.tau > 0)) return [first, codes];
  const explain = [() => [], bitWords, sideWords, moveWords][phase];
  return [first, codes, ...(slow ? [phaseList(phase)] : []), ...explain(run, m, step)];
}

function differ(D, r) { return `${D} of ${plural(r, "bit")} differ${D === 1 ? "s" : ""}`; }

function lossWords(step, { s }, T) {
  if (step.R === 0 && T > 1 && s === 1) return "R\u00a0=\u00a00: one model without loss is enough; none moves.";
  if (step.R === 0) return "R\u00a0=\u00a00: nothing to learn.";
  return `R\u00a0=\u00a0${+step.R.toFixed(2)}${step.tau > 0 ? "." : ", but nothing moves."}`;
}

// The numbers of the models that the pair moves, from 0.
function movers({ steps }) { return [...steps.keys()].filter((m) => steps[m].tau > 0); }

function listWords(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : names.join();
}

// A dissimilar pair moves every model in which it has a loss.
function moversWords(last) {
  const moved = movers(last);
  return moved.length > 1 ? ` Models ${listWords(moved.map((m) => m + 1))} have a loss, and each moves.` : "";
}

// The sub-steps of an update, the current one marked.
function phaseList(phase) {
  const list = make("ol", { className: "phases" });
  PHASES.forEach((name, at) => {
    const item = list.appendChild(make("li", { textContent: name }));
    if (at === phase) item.setAttribute("aria-current", "step");
  });
  return list;
}

// δ of every bit that could flip, smallest first; the chosen ones are full.
function bitWords(run, m, { s, bits, delta }) {
  const pool = [...delta.keys()].filter((k) => delta[k] !== undefined).sort((a, b) => delta[a] - delta[b]);
  const longest = Math.max(...pool.map((k) => delta[k])) || 1, table = make("table", { className: "margins" });
  for (const k of pool.slice(0, 6)) {
    const row = table.insertRow(), bar = make("span", { className: bits.includes(k) ? "margin chosen" : "margin" });
    bar.style.width = `${2 + 90 * delta[k] / longest}px`;
    row.insertCell().textContent = `bit ${k + 1}`;
    row.insertCell().append(bar, ` ${brief(delta[k])}`);
  }
  const which = s === 1 ? "that differ" : "that agree", n = bits.length;
  const rest = pool.length > 6 ? ` (6 of ${pool.length} are listed)` : "";
  const words = `Of the bits ${which}, the ${n === 1 ? "one" : n} with the smallest margin δ must flip${rest}:`;
  return [make("p", {}, ...withCards(words)), table];
}

// For each bit, the point whose margin is the smaller one has to cross the boundary.
function sideWords(run, m, { bits, onI }) {
  const { z_i, z_j } = run.last, most = 5;
  const lines = bits.slice(0, most).map((k) => {
    const margins = [z_i, z_j].map((z) => brief(Math.abs(project(run.before[m][k], z)))), at = onI[k] ? 0 : 1;
    const relation = margins[0] === margins[1] ? "about as small as" : "smaller than";
    return make("p", {}, `Boundary ${k + 1}: `, make("i", { textContent: "ij"[at] }),
      ` changes sides, its margin ${margins[at]} is ${relation} ${margins[1 - at]}.`);
  });
  return bits.length > most ? [...lines, make("p", {}, `And ${bits.length - most} more.`)] : lines;
}

function moveWords(run, m, { bits, ratio, tau }) {
  const { z_i, z_j } = run.last, after = hamming(hashCode(run.models[m], z_i), hashCode(run.models[m], z_j));
  const capped = `τ = C = ${brief(tau)}, capped from ${briefly(ratio, tau)}`;
  const length = ratio > tau ? capped : `τ = ${brief(tau)}, not capped`;
  const names = boundaryNames(bits), who = `${names[0].toUpperCase()}${names.slice(1)} move${bits.length === 1 ? "s" : ""}`;
  const then = `Now ${plural(after, "bit")} differ${after === 1 ? "s" : ""}.`;
  const others = movers(run.last).filter((other) => other !== m);
  const likewise = others.map((other) => `in model ${other + 1} ${boundaryNames(run.last.steps[other].bits)}`);
  const also = others.length ? ` Likewise ${listWords(likewise)}.` : "";
  return [make("p", {}, ...withCards(`${who}: ${length}. ${then}${also}`))];
}

function boundaryNames(bits) {
  const names = bits.map((k) => k + 1).sort((a, b) => a - b).join(", ");
  return `${bits.length === 1 ? "boundary" : "boundaries"} ${names}`;
}

// The code of the point in focus, and who is at 0, 1 and 2 bits.
function pointWords(run, codes, focus, m) {
  const { r, T } = run.params;
  if (focus === null) return ["Point at the picture, or use up and down on it: the nearest point shows its bits here."];
  const label = run.labels[focus], near = [[0, 0], [0, 0], [0, 0]];
  codes.forEach((other, k) => {
    const D = bitCount(other ^ codes[focus]);
    if (k === focus || D > 2) return;
    near[D][0] += 1;
    near[D][1] += run.labels[k] === label ? 1 : 0;
  });
  const lines = ["the same code", "1 bit away", "2 bits away"].map((name, D) => {
    const [others, alike] = near[D];
    return make("p", {}, `${name}: ${plural(others, "other")}${others ? `, ${alike} of its class` : ""}`);
  });
  const title = T > 1 ? `Model ${m + 1}, the point: ` : "The point: ";
  return [make("p", {}, title, codeSquares(signsOf(codes[focus], r))), ...lines];
}

// The largest buckets of one model, at most as many.
function bucketWords(run, codes, m, look, most) {
  const { r, T } = run.params;
  const buckets = [...bucketsOf(codes, run.labels).values()].sort((a, b) => b.size - a.size || a.code - b.code);
  const table = make("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const name of [T > 1 ? `Codes of model ${m + 1}` : "Code", "points", "of one class"]) {
    head.append(make("th", { scope: "col", textContent: name }));
  }
  for (const { code, size, purity, most: label } of buckets.slice(0, most)) {
    const row = body.insertRow(), key = make("span", { className: "key" });
    key.style.background = look.classes[label];
    row.insertCell().append(codeSquares(signsOf(code, r)));
    row.insertCell().textContent = size;
    row.insertCell().append(key, ` ${percent(purity)}`);
  }
  const more = buckets.length - most;
  return [table, make("p", {}, more > 0 ? `and ${plural(more, "more code", "more codes")}` : "")];
}
