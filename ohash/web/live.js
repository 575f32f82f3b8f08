// The same experiment on the Live page, where that has points of this kind.

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

// A link, or why there is none.
function liveLink(params, page) {
  const { there } = SHAPES[params.data], query = liveQuery(params);
  if (!query) return make("small", { textContent: "Live has no such points" });
  const help = `β, C, r, T, noise and seed as here; the points there are ${there}`;
  const link = make("a", { href: `${page}?${query}`, textContent: "Open on Live", title: help });
  [link.target, link.rel] = ["_blank", "noopener"];
  link.setAttribute("aria-description", help);
  return link;
}
