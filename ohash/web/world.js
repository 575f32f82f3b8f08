// What the playground learns from: points in the plane, a stream of pairs, features, and how well codes follow labels.

const N_POINTS = 200;
const HALF = 1.6; // the plane shown is [-HALF, HALF]²
const TURN = 6000; // pairs in which the drifting clouds go round once
const ANCHORS = 6; // along each side, for RBF features
const SIGMA = 0.45;
const N_KEPT = 400; // entries of a history, at most twice as many

const DEFAULTS = { data: "blobs", features: "linear", r: 6, T: 1, beta: 0.5, C: 0.2, noise: 0, seed: 1, pace: 30 };

const SHAPES = {
  blobs: { title: "Four blobs", classes: 4, point: (c, u, normal) => [
    [-0.8, 0.7], [0.75, 0.8], [-0.7, -0.75], [0.8, -0.7]][c].map((v) => v + 0.24 * normal()) },
  moons: { title: "Two moons", classes: 2, point: (c, u, normal) => {
    const angle = Math.PI * u();
    const [x, y] = c ? [0.5 - Math.cos(angle), 0.25 - Math.sin(angle)] : [Math.cos(angle) - 0.5, Math.sin(angle) - 0.25];
    return [0.9 * x + 0.09 * normal(), 0.9 * y + 0.09 * normal()];
  } },
  rings: { title: "A ring in a ring", classes: 2, point: (c, u, normal) => {
    const angle = 2 * Math.PI * u(), radius = (c ? 1.15 : 0.4) + 0.08 * normal();
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  } },
  xor: { title: "XOR", classes: 2, point: (c, u) => {
    const x = (u() < 0.5 ? -1 : 1) * (0.12 + 1.1 * u()), y = 0.12 + 1.1 * u();
    return [x, (x > 0) === (c === 0) ? y : -y];
  } },
  spirals: { title: "Two spirals", classes: 2, point: (c, u, normal) => {
    const way = 0.15 + 0.85 * Math.sqrt(u()), angle = 3 * Math.PI * way + Math.PI * c;
    return [1.35 * way * Math.cos(angle) + 0.04 * normal(), 1.35 * way * Math.sin(angle) + 0.04 * normal()];
  } },
  drift: { title: "Two drifting clouds", classes: 2, drifts: true, point: (c, u, normal) => [
    (c ? 0.75 : -0.75) + 0.26 * normal(), 0.26 * normal()] },
};

// Numbers in [0, 1) by Marsaglia's xorshift, and normal ones by Box and Muller.
function randomNumbers(seed) {
  let state = (Math.imul(seed + 1, 2654435761) | 0) || 1;
  const u = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
  for (let k = 0; k < 20; k++) u();
  const normal = () => Math.sqrt(-2 * Math.log(1 - u())) * Math.cos(2 * Math.PI * u());
  return { u, normal };
}

// Features of a place: (x, y, 1), or Gaussian bumps around anchors on a grid, less their mean over the points.
// `field` is wᵀz over a grid of places; a bump is a product of one in x and one in y.
function makeFeatures(kind, points) {
  if (kind === "linear") {
    return { of: ([x, y]) => [x, y, 1], field: (w, xs, out) => {
      let at = 0;
      for (const y of xs) for (const x of xs) out[at++] = w[0] * x + w[1] * y + w[2];
    } };
  }
  const anchors = [...Array(ANCHORS).keys()].map((k) => HALF * (2 * k / (ANCHORS - 1) - 1));
  const bump = (u) => anchors.map((a) => Math.exp(-((u - a) ** 2) / (2 * SIGMA * SIGMA)));
  const bumps = ([x, y]) => { const ys = bump(y); return bump(x).flatMap((u) => ys.map((v) => u * v)); };
  const all = points.map(bumps);
  const mean = all[0].map((_, c) => all.reduce((sum, z) => sum + z[c], 0) / all.length);
  return { of: (place) => bumps(place).map((value, c) => value - mean[c]), field: (w, xs, out) => {
    const table = xs.map(bump), shift = dot(w, mean);
    let at = 0;
    for (const row of table) {
      const part = anchors.map((_, a) => row.reduce((sum, v, b) => sum + w[a * ANCHORS + b] * v, 0));
      for (const column of table) {
        let total = -shift;
        for (let a = 0; a < ANCHORS; a++) total += part[a] * column[a];
        out[at++] = total;
      }
    }
  } };
}

// Expected average precision over all orders of equal distances, averaged over the points as queries; a distance
// is the smallest over the T models, and where these are equal their sum decides.
function meanAP(codes, labels, r) {
  const T = codes.length, n = labels.length, width = T * r + 1, sizes = (r + 1) * width;
  const all = new Int32Array(sizes), relevant = new Int32Array(sizes);
  let total = 0, queries = 0;
  for (let q = 0; q < n; q++) {
    all.fill(0);
    relevant.fill(0);
    let wanted = 0;
    for (let other = 0; other < n; other++) {
      if (other === q) continue;
      let least = r, sum = 0;
      for (let m = 0; m < T; m++) {
        const D = bitCount(codes[m][q] ^ codes[m][other]);
        sum += D;
        if (D < least) least = D;
      }
      const at = least * width + sum, same = labels[q] === labels[other] ? 1 : 0;
      all[at] += 1;
      relevant[at] += same;
      wanted += same;
    }
    if (wanted === 0) continue;
    let seen = 0, hits = 0, ap = 0;
    for (let at = 0; at < sizes; at++) {
      const size = all[at], good = relevant[at];
      if (good > 0) {
        for (let k = 1; k <= size; k++) {
          const before = size > 1 ? (k - 1) * (good - 1) / (size - 1) : 0;
          ap += good / size * (hits + 1 + before) / (seen + k);
        }
      }
      seen += size;
      hits += good;
    }
    total += ap / wanted;
    queries += 1;
  }
  return total / queries;
}

function bitCount(v) {
  v -= (v >>> 1) & 0x55555555;
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

// The bits of W at one place as an integer; bit k has the value 2^k.
function codeNumber(W, z) {
  let code = 0;
  for (let k = 0; k < W.length; k++) if (project(W[k], z) >= 0) code |= 1 << k;
  return code;
}

// A curve that keeps every stride-th entry and doubles the stride when it is full.
class History {
  constructor() { this.x = []; this.y = []; this.stride = 1; this.count = 0; }
  add(x, y) {
    if (this.count++ % this.stride) return;
    this.x.push(x);
    this.y.push(y);
    if (this.x.length <= 2 * N_KEPT) return;
    this.stride *= 2;
    const even = (_, at) => at % 2 === 0;
    [this.x, this.y] = [this.x.filter(even), this.y.filter(even)];
  }
}

// One run: points, models, the stream, and what was measured. The same parameters and changes give the same run.
class PlaygroundRun {
  constructor(params, changes = []) {
    this.params = { ...params };
    this.first = { ...params };
    this.changes = [...changes];
    const { data, features, r, T, seed } = params;
    const { u, normal } = randomNumbers(seed);
    const shape = SHAPES[data];
    this.labels = [...Array(N_POINTS).keys()].map((k) => k % shape.classes);
    this.base = this.labels.map((c) => shape.point(c, u, normal));
    this.features = makeFeatures(features, this.base);
    const d = this.features.of([0, 0]).length;
    this.models = [...Array(T)].map(() => [...Array(r)].map(() => Float64Array.from({ length: d }, normal)));
    this.stream = randomNumbers(seed + 1000);
    this.t = this.sumR = this.updates = 0;
    this.moved = this.models.map((W) => W.map(() => true)); // columns that a picture has yet to follow
    this.loss = new History();
    this.agreement = new History();
    this.taus = []; // of the latest updates
    this.last = null;
    this.loss.add(0, 0);
    this.place();
    this.start = this.measure();
  }

  // Where a point is now: the clouds go round.
  whereIs(at) {
    if (!SHAPES[this.params.data].drifts) return this.base[at];
    const [x, y] = this.base[at], angle = 2 * Math.PI * this.t / TURN, cos = Math.cos(angle), sin = Math.sin(angle);
    return [cos * x - sin * y, sin * x + cos * y];
  }

  // The places and features of all points now.
  place() {
    if (this.Z && !SHAPES[this.params.data].drifts) return;
    this.points = this.base.map((_, at) => this.whereIs(at));
    this.Z = this.points.map(this.features.of);
  }

  codes() { return this.models.map((W) => this.Z.map((z) => codeNumber(W, z))); }

  // Agreement of the codes with the labels now.
  measure() {
    this.place();
    this.now = meanAP(this.codes(), this.labels, this.params.r);
    this.agreement.add(this.t, this.now);
    return this.now;
  }

  // Half of the pairs have one label; a share `noise` of the answers is wrong.
  nextPair() {
    const { u } = this.stream;
    const same = u() < 0.5, i = Math.floor(u() * N_POINTS);
    let j = i;
    while (j === i || (this.labels[i] === this.labels[j]) !== same) j = Math.floor(u() * N_POINTS);
    const wrong = u() < this.params.noise;
    return { i, j, s: same !== wrong ? 1 : -1, wrong };
  }

  learn() {
    for (const [t, key, value] of this.changes) if (t === this.t) this.params[key] = value;
    const pair = this.nextPair();
    const z_i = this.features.of(this.whereIs(pair.i)), z_j = this.features.of(this.whereIs(pair.j));
    const before = this.models.map((W) => W.map((w) => w.slice()));
    const { beta, C } = this.params;
    const steps = learnPair(this.models, z_i, z_j, pair.s, { alpha: 0, beta, C });
    this.t += 1;
    this.sumR += pair.s === 1 ? Math.min(...steps.map((step) => step.R)) : steps.reduce((sum, step) => sum + step.R, 0);
    this.loss.add(this.t, this.sumR);
    let moved = false;
    steps.forEach((step, m) => {
      for (const k of step.bits) this.moved[m][k] = true;
      if (step.tau > 0) {
        moved = true;
        this.taus.push({ tau: step.tau, clipped: step.ratio > C, C });
      }
    });
    if (moved) this.updates += 1;
    if (this.taus.length > 600) this.taus.splice(0, this.taus.length - 300);
    this.last = { ...pair, z_i, z_j, steps, before, moved };
  }

  // A change of β, C or the noise takes effect with the next pair and is part of the link.
  change(key, value) {
    this.params[key] = value;
    this.changes = this.changes.filter(([t, name]) => t < this.t || name !== key);
    if (this.t === 0) this.first[key] = value;
    else this.changes.push([this.t, key, value]);
  }
}
