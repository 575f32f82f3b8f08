// Online Hashing in float64 (Huang, Yang, Zheng 2017): `update` is Algorithm 1, `zeroLossCodes` are Algorithms 2 and 3,
// `learnPair` is MMOH, and OH with one model. Every sum runs in the order of tests/core/reference.py, so that both
// give the same bits; what the paper leaves open is decided in ohash/core/codes.py. W is a list of r columns w_k.

const TIE = 1e-9; // margins this near to each other, relative to their size, are equal
const ZERO = 1e-12; // a projection Σ w x this small, relative to Σ |w x|, is 0

function dot(a, b) {
  let total = 0;
  for (let c = 0; c < a.length; c++) total += a[c] * b[c];
  return total;
}

// wᵀx; what is 0 up to rounding is 0.
function project(w, x) {
  const total = dot(w, x);
  let scale = 0;
  for (let c = 0; c < w.length; c++) scale += Math.abs(w[c]) * Math.abs(x[c]);
  return Math.abs(total) <= ZERO * scale ? 0 : total;
}

// Eq. (1): h_k = 1 if w_kᵀx >= 0, else -1.
function hashCode(W, x) {
  return W.map((w) => (project(w, x) >= 0 ? 1 : -1));
}

function hamming(a, b) {
  let D = 0;
  for (let k = 0; k < a.length; k++) if (a[k] !== b[k]) D += 1;
  return D;
}

// β r, an integer when it is one up to rounding.
function dissimilarThreshold(beta, r) {
  const br = beta * r;
  return Math.abs(br - Math.round(br)) < 1e-9 ? Math.round(br) : br;
}

// Eq. (3).
function similarityLoss(D_h, s, alpha, br) {
  return Math.max(0, s === 1 ? D_h - alpha : br - D_h);
}

// The p0 bits with the smallest margins; of those level with the p0-th smallest, the first.
function smallestMargins(pool, delta, p0) {
  if (p0 <= 0) return [];
  const cut = pool.map((k) => delta[k]).sort((a, b) => a - b)[p0 - 1];
  const level = pool.filter((k) => Math.abs(delta[k] - cut) <= TIE * cut);
  const clear = pool.filter((k) => !level.includes(k) && delta[k] < cut);
  return [...clear, ...level.slice(0, p0 - clear.length)];
}

// Algorithm 2 (dissimilar) or 3 (similar): the code pair g with R(g) = 0 that is cheapest to reach.
function zeroLossCodes(p_i, p_j, h_i, h_j, s, alpha, br) {
  const D_h = hamming(h_i, h_j);
  const pool = [...h_i.keys()].filter((k) => (h_i[k] !== h_j[k]) === (s === 1)); // K_1 or K_0
  const p0 = s === 1 ? D_h - alpha : Math.ceil(br) - D_h; // Eq. (17)
  const delta = [], onI = [];
  for (const k of pool) {
    const margin_i = h_i[k] * p_i[k], margin_j = h_j[k] * p_j[k];
    onI[k] = margin_i <= margin_j * (1 + TIE); // Eq. (20)
    delta[k] = onI[k] ? margin_i : margin_j; // Eq. (19)
  }
  const bits = smallestMargins(pool, delta, p0);
  const g_i = [...h_i], g_j = [...h_j];
  for (const k of bits) {
    if (onI[k]) g_i[k] = -h_i[k];
    else g_j[k] = -h_j[k];
  }
  return { g_i, g_j, bits, onI, delta };
}

// H - G + √R, Eq. (4) to (6).
function predictionLoss(W, x_i, x_j, h_i, h_j, g_i, g_j, R) {
  let H = 0, G = 0;
  for (let k = 0; k < W.length; k++) {
    const p_i = dot(W[k], x_i), p_j = dot(W[k], x_j);
    H += h_i[k] * p_i + h_j[k] * p_j;
    G += g_i[k] * p_i + g_j[k] * p_j;
  }
  return H - G + Math.sqrt(R);
}

// Codes, distance and similarity loss of a pair.
function judge(W, x_i, x_j, s, { alpha, beta }) {
  const br = dissimilarThreshold(beta, W.length);
  const h_i = hashCode(W, x_i), h_j = hashCode(W, x_j);
  const D_h = hamming(h_i, h_j);
  return { s, br, h_i, h_j, D_h, R: similarityLoss(D_h, s, alpha, br), tau: 0, bits: [] };
}

// Algorithm 1, one round, for a pair with R > 0: W changes in place.
function update(W, x_i, x_j, s, { alpha, C }, step) {
  const { h_i, h_j, R, br } = step;
  const p_i = W.map((w) => project(w, x_i)), p_j = W.map((w) => project(w, x_j));
  const flips = zeroLossCodes(p_i, p_j, h_i, h_j, s, alpha, br);
  const { g_i, g_j } = flips;
  const direction = W.map((w, k) => { // the columns of x (g - h)ᵀ, Eq. (12)
    const column = new Float64Array(w.length);
    for (let c = 0; c < w.length; c++) column[c] = x_i[c] * (g_i[k] - h_i[k]) + x_j[c] * (g_j[k] - h_j[k]);
    return column;
  });
  let norm2 = 0;
  for (let c = 0; c < x_i.length; c++) for (const column of direction) norm2 += column[c] * column[c];
  if (norm2 === 0) return; // degenerate: the flipped points are zero vectors
  const loss = predictionLoss(W, x_i, x_j, h_i, h_j, g_i, g_j, R);
  const ratio = loss / norm2;
  const tau = Math.min(C, ratio); // Eq. (16)
  W.forEach((w, k) => { for (let c = 0; c < w.length; c++) w[c] += tau * direction[k][c]; }); // Eq. (10)
  Object.assign(step, flips, { loss, norm2, ratio, tau });
}

// One pair for T models: a similar one moves the model that is nearest to right, a dissimilar one all that are wrong.
function learnPair(models, x_i, x_j, s, params) {
  const steps = models.map((W) => judge(W, x_i, x_j, s, params));
  const losses = steps.map((step) => step.R);
  const nearest = losses.indexOf(Math.min(...losses));
  steps.forEach((step, m) => {
    if (step.R > 0 && (s === -1 || m === nearest)) update(models[m], x_i, x_j, s, params, step);
  });
  return steps;
}
