// The state as a link: parameters, events, and the pair it is at. What a control may be is said here once.

const PACES = [1, 2, 5, 10, 30, 100, 300, 1000, 3000];
const LONGEST = 50000; // pairs that a link makes up for when it is opened
const CONTROLS = [
  { key: "data", title: "Points", options: Object.entries(SHAPES).map(([key, shape]) => [key, shape.title]) },
  { key: "features", title: "Features", options: [["linear", "linear with bias"], ["rbf", "RBF, 36 anchors"]] },
  { key: "r", title: "r, bits", lo: 1, hi: 16, step: 1 },
  { key: "T", title: "T, models", lo: 1, hi: 4, step: 1 },
  { key: "beta", title: "β", lo: 0.1, hi: 1, step: 0.05, live: true,
    help: "dissimilar codes should differ in at least β r bits" },
  { key: "C", title: "C", lo: 0.001, hi: 10, step: 0.1, log: true, live: true, help: "the longest step τ" },
  { key: "noise", title: "Noise", lo: 0, hi: 0.5, step: 0.05, live: true,
    help: "share of pairs with the wrong answer" },
  { key: "drift", title: "Drift", lo: 0, hi: 30, step: 1, live: true, help: "the points turn: degrees in 100 pairs" },
  { key: "pace", title: "Pairs per second", list: PACES, live: true },
  { key: "seed", title: "Seed", lo: 0, hi: 999, step: 1, number: true },
];
const LINK_KEYS = [...CONTROLS.map(({ key }) => key), "changes", "at", "only"];

function clamp(value, { lo, hi, step, log }) {
  const within = Math.min(hi, Math.max(lo, value));
  return log ? within : +(lo + Math.round((within - lo) / step) * step).toFixed(6);
}

// What a new run on these points begins with.
function defaultsFor(data) { return { ...DEFAULTS, data, drift: SHAPES[data].drift ?? DEFAULTS.drift }; }

// A value of a link; what is wrong with it is added to the problems.
function readValue(control, raw, problems) {
  let value = control.options ? raw : Number(raw);
  if (control.options && !control.options.some(([key]) => key === raw)) value = undefined;
  else if (control.list && !control.list.includes(value)) value = undefined;
  else if (!control.options && !Number.isFinite(value)) value = undefined;
  else if (control.lo !== undefined) value = clamp(value, control);
  if (value === undefined) problems.push(`${control.key}=${raw} is not possible`);
  else if (String(value) !== raw && Number(raw) !== value) problems.push(`${control.key} is ${value}, not ${raw}`);
  return value;
}

// An event of a link, "120:beta:0.55" or "120:erase:7".
function readEvent(item, problems) {
  const [t, key, raw] = item.split(":"), control = CONTROLS.find((one) => one.key === key && one.live && !one.list);
  let value;
  if (/^\d+$/.test(t) && raw !== undefined) {
    if (control) value = readValue(control, raw, problems);
    else if (Object.hasOwn(EDITS, key) && EDITS[key].pattern.test(raw)) value = raw;
  }
  if (value === undefined) problems.push(`the change ${item} is not possible`);
  return value === undefined ? [] : [[+t, key, value]];
}

const queryOf = (text) => new URLSearchParams(text.replace(/^[#?]/, ""));

// Whether a text names a state at all; the fragment of a page may be that of a heading.
function isLink(text) { return LINK_KEYS.some((key) => queryOf(text).has(key)); }

// What a fragment names that is no setting; that of a heading, such as #glossary, names nothing.
function strayKeys(fragment) {
  if (!fragment.includes("=")) return [];
  const strays = [...queryOf(fragment)].filter(([key]) => !LINK_KEYS.includes(key));
  return strays.map(([key, value]) => `${key}=${value} is not a setting`.slice(0, 80));
}

function linkWords(problems) { return problems.length ? `In the link: ${problems.join("; ")}.` : ""; }

// The settings that a lesson leaves free, by `only=C` or `only=r,T`; null if all are. The pace is always free: it
// changes nothing that is learnt.
function readFree(text, problems) {
  if (text === null) return null;
  const keys = text.split(",").filter(Boolean), known = (key) => CONTROLS.some((control) => control.key === key);
  for (const key of keys) if (!known(key)) problems.push(`only=${key} is not a setting`);
  return keys.filter(known);
}

// The parameters, events and pair count in a link, and what in it was not possible.
function readLink(text) {
  const problems = [], query = queryOf(text), values = {};
  for (const control of CONTROLS) {
    const value = query.has(control.key) ? readValue(control, query.get(control.key), problems) : undefined;
    if (value !== undefined) values[control.key] = value;
  }
  const items = (query.get("changes") ?? "").split(",").filter(Boolean);
  const events = items.flatMap((item) => readEvent(item, problems)).sort((a, b) => a[0] - b[0]);
  const at = Math.min(LONGEST, Math.max(0, Math.floor(Number(query.get("at")) || 0)));
  if (query.has("at") && String(at) !== query.get("at")) problems.push(`at is ${at}, not ${query.get("at")}`);
  const params = { ...defaultsFor(values.data ?? DEFAULTS.data), ...values };
  const free = readFree(query.get("only"), problems);
  return { params, events, at, problems, free, paused: query.has("at") };
}

// The link of a run; one that waits names its pair, also pair 0, since a link without a pair plays.
function writeLink(run, free = null, waits = false) {
  const query = new URLSearchParams(), usual = { ...defaultsFor(run.first.data), data: DEFAULTS.data };
  const first = { ...run.first, pace: run.params.pace };
  for (const [key, value] of Object.entries(first)) if (value !== usual[key]) query.set(key, value);
  const events = run.events.filter(([t]) => t <= run.t);
  if (events.length) query.set("changes", events.map((event) => event.join(":")).join(","));
  if (run.t || waits) query.set("at", run.t);
  if (free) query.set("only", free.join(","));
  return query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
}
