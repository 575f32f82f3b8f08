// The same experiment on the pages Live and Step by step, where these have points of this kind.

const LIVE_KEYS = ["r", "beta", "C", "noise", "seed"];

function liveQuery(params) {
  const dataset = SHAPES[params.data].live, { T, features } = params;
  if (!dataset) return null;
  const method = T > 1 ? "mmoh" : "oh", kernel = features === "rbf" ? "rbf" : "none";
  const query = new URLSearchParams({ dataset, method, kernel });
  for (const key of LIVE_KEYS) query.set(key, params[key]);
  if (T > 1) query.set("T", T);
  return query.toString();
}

// The points as a file for the Data page, from where Live takes them.
function pointsFile(run) {
  const rows = run.places().map(([x, y], at) => [x.toFixed(4), y.toFixed(4), `class ${run.labels[at] + 1}`].join());
  return ["x1,x2,label", ...rows, ""].join("\n");
}

// Links to the experiment on Live and to its pair of this number in Step by step, or why there are none.
function liveLinks(run, page) {
  const { t, params } = run, { there } = SHAPES[params.data], query = liveQuery(params);
  if (!query) return [make("small", { textContent: "Live has no such points: " }), ...fileLinks(run, page)];
  const help = "β, C, r, T, noise and seed are as here";
  const link = (textContent, path, text) => {
    const element = make("a", { href: `${page}${path}?${text}`, textContent, title: help });
    [element.target, element.rel] = ["_blank", "noopener"];
    element.setAttribute("aria-description", help);
    return element;
  };
  const pair = Math.max(0, t - 1); // counted from 0 there
  const words = make("small", { textContent: ` on other points: ${there}` });
  return ["Open on ", link("Live", "", query), " or ", link("Step by step", "step", `${query}&at=${pair}`), words];
}

// These points themselves, through the Data page.
function fileLinks(run, page) {
  if (!run.labels.length) return [make("small", { textContent: "paint some" })];
  const href = `data:text/csv;charset=utf-8,${encodeURIComponent(pointsFile(run))}`;
  const save = make("a", { href, download: "points.csv", textContent: "save these" });
  const open = make("a", { href: `${page}data?view=own`, textContent: "Data", target: "_blank", rel: "noopener" });
  return [save, make("small", { textContent: " and open them on " }), open];
}
