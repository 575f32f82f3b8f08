// Three small charts: agreement, cumulative loss, and τ under C.

const LEFT = 34, TOP = 5, BELOW = 16; // room for labels

function drawCharts(canvases, run, look) {
  const { t, seen, sumR, sumFrozenR, curves: { agreement, loss, frozen } } = run, { roles } = look;
  const parts = canvases.map((canvas) => {
    const context = canvas.getContext("2d");
    context.save();
    context.scale(look.type, look.type);
    return [context, canvas.clientWidth / look.type, canvas.clientHeight / look.type];
  });
  const top = Math.max(1, sumR, sumFrozenR, ...[loss, frozen].map((curve) => curve.until(seen)));
  drawCurves(...parts[0], [{ curve: agreement, y: run.now, colour: roles.labels }],
    { lo: 0, hi: 1, level: run.start, t, seen }, look);
  const colour = roles[run.params.T > 1 ? "method:mmoh" : "method:oh"];
  drawCurves(...parts[1], [{ curve: frozen, y: sumFrozenR, colour: roles.frozen, dash: [4, 3] },
    { curve: loss, y: sumR, colour }], { lo: 0, hi: top, t, seen }, look);
  drawTaus(...parts[2], run.taus, run.params.C, look);
  for (const [context] of parts) context.restore();
}

// Lines {curve, y, colour, dash} over all pairs seen, and a rule at t; y is the value at t. `level` is dashed.
function drawCurves(context, width, height, lines, { lo, hi, level, t, seen }, look) {
  const bottom = height - BELOW, x1 = Math.max(1, seen);
  const px = (x) => LEFT + x / x1 * (width - LEFT - 4), py = (y) => bottom - (y - lo) / (hi - lo) * (bottom - TOP);
  drawFrame(context, width, height, [lo, hi], look);
  if (seen) context.fillText(seen === 1 ? "1 pair" : `${shortNumber(seen)} pairs`, width, height - 2);
  if (level !== undefined && level === level) drawLevel(context, width, py(level), look.roles.start);
  for (const { curve, y, colour, dash = [] } of lines) {
    context.beginPath();
    context.setLineDash(dash);
    curve.x.forEach((x, at) => { if (x <= seen) context.lineTo(px(x), py(curve.y[at])); });
    if (t === seen) context.lineTo(px(t), py(y));
    [context.strokeStyle, context.lineWidth] = [colour, 1.75];
    context.stroke();
  }
  context.setLineDash([]);
  if (t === seen) return;
  context.fillStyle = look.ink;
  context.fillRect(px(t) - 0.5, TOP, 1, bottom - TOP);
}

// τ of the latest updates under the line C; those capped at C stand out.
function drawTaus(context, width, height, taus, C, look) {
  const bottom = height - BELOW, shown = taus.slice(-N_TAUS), hi = 1.15 * Math.max(C, ...shown.map(({ tau }) => tau));
  const py = (tau) => bottom - tau / hi * (bottom - TOP);
  drawFrame(context, width, height, [0, hi], look);
  context.fillText(`latest ${N_TAUS} updates`, width, height - 2);
  drawLevel(context, width, py(C), look.roles.cap);
  shown.forEach(({ tau, clipped }, at) => {
    markPath(context, clipped ? 1 : 0, LEFT + 5 + at / N_TAUS * (width - LEFT - 10), py(tau), 2.2);
    context.fillStyle = look.roles[clipped ? "clipped" : "now"];
    context.fill();
  });
}

function drawLevel(context, width, y, colour) {
  context.beginPath();
  context.setLineDash([4, 3]);
  context.moveTo(LEFT, y);
  context.lineTo(width, y);
  [context.strokeStyle, context.lineWidth] = [colour, 1.2];
  context.stroke();
  context.setLineDash([]);
}

function drawFrame(context, width, height, [lo, hi], look) {
  const bottom = height - BELOW;
  context.clearRect(0, 0, width, height);
  [context.strokeStyle, context.lineWidth] = [look.grid, 1];
  context.beginPath();
  context.moveTo(LEFT, TOP);
  context.lineTo(LEFT, bottom);
  context.lineTo(width, bottom);
  context.stroke();
  [context.font, context.fillStyle] = [`${look.label}px ${look.font}`, look.faint];
  [context.textAlign, context.textBaseline] = ["right", "middle"];
  context.fillText(shortNumber(hi), LEFT - 3, 8);
  context.fillText(shortNumber(lo), LEFT - 3, bottom - 2);
  context.textBaseline = "alphabetic";
}
