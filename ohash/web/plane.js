// The cells of one model: the code of every node of a grid over the plane, and of every point. Only the columns of W
// that moved are computed again.

class Plane {
  constructor(r, nodes) {
    this.nodes = nodes; // along each side
    this.xs = Float64Array.from({ length: nodes }, (_, k) => HALF * (2 * k / (nodes - 1) - 1));
    this.columns = Array(r).fill(null); // w as it is shown
    this.boundaries = Array(r).fill(null); // as segments [x, y, x, y]
    this.field = new Float32Array(nodes * nodes);
    this.cells = new Int32Array(nodes * nodes);
    this.codes = []; // of the points
    this.vectors = null;
    this.changed = true; // since it was shaded
    this.canvas = document.createElement("canvas");
    this.canvas.width = this.canvas.height = nodes;
    this.context = this.canvas.getContext("2d");
    this.image = this.context.createImageData(nodes, nodes);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.table = new Uint32Array(1 << r);
  }

  // Brings cells and codes up to date with W and the points.
  follow(W, vectors, features) {
    const moved = W.map((_, k) => k).filter((k) => !this.columns[k] || W[k].some((v, c) => v !== this.columns[k][c]));
    const placed = vectors !== this.vectors;
    for (const k of moved) {
      this.columns[k] = W[k].slice();
      this.boundaries[k] = this.boundaryOf(W[k], features);
      setBit(this.cells, k, this.field);
    }
    if (!placed && !moved.length) return;
    const codes = placed ? Array(vectors.length).fill(0) : [...this.codes];
    for (const k of placed ? W.keys() : moved) setBit(codes, k, vectors.map((z) => project(W[k], z)));
    const recoded = codes.length !== this.codes.length || codes.some((code, at) => code !== this.codes[at]);
    Object.assign(this, { codes, vectors, changed: this.changed || recoded || moved.length > 0 });
  }

  // The segments of wᵀz = 0, after the field of w was computed.
  boundaryOf(w, features) {
    features.field(w, this.xs, this.field);
    return features.linear ? lineSegments(w) : contourSegments(this.field, this.xs, STRIDE);
  }

  // Cells in the colour of most of their points, a shade of it for each code; around a point in focus by the distance
  // from its code.
  shade(buckets, focusCode, look) {
    const pack = ([red, green, blue]) => (255 << 24) | (blue << 16) | (green << 8) | red;
    const colour = (code) => {
      const bucket = buckets.get(code);
      if (focusCode !== null) return mix(look.ink, look.background, BALL_SHADES[bitCount(code ^ focusCode)] ?? 0.02);
      if (!bucket) return mix(look.ink, look.background, 0.02 + 0.07 * shadeOf(code));
      return mix(look.classes[bucket.most], look.background, (0.12 + 0.16 * shadeOf(code)) * bucket.purity);
    };
    const { nodes, table, pixels, cells } = this;
    table.fill(0);
    for (let row = 0; row < nodes; row++) { // the first row of an image is its top
      const from = (nodes - 1 - row) * nodes;
      for (let column = 0; column < nodes; column++) {
        const code = cells[from + column];
        pixels[row * nodes + column] = table[code] ||= pack(colour(code));
      }
    }
    this.context.putImageData(this.image, 0, 0);
    this.changed = false;
  }
}

const STRIDE = 2; // nodes between the corners of a square of a contour
const BALL_SHADES = [0.34, 0.2, 0.1]; // at 0, 1 and 2 bits

// A number in [0, 1) that differs between neighbouring codes.
function shadeOf(code) { return ((Math.imul(code + 1, 2654435761) >>> 16) & 255) / 256; }

function setBit(codes, k, values) {
  const bit = 1 << k;
  for (let at = 0; at < values.length; at++) codes[at] = values[at] >= 0 ? codes[at] | bit : codes[at] & ~bit;
}

// The line w·(x, y, 1) = 0 from border to border of the plane, if it is inside at all.
function lineSegments([a, b, c]) {
  const ends = [];
  for (const side of [-HALF, HALF]) {
    const y = -(a * side + c) / b, x = -(b * side + c) / a;
    if (Math.abs(y) <= HALF) ends.push([side, y]);
    if (Math.abs(x) <= HALF) ends.push([x, side]);
  }
  return ends.length >= 2 ? [[...ends[0], ...ends[ends.length - 1]]] : [];
}

// The contour field = 0 as segments [x, y, x, y]: one per square of `stride` nodes that it crosses, two at a saddle.
function contourSegments(field, xs, stride) {
  const n = xs.length, segments = [], cut = (a, b, from, to) => from + (to - from) * a / (a - b);
  for (let row = 0; row + stride < n; row += stride) {
    for (let column = 0; column + stride < n; column += stride) {
      const at = row * n + column, up = at + stride * n;
      const a = field[at], b = field[at + stride], c = field[up + stride], d = field[up];
      const inside = (a >= 0) + (b >= 0) + (c >= 0) + (d >= 0);
      if (inside === 0 || inside === 4) continue;
      const x0 = xs[column], x1 = xs[column + stride], y0 = xs[row], y1 = xs[row + stride], ends = [];
      if ((a >= 0) !== (b >= 0)) ends.push(cut(a, b, x0, x1), y0);
      if ((b >= 0) !== (c >= 0)) ends.push(x1, cut(b, c, y0, y1));
      if ((d >= 0) !== (c >= 0)) ends.push(cut(d, c, x0, x1), y1);
      if ((a >= 0) !== (d >= 0)) ends.push(x0, cut(a, d, y0, y1));
      for (let k = 0; k + 3 < ends.length; k += 4) segments.push(ends.slice(k, k + 4));
    }
  }
  return segments;
}
