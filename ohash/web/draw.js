// Pictures of a run on canvases: the plane of one model, and three small charts.

const GRID = 141; // nodes along each side of the plane
const STRIDE = 4; // nodes between the corners of a square of a contour
const CLASS_ROLES = ["similar", "dissimilar", "bound", "distance"];

function rgb(hex) { return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)); }

function mix(over, under, share) {
  const a = rgb(over), b = rgb(under);
  return a.map((v, k) => Math.round(share * v + (1 - share) * b[k]));
}

// A number in [0, 1) that differs between neighbouring codes.
function shadeOf(code) { return ((Math.imul(code + 1, 2654435761) >>> 16) & 255) / 256; }

// Points by code: how many, and of which classes.
function buckets(codes, labels) {
  const found = new Map();
  codes.forEach((code, at) => {
    if (!found.has(code)) found.set(code, { code, size: 0, counts: [0, 0, 0, 0] });
    const bucket = found.get(code);
    bucket.size += 1;
    bucket.counts[labels[at]] += 1;
  });
  for (const bucket of found.values()) {
    bucket.most = bucket.counts.indexOf(Math.max(...bucket.counts));
    bucket.purity = bucket.counts[bucket.most] / bucket.size;
  }
  return found;
}

// The code of every node of a grid, kept in step with the columns of W that moved.
class Plane {
  constructor(r) {
    this.xs = [...Array(GRID).keys()].map((k) => HALF * (2 * k / (GRID - 1) - 1));
    this.fields = [...Array(r)].map(() => new Float32Array(GRID * GRID));
    this.codes = new Int32Array(GRID * GRID);
    this.canvas = document.createElement("canvas");
    this.canvas.width = this.canvas.height = GRID;
    this.context = this.canvas.getContext("2d");
    this.image = this.context.createImageData(GRID, GRID);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.table = new Uint32Array(1 << r);
  }

  follow(run, m) {
    run.models[m].forEach((w, k) => {
      if (!run.moved[m][k]) return;
      run.moved[m][k] = false;
      const field = this.fields[k], bit = 1 << k;
      run.features.field(w, this.xs, field);
      for (let at = 0; at < field.length; at++) {
        if (field[at] >= 0) this.codes[at] |= bit;
        else this.codes[at] &= ~bit;
      }
    });
  }

  // Cells in the colour of most of their points; around a point in focus by the distance from its code.
  shade(found, focusCode, look) {
    const pack = ([red, green, blue]) => (255 << 24) | (blue << 16) | (green << 8) | red;
    const colour = (code) => {
      const bucket = found.get(code);
      if (focusCode !== null) return mix(look.ink, look.background, [0.34, 0.2, 0.1][bitCount(code ^ focusCode)] ?? 0.02);
      if (!bucket) return mix(look.ink, look.background, 0.02 + 0.07 * shadeOf(code));
      return mix(look.classes[bucket.most], look.background, (0.12 + 0.16 * shadeOf(code)) * bucket.purity);
    };
    this.table.fill(0);
    for (let row = 0; row < GRID; row++) { // the first row of an image is its top
      const from = (GRID - 1 - row) * GRID;
      for (let column = 0; column < GRID; column++) {
        const code = this.codes[from + column];
        this.pixels[row * GRID + column] = this.table[code] ||= pack(colour(code));
      }
    }
    this.context.putImageData(this.image, 0, 0);
  }
}

function marker(context, shape, x, y, radius) {
  context.beginPath();
  if (shape === 0) context.arc(x, y, radius, 0, 2 * Math.PI);
  else if (shape === 1) context.rect(x - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius);
  else {
    const corners = shape === 2 ? [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]] : [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]];
    for (const [dx, dy] of corners) context.lineTo(x + dx * radius, y + dy * radius);
  }
  context.closePath();
}

// Where the line w·(x, y, 1) = 0 meets the border of the plane.
function lineEnds([a, b, c]) {
  const ends = [];
  for (const side of [-HALF, HALF]) {
    const y = -(a * side + c) / b, x = -(b * side + c) / a;
    if (Math.abs(y) <= HALF) ends.push([side, y]);
    if (Math.abs(x) <= HALF) ends.push([x, side]);
  }
  return ends.length >= 2 ? [ends[0], ends[ends.length - 1]] : null;
}

// The contour field = 0, one segment per square of STRIDE nodes that it crosses.
function contour(context, field, px, py, xs) {
  const cut = (a, b, from, to) => from + (to - from) * a / (a - b);
  for (let row = 0; row + STRIDE < GRID; row += STRIDE) {
    for (let column = 0; column + STRIDE < GRID; column += STRIDE) {
      const at = row * GRID + column, up = at + STRIDE * GRID;
      const a = field[at], b = field[at + STRIDE], c = field[up + STRIDE], d = field[up];
      const inside = (a >= 0) + (b >= 0) + (c >= 0) + (d >= 0);
      if (inside === 0 || inside === 4) continue;
      const x0 = xs[column], x1 = xs[column + STRIDE], y0 = xs[row], y1 = xs[row + STRIDE], ends = [];
      if ((a >= 0) !== (b >= 0)) ends.push([cut(a, b, x0, x1), y0]);
      if ((b >= 0) !== (c >= 0)) ends.push([x1, cut(b, c, y0, y1)]);
      if ((d >= 0) !== (c >= 0)) ends.push([cut(d, c, x0, x1), y1]);
      if ((a >= 0) !== (d >= 0)) ends.push([x0, cut(a, d, y0, y1)]);
      for (let k = 0; k + 1 < ends.length; k += 2) {
        context.moveTo(px(ends[k][0]), py(ends[k][1]));
        context.lineTo(px(ends[k + 1][0]), py(ends[k + 1][1]));
      }
    }
  }
}

// One model: cells, hyperplanes, the current pair, points. `box` is {x, y, size} in pixels.
function drawPlane(context, box, run, m, plane, codes, view, look) {
  const px = (x) => box.x + (x + HALF) / (2 * HALF) * box.size;
  const py = (y) => box.y + (HALF - y) / (2 * HALF) * box.size;
  const focusCode = view.focus === null ? null : codes[view.focus];
  const { last } = run, step = last && last.steps[m], linear = run.params.features === "linear";
  plane.follow(run, m);
  plane.shade(buckets(codes, run.labels), focusCode, look);
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.size, box.size);
  context.clip();
  const half = box.size / (GRID - 1) / 2;
  context.drawImage(plane.canvas, box.x - half, box.y - half, box.size + 2 * half, box.size + 2 * half);
  const stroke = (ends) => {
    if (!ends) return;
    context.moveTo(px(ends[0][0]), py(ends[0][1]));
    context.lineTo(px(ends[1][0]), py(ends[1][1]));
  };
  run.models[m].forEach((w, k) => {
    const moves = view.slow && step && step.tau > 0 && step.bits.includes(k);
    if (moves && linear) {
      context.beginPath();
      context.setLineDash([3, 4]);
      stroke(lineEnds(last.before[m][k]));
      [context.strokeStyle, context.lineWidth] = [look.faint, 1];
      context.stroke();
      context.setLineDash([]);
    }
    context.beginPath();
    if (linear) stroke(lineEnds(w));
    else contour(context, plane.fields[k], px, py, plane.xs);
    [context.strokeStyle, context.lineWidth] = moves ? [look.ink, 2.5] : [look.line, 1.2];
    context.stroke();
    const ends = linear && lineEnds(w);
    if (!ends) return;
    const [x, y] = ends[0].map((v) => v * 0.965);
    context.font = `${view.font}px ${look.font}`;
    context.fillStyle = look.ink;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(k + 1, px(x), py(y));
  });
  if (last && view.showPair) {
    const a = run.points[last.i], b = run.points[last.j];
    context.beginPath();
    context.setLineDash(last.s === 1 ? [] : [7, 5]);
    context.moveTo(px(a[0]), py(a[1]));
    context.lineTo(px(b[0]), py(b[1]));
    [context.strokeStyle, context.lineWidth] = [look.roles[last.s === 1 ? "similar" : "dissimilar"], 3];
    context.stroke();
    context.setLineDash([]);
  }
  const radius = box.size > 330 ? 4.2 : 3;
  run.points.forEach(([x, y], at) => {
    const D = focusCode === null ? 0 : bitCount(codes[at] ^ focusCode);
    context.globalAlpha = [1, 0.95, 0.75][D] ?? 0.28;
    marker(context, run.labels[at], px(x), py(y), radius);
    context.fillStyle = look.classes[run.labels[at]];
    context.fill();
    const ball = focusCode !== null && D === 0;
    [context.strokeStyle, context.lineWidth] = [ball ? look.ink : look.background, 1];
    if (ball || radius > 4) context.stroke();
  });
  context.globalAlpha = 1;
  const rings = view.showPair && last ? [last.i, last.j] : [];
  for (const at of view.focus === null ? rings : [...rings, view.focus]) {
    marker(context, 0, px(run.points[at][0]), py(run.points[at][1]), radius + 4);
    [context.strokeStyle, context.lineWidth] = [look.ink, at === view.focus ? 2.5 : 1.5];
    context.stroke();
  }
  context.restore();
  [context.strokeStyle, context.lineWidth] = [look.grid, 1];
  context.strokeRect(box.x + 0.5, box.y + 0.5, box.size - 1, box.size - 1);
}

function shortNumber(v) {
  if (v === 0) return "0";
  if (Math.abs(v) >= 10000) return `${Math.round(v / 1000)}k`;
  return Math.abs(v) >= 100 ? String(Math.round(v)) : String(+v.toPrecision(2));
}

// A line over the pairs from lo to hi, and a dashed level.
function drawCurve(context, width, height, curve, { lo, hi, level, colour }, look) {
  const left = 34, bottom = height - 14, x1 = Math.max(1, curve.x[curve.x.length - 1]);
  const px = (x) => left + x / x1 * (width - left - 4), py = (y) => bottom - (y - lo) / (hi - lo) * (bottom - 5);
  axes(context, width, height, left, bottom, [lo, hi], [0, x1], look);
  if (level !== undefined) dashedLevel(context, left, width, py(level), look);
  context.beginPath();
  curve.x.forEach((x, at) => context[at ? "lineTo" : "moveTo"](px(x), py(curve.y[at])));
  [context.strokeStyle, context.lineWidth] = [colour, 1.75];
  context.stroke();
}

// τ of the latest updates under the line C; those cut off at C stand out.
function drawTaus(context, width, height, taus, C, look) {
  const left = 34, bottom = height - 14, shown = taus.slice(-120), hi = 1.15 * Math.max(C, ...shown.map((one) => one.tau));
  const py = (tau) => bottom - tau / hi * (bottom - 5);
  axes(context, width, height, left, bottom, [0, hi], null, look);
  dashedLevel(context, left, width, py(C), look);
  shown.forEach(({ tau, clipped }, at) => {
    marker(context, clipped ? 1 : 0, left + 5 + at / 120 * (width - left - 10), py(tau), 2.2);
    context.fillStyle = look.roles[clipped ? "clipped" : "now"];
    context.fill();
  });
}

function dashedLevel(context, left, width, y, look) {
  context.beginPath();
  context.setLineDash([4, 3]);
  context.moveTo(left, y);
  context.lineTo(width, y);
  [context.strokeStyle, context.lineWidth] = [look.faint, 1.2];
  context.stroke();
  context.setLineDash([]);
}

function axes(context, width, height, left, bottom, [lo, hi], range, look) {
  context.clearRect(0, 0, width, height);
  [context.strokeStyle, context.lineWidth] = [look.grid, 1];
  context.beginPath();
  context.moveTo(left, 5);
  context.lineTo(left, bottom);
  context.lineTo(width, bottom);
  context.stroke();
  context.font = `11px ${look.font}`;
  context.fillStyle = look.faint;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText(shortNumber(hi), left - 3, 8);
  context.fillText(shortNumber(lo), left - 3, bottom - 2);
  context.textBaseline = "alphabetic";
  if (range) {
    context.fillText(`${shortNumber(range[1])} pairs`, width, height - 2);
    context.textAlign = "left";
    context.fillText(String(range[0]), left, height - 2);
  } else context.fillText("latest 120 updates", width, height - 2);
}
