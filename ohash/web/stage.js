// The planes of all models on three canvases above each other; what did not change is not drawn again.

const PHASES = ["The pair", "Which bits", "Which side", "How far"]; // of one update
const MOVED = PHASES.length - 1;
const GAP = 6; // pixels between two planes
const HEADROOM = 250; // pixels of the window for what stands above and below

class Stage {
  constructor(element) {
    this.element = element;
    [this.cells, this.points, this.top] = ["cells", "points", "plane"].map((name) => element.querySelector(`.${name}`));
    this.cells.getContext("2d", { alpha: false }); // opaque: cheaper to lay under the others
    this.boxes = [];
  }

  // Makes room for T planes side by side.
  fit(r, T) {
    const width = this.element.clientWidth, roof = Math.max(300, window.innerHeight - HEADROOM);
    const side = Math.floor(T === 2 ? Math.min(width, 2 * roof) : Math.min(width, roof));
    if (side <= 0) return;
    const size = T === 1 ? side : (side - GAP) / 2, next = size + GAP, height = T === 2 ? Math.ceil(size) : side;
    this.boxes = [...Array(T).keys()].map((m) => ({ x: (m % 2) * next, y: Math.floor(m / 2) * next, size }));
    for (const canvas of [this.cells, this.points, this.top]) fitCanvas(canvas, side, height);
    this.planes = this.boxes.map(() => new Plane(r, size > 330 ? 121 : 81));
  }

  // The model whose plane lies under an event, and the place there.
  placeOf(event) {
    const { left, top } = this.top.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top;
    const within = (box) => x >= box.x && x <= box.x + box.size && y >= box.y && y <= box.y + box.size;
    const m = this.boxes.findIndex(within), box = this.boxes[m];
    if (!box) return null;
    const scale = 2 * HALF / box.size;
    return { m, place: [(x - box.x) * scale - HALF, HALF - (y - box.y) * scale] };
  }

  // Draws what changed, or with `whole` everything.
  draw(run, view, look, whole) {
    const models = view.phase < MOVED && run.last ? run.before : run.models;
    const [cells, points, top] = [this.cells, this.points, this.top].map((canvas) => canvas.getContext("2d"));
    const vectors = run.vectors();
    top.clearRect(0, 0, this.top.width, this.top.height);
    if (whole) {
      cells.fillStyle = look.background;
      cells.fillRect(0, 0, this.cells.width, this.cells.height);
    }
    this.planes.forEach((plane, m) => {
      const box = this.boxes[m], changed = plane.follow(models[m], vectors, run.features), { codes } = plane;
      const focusCode = view.focus === null ? null : codes[view.focus];
      if (whole || changed) {
        drawCells(cells, box, plane, bucketsOf(codes, run.labels), focusCode, run.features.linear, look);
      }
      if (whole || run.params.drift || (changed && focusCode !== null)) {
        drawPoints(points, box, run.places(), run.labels, codes, focusCode, look);
      }
      inside(top, box, () => this.drawTop(top, box, run, m, view, look));
    });
  }

  drawTop(context, box, run, m, view, look) {
    const { last } = run, step = last && last.steps[m], plane = this.planes[m], places = run.places();
    if (step && step.tau > 0 && view.slow && view.phase > 0) {
      const earlier = view.phase < MOVED ? [] : step.bits.map((k) => plane.boundaryOf(run.before[m][k], run.features));
      drawMoves(context, box, step.bits.map((k) => plane.boundaries[k]), earlier, look);
    }
    if (last && view.showPair) drawPair(context, box, places, last, view.slow, look);
    if (step && step.tau > 0 && view.phase === 2 && run.features.linear) {
      const arrows = step.bits.map((k) => ({ k, place: places[step.onI[k] ? last.i : last.j] }));
      drawSides(context, box, plane.columns, arrows, look);
    }
    if (view.focus !== null) drawRing(context, box, places[view.focus], radiusIn(box) + 4, look.ink);
    if (view.brush) drawRing(context, box, view.brush.place, view.brush.radius, view.brush.colour);
  }
}
