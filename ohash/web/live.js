// The same experiment on the pages Live and Step by step, which draw the same points.

const LIVE_CHANGES = ["beta", "C"]; // what Live changes while it runs
const MAX_CHANGES = 64; // there
const MIN_OF_CLASS = 4; // points that a class needs there: some of the points are queries
const TURN_STEP = 5; // degrees: Live turns the points in steps

// The key of the points among the data sets of Live: a shape and its seed, or the places themselves.
function liveDataset(run) {
  const { first: { data, seed }, params: { drift } } = run;
  const edited = run.events.slice(0, run.happened).some(([, key]) => EDITS[key]);
  const turned = !drift && run.turn; // a drift that has ended leaves the points where they are
  if (SHAPES[data].classes && !edited && !turned) return `playground-${data}-${seed}`;
  const places = turned ? run.places() : run.points.places;
  const parts = run.counts.map((_, c) => [c, ...places.filter((_, at) => run.labels[at] === c).map(placeText)].join(""));
  return ["playground-points", ...parts.filter((part) => part.length > 1)].join("-");
}

// From its first pair on, as it is in the playground now; null if there are too few points.
function liveQuery(run) {
  const { first, params, params: { T, features, drift } } = run;
  if (run.counts.filter((n) => n >= MIN_OF_CLASS).length < 2) return null;
  const method = T > 1 ? "mmoh" : "oh", kernel = features === "rbf" ? "rbf" : "none";
  const query = new URLSearchParams({ dataset: liveDataset(run), method, kernel, similar_share: 0.5 });
  const changes = run.events.slice(0, run.happened).filter(([, key]) => LIVE_CHANGES.includes(key));
  const follows = changes.length <= MAX_CHANGES;
  for (const key of ["r", "noise", "seed"]) query.set(key, params[key]);
  for (const key of LIVE_CHANGES) query.set(key, (follows ? first : params)[key]);
  if (T > 1) query.set("T", T);
  if (drift) {
    const step = TURN_STEP * 100 / drift; // pairs, and the first is where the plane has turned by half a step
    const turn = { drift: "turn", drift_at: Math.round(step / 2), drift_size: drift / 100 };
    for (const [key, value] of Object.entries(turn)) query.set(key, value);
    query.set("pairs", Math.max(run.t, Math.round(36000 / drift))); // once around
  }
  if (follows && changes.length) query.set("changes", changes.map((change) => change.join(":")).join());
  return query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
}

// The points as a file for other programs, or for the Data page.
function pointsFile(run) {
  const rows = run.places().map(([x, y], at) => [x.toFixed(4), y.toFixed(4), `class ${run.labels[at] + 1}`].join());
  return ["x1,x2,label", ...rows, ""].join("\n");
}

// Links to the experiment on Live and to its pair of this number in Step by step, or why there are none. They stay the
// same elements while it plays, so that a slow press is not lost.
function makeLiveLinks(element, page) {
  const link = (textContent) => make("a", { textContent, target: "_blank", rel: "noopener" });
  const live = link("Live"), step = link("Step by step"), save = make("a", { textContent: "save them", href: "#" });
  const links = make("span", {}, "Open on ", live, " or ", step,
    make("small", { textContent: ": the same points, other pairs; " }), save);
  const few = make("small", { textContent: `Live needs two classes of ${MIN_OF_CLASS} points: paint some` });
  let shown = null;
  save.download = "points.csv";
  save.addEventListener("click", () => {
    save.href = `data:text/csv;charset=utf-8,${encodeURIComponent(pointsFile(shown))}`;
  });
  element.replaceChildren(links, few);
  return (run) => {
    const query = liveQuery(run), help = liveHelp(run.params), pair = Math.max(0, run.t - 1); // counted from 0 there
    [links.hidden, few.hidden, shown] = [!query, Boolean(query), run];
    if (!query) return;
    [live.href, step.href] = [`${page}?${query}`, `${page}step?${query}&at=${pair}`];
    for (const one of [live, step]) if (one.title !== help) { one.title = help; one.setAttribute("aria-description", help); }
  };
}

function liveHelp({ drift }) {
  const turns = drift ? ` The points turn as here, in steps of ${TURN_STEP} degrees, once around.` : "";
  return "The same points, β, C, r, T, noise and seed, from the first pair on; pairs and the first W are drawn anew, and "
    + `boundaries without a kernel pass through the mean of the points.${turns}`;
}
