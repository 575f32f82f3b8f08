// Features of a place: (x, y, 1), or Gaussian bumps around anchors on a grid, less their mean over the first points.
// `of` maps one place; `field` is wᵀz over a grid of places, row by row: a bump is a product of one in x and one in y.

const ANCHORS = 6; // along each side
const SIGMA = 0.45;

function makeFeatures(kind, places) {
  return kind === "linear" ? linearFeatures() : rbfFeatures(places.length ? places : gridPlaces(7));
}

function gridPlaces(n) {
  const along = [...Array(n).keys()].map((k) => HALF * (2 * k / (n - 1) - 1));
  return along.flatMap((x) => along.map((y) => [x, y]));
}

function linearFeatures() {
  const field = (w, xs, out) => {
    let at = 0;
    for (const y of xs) for (const x of xs) out[at++] = w[0] * x + w[1] * y + w[2];
  };
  return { linear: true, d: 3, of: ([x, y]) => [x, y, 1], field };
}

function rbfFeatures(places) {
  const anchors = [...Array(ANCHORS).keys()].map((k) => HALF * (2 * k / (ANCHORS - 1) - 1));
  const bump = (u) => anchors.map((a) => Math.exp(-((u - a) ** 2) / (2 * SIGMA * SIGMA)));
  const bumps = ([x, y]) => { const ys = bump(y); return bump(x).flatMap((u) => ys.map((v) => u * v)); };
  const all = places.map(bumps);
  const mean = all[0].map((_, c) => all.reduce((sum, z) => sum + z[c], 0) / all.length);
  const tables = new Map(); // bumps along one side, by the length of the grid
  const tableOf = (xs) => {
    if (!tables.has(xs.length)) tables.set(xs.length, Float64Array.from([...xs].flatMap(bump)));
    return tables.get(xs.length);
  };
  const part = new Float64Array(ANCHORS);
  const field = (w, xs, out) => {
    const table = tableOf(xs), shift = dot(w, mean), n = xs.length * ANCHORS;
    let at = 0;
    for (let row = 0; row < n; row += ANCHORS) {
      for (let a = 0; a < ANCHORS; a++) {
        part[a] = 0;
        for (let b = 0; b < ANCHORS; b++) part[a] += w[a * ANCHORS + b] * table[row + b];
      }
      for (let column = 0; column < n; column += ANCHORS) {
        let total = -shift;
        for (let a = 0; a < ANCHORS; a++) total += part[a] * table[column + a];
        out[at++] = total;
      }
    }
  };
  return { linear: false, d: mean.length, of: (place) => bumps(place).map((value, c) => value - mean[c]), field };
}
