// The planes of all models on three canvases above each other; what did not change is not drawn again.

const PHASES = ["The pair", "Which bits", "Which side", "How far"]; // of one update
const MOVED = PHASES.length - 1;
const GAP = 6; // pixels between two planes
const HEADROOM = 250; // pixels of the window for what stands above and below, unless a host has more
const AROUND = 75; // of the tools and the hint alone

// All elements around one, also beyond the root of its shadow.
function outerElements(element) {
  const outer = element.parentElement ?? element.getRootNode().host;
  return outer ? [outer, ...outerElements(outer)] : [];
}

class Canvases {
  constructor(element) {
    this.element = element;
    [this.cells, this.points, this.top] = ["cells", "points", "plane"].map((name) => element.querySelector(`.${name}`));
    this.cells.getContext("2d", { alpha: false }); // opaque: cheaper to lay under the others
    this.boxes = [];
  }

  // Makes room for T planes side by side; an element that is not shown yet has none. With `type`, how much larger than
  // usual type is, they fill the window down to its lower edge.
  fit(r, T, type = 0) {
    const headroom = parseFloat(getComputedStyle(this.element).getPropertyValue("--ohash-headroom")) || HEADROOM;
    this.fittedEdge = this.upperEdge();
    const around = type ? this.fittedEdge + AROUND * type : headroom;
    const width = this.element.clientWidth, roof = Math.max(300, window.innerHeight - around);
    const side = Math.floor(T === 2 ? Math.min(width, 2 * roof) : Math.min(width, roof));
    const size = T === 1 ? side : (side - GAP) / 2, next = size + GAP, height = T === 2 ? Math.ceil(size) : side;
    this.planes = [...Array(T)].map(() => new Plane(r, size > 330 ? 121 : 81));
    this.boxes = this.planes.map((_, m) => ({ x: (m % 2) * next, y: Math.floor(m / 2) * next, size }));
    if (side <= 0) this.boxes = [];
    else for (const canvas of [this.cells, this.points, this.top]) fitCanvas(canvas, side, height);
  }

  // How far the planes begin below the upper edge of an unscrolled window.
  upperEdge() {
    const scrolled = outerElements(this.element).reduce((sum, outer) => sum + outer.scrollTop, 0);
    return this.element.getBoundingClientRect().top + scrolled;
  }

  hasMoved() { return Math.abs(this.upperEdge() - this.fittedEdge) > 1; }

  // The model whose plane lies under an event, and the place there.
  placeOf(event) {
    const { left, top } = this.top.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top;
    const within = (box) => x >= box.x && x <= box.x + box.size && y >= box.y && y <= box.y + box.size;
    const m = this.boxes.findIndex(within), box = this.boxes[m];
    if (!box) return null;
    const scale = 2 * HALF / box.size;
    return { m, place: [(x - box.x) * scale - HALF, HALF - (y - box.y) * scale] };
  }

  // The codes of the points by each model.
  codes(run) {
    this.planes.forEach((plane, m) => plane.follow(run.models[m], run.vectors(), run.features));
    return this.planes.map((plane) => plane.codes);
  }

  // Draws what changed, or with `whole` everything.
  draw(run, view, look, whole) {
    const [cells, points, top] = [this.cells, this.points, this.top].map((canvas) => canvas.getContext("2d"));
    const codes = this.codes(run);
    top.clearRect(0, 0, this.top.width, this.top.height);
    if (whole) {
      cells.fillStyle = look.background;
      cells.fillRect(0, 0, this.cells.width, this.cells.height);
    }
    this.planes.forEach((plane, m) => {
      const box = this.boxes[m], focusCode = view.focus === null ? null : codes[m][view.focus];
      if (whole || run.params.drift || (plane.changed && focusCode !== null)) {
        drawPoints(points, box, run.places(), run.labels, codes[m], focusCode, look);
      }
      if (whole || plane.changed) {
        const { linear } = run.features, named = this.planes.length > 1;
        drawCells(cells, box, plane, bucketsOf(codes[m], run.labels), focusCode, { linear, named }, look);
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
    if (view.pair && view.showPair) drawPair(context, box, places, view.pair, view.slow, look);
    if (step && step.tau > 0 && view.phase === 2) {
      const arrows = step.bits.map((k) => ({ k, place: places[step.onI[k] ? last.i : last.j] }));
      if (run.features.linear) drawSides(context, box, plane.columns, arrows, look);
      else for (const { place } of arrows) drawRing(context, box, place, radiusIn(box) + 8, look.ink);
    }
    if (view.focus !== null) drawRing(context, box, places[view.focus], radiusIn(box) + 4, look.ink);
    if (view.brush) drawRing(context, box, view.brush.place, view.brush.radius, view.brush.colour);
    if (this.planes.length > 1) drawName(context, box, `Model ${m + 1}`, look);
  }
}
