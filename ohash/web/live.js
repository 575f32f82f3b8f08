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

// Links to the experiment on Live and to its pair of this number in Step by step, or why there are none.
function liveLinks({ t, params }, page) {
  const { there, title } = SHAPES[params.data], query = liveQuery(params), own = params.data === "own";
  const reason = own ? "your points are only in this page" : `it has no data set “${title}”`;
  if (!query) return [make("small", { textContent: `Not on Live: ${reason}` })];
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
