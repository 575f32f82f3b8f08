// A recorded run, read from its page so that step.js can go on with it: features in float64, the run's own pairs, and
// W at some moments. Between those moments the pairs of the run are learnt again, as the run learnt them.

const SIMILAR = 1 << 15; // added to row i of a similar pair

const ARRAYS = { uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array, float64: Float64Array };

function unpack({ dtype, data }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  return new ARRAYS[dtype](bytes.buffer);
}

// Rows of the last axis, in float64.
function unpackRows(packed) {
  const values = unpack(packed), width = packed.shape[packed.shape.length - 1];
  const count = packed.shape.slice(0, -1).reduce((product, n) => product * n, 1);
  return Array.from({ length: count }, (_, at) => Float64Array.from(values.subarray(at * width, (at + 1) * width)));
}

// x less the mean of the warm-up, at length 1 if the map says so; a zero vector stays zero.
function scaled(x, mean, normalize) {
  const row = x.map((value, c) => value - mean[c]);
  const norm = normalize ? Math.sqrt(dot(row, row)) : 1;
  return norm > 0 ? row.map((value) => value / norm) : row;
}

// κ(x, a) = exp(-‖x - a‖² / 2σ²) for every anchor a.
function similarities(x, anchors, sigma) {
  return Float64Array.from(anchors, (a) => {
    let square = 0;
    for (let c = 0; c < x.length; c++) square += (x[c] - a[c]) ** 2;
    return Math.exp(-square / (2 * sigma * sigma));
  });
}

function mappedRows(X, { mean, normalize, anchors, sigma, mapped_mean }) {
  const center = unpack(mean), rows = X.map((x) => scaled(x, center, normalize));
  const near = anchors && anchors.map((row) => rows[row]);
  const Z = near ? rows.map((x) => similarities(x, near, sigma)) : rows;
  const shift = mapped_mean && unpack(mapped_mean);
  return shift ? Z.map((z) => z.map((value, c) => value - shift[c])) : Z;
}

function openRun(stored) {
  const pairs = unpack(stored.pairs), length = pairs.length / 2;
  const truth = stored.truth && {
    queries: unpack(stored.truth.queries), database: unpack(stored.truth.database),
    relevant: unpack(stored.truth.relevant), width: stored.truth.relevant.shape[1],
  };
  return { ...stored, Z: mappedRows(unpackRows(stored.X), stored.map), first: pairs.subarray(0, length),
    second: pairs.subarray(length), length, truth };
}

// The model at the last moment up to pair t whose W is in the page.
function stateBefore(run, t) {
  const { W, t: from, beta, C } = run.weights.filter((one) => one.t <= t).pop();
  const columns = unpackRows(W), r = W.shape[1];
  const models = Array.from({ length: W.shape[0] }, (_, m) => columns.slice(m * r, (m + 1) * r));
  return { t: from, from, models, params: { alpha: run.alpha, beta, C }, sumR: 0 };
}

// The run's own changes of β and C before the next pair.
function applyChanges(run, state) {
  for (const [at, name, value] of run.changes) if (at === state.t) state.params[name] = value;
}

// Learn the next pair; R as in Eq. (28).
function learnNext(run, state) {
  const row = run.first[state.t], s = row >= SIMILAR ? 1 : -1;
  const steps = learnPair(state.models, run.Z[row % SIMILAR], run.Z[run.second[state.t]], s, state.params);
  const losses = steps.map((step) => step.R);
  const R = s === 1 ? Math.min(...losses) : losses.reduce((sum, one) => sum + one, 0);
  state.t += 1;
  state.sumR += R;
  return R;
}

// Codes as words of 32 bits.
function packedCode(W, z) {
  const words = new Int32Array(Math.ceil(W.length / 32));
  W.forEach((w, k) => { if (project(w, z) >= 0) words[k >> 5] |= 1 << (k & 31); });
  return words;
}

// mAP of the queries over the database, expected over ties; yields between slices, since it takes a moment.
function* score({ truth, Z }, models) {
  const r = models[0].length, T = models.length, width = T * r + 1, sizes = (r + 1) * width;
  const codes = [];
  for (const rows of [truth.queries, truth.database]) {
    const some = [];
    for (let at = 0; at < rows.length; at++) {
      some.push(models.map((W) => packedCode(W, Z[rows[at]])));
      if (at % 50 === 49) yield;
    }
    codes.push(some);
  }
  const [queries, database] = codes, all = new Int32Array(sizes), relevant = new Int32Array(sizes);
  let total = 0, count = 0;
  for (let q = 0; q < queries.length; q++) {
    all.fill(0);
    relevant.fill(0);
    let wanted = 0;
    for (let item = 0; item < database.length; item++) {
      let least = r, sum = 0;
      for (let m = 0; m < T; m++) {
        let D = 0;
        for (let word = 0; word < queries[q][m].length; word++) D += bitCount(queries[q][m][word] ^ database[item][m][word]);
        sum += D;
        if (D < least) least = D;
      }
      const good = (truth.relevant[q * truth.width + (item >> 3)] >> (item & 7)) & 1;
      all[least * width + sum] += 1;
      relevant[least * width + sum] += good;
      wanted += good;
    }
    if (wanted) [total, count] = [total + averagePrecision(all, relevant, wanted), count + 1];
    if (q % 10 === 9) yield;
  }
  return total / count;
}
