// What is kept of a run while it goes on: curves, and checkpoints from which it can be computed again.

const N_KEPT = 400; // entries of a curve, at most twice as many
const N_CHECKPOINTS = 128; // likewise

// A curve over the pairs that keeps every stride-th entry and doubles the stride when it is full.
class Curve {
  constructor() { this.x = []; this.y = []; this.stride = 1; this.count = 0; }

  // What was seen before, and is seen again after going back, is there already.
  add(x, y) {
    if (x <= this.latest || this.count++ % this.stride) return;
    this.x.push(x);
    this.y.push(y);
    if (this.x.length <= 2 * N_KEPT) return;
    this.stride *= 2;
    const even = (_, at) => at % 2 === 0;
    [this.x, this.y] = [this.x.filter(even), this.y.filter(even)];
  }

  get latest() { return this.x.length ? this.x[this.x.length - 1] : -1; }

  // The latest value up to t, 0 if there is none.
  until(t) { return this.y[this.x.findLastIndex((x) => x <= t)] ?? 0; }

  cut(t) {
    const kept = this.x.filter((x) => x <= t).length;
    this.x.length = this.y.length = kept;
    if (!kept) [this.stride, this.count] = [1, 0];
  }
}

// States of a run after every stride-th pair, with a stride that doubles when there are many.
class Checkpoints {
  constructor(first) { this.states = [first]; this.stride = 1; }

  add(run) {
    if (run.t % this.stride || run.t <= this.states[this.states.length - 1].t) return;
    this.states.push(run.save());
    if (this.states.length <= 2 * N_CHECKPOINTS) return;
    this.stride *= 2;
    this.states = this.states.filter(({ t }) => t % this.stride === 0);
  }

  // The latest before pair t, so that this pair is learnt again and can be shown.
  before(t) { return this.states.findLast((state) => state.t < t) ?? this.states[0]; }

  cut(t) { this.states = this.states.filter((state) => state.t < t); }
}
