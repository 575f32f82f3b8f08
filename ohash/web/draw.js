// One model's picture in three layers, which change at different times: cells with their boundaries, points, and
// above them what belongs to the latest pair or to the pointer. A box is {x, y, size} in pixels.

function scales(box) {
  const scale = box.size / (2 * HALF);
  return { px: (x) => box.x + (x + HALF) * scale, py: (y) => box.y + (HALF - y) * scale };
}

// Calls `draw` with nothing outside the box touched.
function inside(context, box, draw) {
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.size, box.size);
  context.clip();
  draw();
  context.restore();
}

function segmentsPath(context, box, segments) {
  const { px, py } = scales(box);
  for (const [x0, y0, x1, y1] of segments) {
    context.moveTo(px(x0), py(y0));
    context.lineTo(px(x1), py(y1));
  }
}

// Lines have their numbers at one end: at the other one where the name of a model stands, if there are several.
function drawCells(context, box, plane, buckets, focusCode, { linear, named }, look) {
  const { px, py } = scales(box), half = box.size / (plane.nodes - 1) / 2;
  plane.shade(buckets, focusCode, look);
  inside(context, box, () => {
    context.drawImage(plane.canvas, box.x - half, box.y - half, box.size + 2 * half, box.size + 2 * half);
    context.beginPath();
    for (const segments of plane.boundaries) segmentsPath(context, box, segments);
    [context.strokeStyle, context.lineWidth] = [look.line, linear ? 1.2 : 1];
    context.stroke();
    [context.fillStyle, context.font] = [look.ink, `${look.label * look.type}px ${look.font}`];
    [context.textAlign, context.textBaseline] = ["center", "middle"];
    plane.boundaries.forEach(([ends], k) => {
      if (!linear || !ends) return;
      const em = look.label * look.type, underName = px(ends[0]) - box.x < 6 * em && py(ends[1]) - box.y < 2 * em;
      const [x, y] = named && underName ? ends.slice(2) : ends;
      context.fillText(k + 1, px(0.965 * x), py(0.965 * y));
    });
  });
  [context.strokeStyle, context.lineWidth] = [look.grid, 1];
  context.strokeRect(box.x + 0.5, box.y + 0.5, box.size - 1, box.size - 1);
}

// What a picture is of, in its upper left corner, legible on lines and points.
function drawName(context, box, name, look) {
  [context.textAlign, context.textBaseline, context.lineJoin] = ["left", "top", "round"];
  [context.font, context.lineWidth] = [`600 ${look.label * look.type}px ${look.font}`, 4];
  [context.strokeStyle, context.fillStyle] = [look.background, look.ink];
  context.strokeText(name, box.x + 5, box.y + 5);
  context.fillText(name, box.x + 5, box.y + 5);
}

const radiusIn = (box) => (box.size > 700 ? 6 : box.size > 330 ? 4.2 : 3);

// Points fade with the distance of their code from that of the point in focus. Those that look alike are one path:
// a thousand small ones take too long.
function drawPoints(context, box, places, labels, codes, focusCode, look) {
  const { px, py } = scales(box), radius = radiusIn(box), groups = new Map();
  places.forEach((place, at) => {
    const D = focusCode === null ? 0 : Math.min(3, bitCount(codes[at] ^ focusCode)), key = 4 * D + labels[at];
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(place);
  });
  context.clearRect(box.x, box.y, box.size, box.size);
  inside(context, box, () => groups.forEach((group, key) => {
    const D = key >> 2, label = key & 3, edge = focusCode !== null && D === 0 ? look.ink : look.background;
    context.beginPath();
    for (const [x, y] of group) addMark(context, label, px(x), py(y), radius);
    [context.globalAlpha, context.fillStyle] = [FADES[D], look.classes[label]];
    [context.strokeStyle, context.lineWidth] = [edge, 1];
    context.fill();
    if (edge === look.ink || radius > 4) context.stroke();
  }));
}

const FADES = [1, 0.95, 0.75, 0.28]; // at 0, 1, 2 and more bits

// The latest pair: a segment, solid if similar and dashed if not, and the letters of its points.
function drawPair(context, box, places, { s, i, j }, named, look) {
  const { px, py } = scales(box), radius = radiusIn(box), ends = [places[i], places[j]];
  context.beginPath();
  context.setLineDash(s === 1 ? [] : [7, 5]);
  for (const [x, y] of ends) context.lineTo(px(x), py(y));
  [context.strokeStyle, context.lineWidth] = [look.roles[s === 1 ? "similar" : "dissimilar"], 3];
  context.stroke();
  context.setLineDash([]);
  [context.fillStyle, context.strokeStyle, context.font] = [look.ink, look.ink, `italic 600 ${15 * look.type}px ${look.font}`];
  [context.textAlign, context.textBaseline] = ["center", "middle"];
  ends.forEach(([x, y], k) => {
    markPath(context, 0, px(x), py(y), radius + 4);
    context.lineWidth = 1.5;
    context.stroke();
    const beyond = Math.sign(x - ends[1 - k][0]) || 1;
    if (named) context.fillText("ij"[k], px(x) + 15 * beyond, py(y) - 8);
  });
}

// The boundaries that an update moves; where they were is dashed.
function drawMoves(context, box, boundaries, earlier, look) {
  for (const [segments, dash, colour, width] of [[earlier, [3, 4], look.faint, 1.5], [boundaries, [], look.ink, 2.5]]) {
    context.beginPath();
    context.setLineDash(dash);
    for (const one of segments) segmentsPath(context, box, one);
    [context.strokeStyle, context.lineWidth] = [colour, width];
    context.stroke();
  }
  context.setLineDash([]);
}

// An arrow from each point that has to change sides towards its line; the nearest place on it is the foot.
function drawSides(context, box, columns, arrows, look) {
  const { px, py } = scales(box);
  [context.strokeStyle, context.fillStyle, context.lineWidth] = [look.ink, look.ink, 2];
  for (const { k, place: [x, y] } of arrows) {
    const [a, b, c] = columns[k], away = (a * x + b * y + c) / (a * a + b * b);
    const from = [px(x), py(y)], to = [px(x - 1.12 * away * a), py(y - 1.12 * away * b)];
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
    context.beginPath();
    for (const turn of [0, 2.6, -2.6]) {
      const reach = turn ? 10 : 2;
      context.lineTo(to[0] + reach * Math.cos(angle + turn), to[1] + reach * Math.sin(angle + turn));
    }
    context.fill();
  }
}

// A ring around the point in focus, or the brush.
function drawRing(context, box, [x, y], radius, colour) {
  const { px, py } = scales(box);
  markPath(context, 0, px(x), py(y), radius);
  [context.strokeStyle, context.lineWidth] = [colour, 2.5];
  context.stroke();
}
