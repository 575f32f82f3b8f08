// One run: points, models, the stream of pairs, and what was measured. It is a function of its first parameters and
// its events, so that every moment can be computed again: from a link, or from a checkpoint when one goes back.

const DEFAULTS = {
  data: "blobs", features: "linear", r: 6, T: 1, beta: 0.5, C: 0.2, noise: 0, drift: 0, seed: 1, pace: 30,
};
const N_TAUS = 120; // latest updates shown

const copyModels = (models) => models.map((W) => W.map((w) => w.slice()));

class PlaygroundRun {
  // An event [t, key, value] takes effect before pair t: a parameter gets a value, or points are edited.
  constructor(params, events = []) {
    this.first = { ...params };
    this.params = { ...params };
    this.events = [...events];
    const { data, features, r, T, seed } = params, numbers = randomNumbers(seed), points = makePoints(data, numbers);
    this.features = makeFeatures(features, points.places);
    const column = () => Float64Array.from({ length: this.features.d }, numbers.normal);
    this.models = [...Array(T)].map(() => [...Array(r)].map(column));
    this.frozen = copyModels(this.models); // never learns
    this.before = copyModels(this.models); // as they were before the latest pair
    this.stream = randomNumbers(seed + 1000);
    this.t = this.seen = this.happened = this.turn = this.sumR = this.sumFrozenR = this.updates = 0;
    this.taus = [];
    this.last = null;
    this.curves = { agreement: new Curve(), loss: new Curve(), frozen: new Curve() };
    this.setPoints(points);
    this.takeEvents();
    this.measureNow();
    this.addLosses();
    this.checkpoints = new Checkpoints(this.save());
  }

  setPoints(points) {
    this.points = points;
    this.counts = Array(N_CLASSES).fill(0);
    for (const label of points.labels) this.counts[label] += 1;
    this.placesNow = this.Z = this.earlier = null;
  }

  // The run as it was before the latest pair, which it shows but has not learnt yet.
  beforeLast() {
    if (!this.last) return this;
    if (this.earlier) return this.earlier;
    const { begun, before, t, seen, turn } = this, earlier = Object.create(this);
    Object.assign(earlier, begun, { models: before, seen: seen === t ? begun.t : seen });
    if (begun.turn !== turn) earlier.placesNow = earlier.Z = null;
    earlier.now = earlier.measure(earlier.codes());
    return this.earlier = earlier;
  }

  get labels() { return this.points.labels; }

  // The plane has turned by this angle: `turn` counts hundredths of a degree.
  get angle() { return this.turn * Math.PI / 18000; }

  whereIs(at) { return this.turn ? rotate(this.points.places[at], this.angle) : this.points.places[at]; }

  // The places of all points now, and their features.
  places() { return this.placesNow ??= this.labels.map((_, at) => this.whereIs(at)); }

  vectors() { return this.Z ??= this.places().map(this.features.of); }

  codes(models = this.models) { return models.map((W) => this.vectors().map((z) => codeNumber(W, z))); }

  // Agreement of codes with the labels of the points as they are now.
  measure(codes) { return meanAP(codes, this.labels, this.params.r); }

  measureNow(codes = this.codes()) {
    this.now = this.measure(codes);
    if (!Number.isNaN(this.now)) this.curves.agreement.add(this.t, this.now);
  }

  // Agreement of the first W, with the points as they lay before any drift.
  get start() {
    if (this.startOf !== this.points) {
      const Z = this.points.places.map(this.features.of);
      const codes = this.frozen.map((W) => Z.map((z) => codeNumber(W, z)));
      Object.assign(this, { startOf: this.points, startAgreement: this.measure(codes) });
    }
    return this.startAgreement;
  }

  addLosses() {
    this.curves.loss.add(this.t, this.sumR);
    this.curves.frozen.add(this.t, this.sumFrozenR);
  }

  // Whether the points make similar pairs, and dissimilar ones.
  get kinds() {
    return { similar: this.counts.some((n) => n > 1), dissimilar: this.counts.filter((n) => n > 0).length > 1 };
  }

  get nextIsPossible() { return this.kinds.similar || this.kinds.dissimilar; }

  // Half of the pairs have one label, where that is possible; a share `noise` of the answers is wrong.
  nextPair() {
    const { counts, labels, kinds, stream: { u } } = this, n = labels.length;
    if (!kinds.similar && !kinds.dissimilar) return null;
    const drawn = u() < 0.5, same = drawn ? kinds.similar : !kinds.dissimilar;
    let i = Math.floor(u() * n), j;
    while (same && counts[labels[i]] < 2) i = Math.floor(u() * n);
    do j = Math.floor(u() * n); while (j === i || (labels[i] === labels[j]) !== same);
    const wrong = u() < this.params.noise;
    return { i, j, s: same !== wrong ? 1 : -1, wrong };
  }

  // One pair; false if the points make none.
  learn() {
    const pair = this.nextPair();
    if (!pair) return false;
    const z_i = this.features.of(this.whereIs(pair.i)), z_j = this.features.of(this.whereIs(pair.j));
    const { beta, C, drift } = this.params, params = { alpha: 0, beta, C };
    const { t, turn, sumR, sumFrozenR, updates, taus } = this;
    this.begun = { t, turn, sumR, sumFrozenR, updates, taus: taus.slice(-N_TAUS) };
    this.models.forEach((W, m) => W.forEach((w, k) => this.before[m][k].set(w)));
    const steps = learnPair(this.models, z_i, z_j, pair.s, params);
    const total = (losses) => (pair.s === 1 ? Math.min(...losses) : losses.reduce((sum, R) => sum + R, 0));
    this.sumR += total(steps.map((step) => step.R));
    this.sumFrozenR += total(this.frozen.map((W) => judge(W, z_i, z_j, pair.s, params).R));
    const moves = steps.filter((step) => step.tau > 0);
    for (const { tau, ratio } of moves) this.taus.push({ tau, clipped: ratio > C });
    if (this.taus.length > 4 * N_TAUS) this.taus.splice(0, this.taus.length - N_TAUS);
    if (moves.length) this.updates += 1;
    this.last = { ...pair, z_i, z_j, steps, moved: moves.length > 0 };
    this.earlier = null;
    this.t += 1;
    this.turn += drift;
    if (drift) this.placesNow = this.Z = null;
    this.seen = Math.max(this.seen, this.t);
    this.takeEvents();
    this.addLosses();
    this.checkpoints.add(this);
    return true;
  }

  // Events due by now.
  takeEvents() {
    while (this.happened < this.events.length && this.events[this.happened][0] <= this.t) {
      this.takeEvent(this.events[this.happened++]);
    }
  }

  takeEvent([, key, value]) {
    if (!EDITS[key]) { this.params[key] = value; return; }
    this.setPoints(EDITS[key].edit(this.points, value));
    this.last = null;
  }

  // A parameter or the points change now. What had been seen beyond this moment did not happen.
  change(key, value) {
    this.events = this.events.slice(0, this.happened);
    if (EDITS[key]) addEdit(this.events, this.t, key, value);
    else {
      this.events = this.events.filter(([t, name]) => t < this.t || name !== key);
      if (this.t === 0) this.first[key] = value;
      else this.events.push([this.t, key, value]);
    }
    this.happened = this.events.length;
    this.takeEvent([this.t, key, value]);
    this.seen = this.t;
    for (const curve of Object.values(this.curves)) curve.cut(this.t - (EDITS[key] ? 1 : 0));
    if (this.t === 0) this.checkpoints = new Checkpoints(this.save());
    else this.checkpoints.cut(this.t);
    this.addLosses();
    this.measureNow();
  }

  // The moment after t pairs, which has been seen or lies ahead.
  seek(t) {
    if (t < this.t || t === 0) this.restore(this.checkpoints.before(t));
    while (this.t < t && this.learn());
    this.measureNow();
  }

  save() {
    const { t, happened, params, points, turn, sumR, sumFrozenR, updates } = this;
    const numbers = { t, happened, turn, sumR, sumFrozenR, updates };
    return { t, numbers, points, params: { ...params }, models: copyModels(this.models), random: this.stream.state,
      taus: this.taus.slice(-N_TAUS) };
  }

  restore({ numbers, points, params, models, random, taus }) {
    Object.assign(this, numbers, { params: { ...params, pace: this.params.pace }, models: copyModels(models),
      taus: [...taus], last: null });
    this.stream.state = random;
    this.setPoints(points);
  }
}
