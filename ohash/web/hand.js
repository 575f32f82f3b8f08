// What the pointer and the keys do in the picture: look at a point and drag it, paint points of a class, erase them.

const GRAB = 0.1; // how near a press must be to a point to take hold of it
const SLACK = 4; // pixels that a press may wander without dragging
const ERASER = 0.09;
const SPACING = 0.09; // between the points of one stroke
const NUDGE = 0.05; // by one press of a key

// The nearest point to a place, and how far away it is.
function nearestPoint(places, [x, y]) {
  let best = null, least = Infinity;
  places.forEach(([u, v], at) => {
    const distance = Math.hypot(u - x, v - y);
    if (distance < least) [best, least] = [at, distance];
  });
  return { at: best, distance: least };
}

// `playground` has run, view, look, edit(key, text), aim(m, at), notify(words), refresh(), and hold(on), which lets the
// stream wait.
class Hand {
  constructor(canvases, playground) {
    [this.canvases, this.playground] = [canvases, playground];
    this.tool = "look";
    this.held = null; // a point, where it was pressed, and how far the pointer was from it
    this.stroke = null; // the latest place that was painted
    this.pressed = false;
    const canvas = canvases.top, on = (name, act, options) => canvas.addEventListener(name, act, options);
    on("pointermove", (event) => this.move(event));
    on("pointerdown", (event) => this.press(event));
    for (const name of ["pointerup", "pointercancel"]) on(name, () => this.release());
    on("pointerleave", (event) => { if (!this.pressed && event.pointerType !== "touch") this.leave(); });
    on("blur", () => this.leave());
    // A finger scrolls the page unless it has something to hold.
    const keep = (event) => { if (this.tool !== "look" || this.grabs(event.touches[0])) event.preventDefault(); };
    on("touchstart", keep, { passive: false });
  }

  get run() { return this.playground.run; }

  choose(tool) {
    this.tool = tool;
    this.leave();
  }

  get paints() { return /^\d$/.test(this.tool); }

  // A place on the plane as it lies now, in the coordinates that points have.
  unturned(place) { return rotate(place, -this.run.angle); }

  // The point under an event, if there is one, as it would be held.
  grabs(event) {
    if (this.playground.free) return null; // a lesson has locked the points
    const hit = this.canvases.placeOf(event), places = this.run.places();
    const { at, distance } = hit ? nearestPoint(places, hit.place) : { at: null };
    if (at === null || distance > GRAB) return null;
    const offset = places[at].map((v, k) => v - hit.place[k]);
    return { at, offset, from: [event.clientX, event.clientY], moved: false };
  }

  press(event) {
    const hit = this.canvases.placeOf(event);
    if (!hit || event.button > 0) return;
    this.pressed = true;
    this.held = this.tool === "look" ? this.grabs(event) : null;
    if (this.tool !== "look" || this.held !== null) {
      this.canvases.top.setPointerCapture(event.pointerId);
      this.playground.hold(true);
    }
    this.stroke = null;
    this.move(event);
  }

  move(event) {
    const hit = this.canvases.placeOf(event);
    if (!hit) { if (!this.pressed) this.leave(); return; }
    if (this.tool !== "look") this.showBrush(hit.place);
    if (!this.pressed && this.tool !== "look") return;
    if (this.paints) this.paint(hit.place);
    else if (this.tool === "erase") this.erase(hit.place);
    else {
      if (this.held) this.drag(event, hit.place);
      this.playground.aim(hit.m, this.held ? this.held.at : nearestPoint(this.run.places(), hit.place).at);
    }
  }

  drag(event, place) {
    const { at, from, offset } = this.held;
    this.held.moved ||= Math.hypot(event.clientX - from[0], event.clientY - from[1]) > SLACK;
    if (this.held.moved) this.moveTo(at, place.map((v, k) => v + offset[k]));
  }

  moveTo(at, place) { this.playground.edit("move", `${at}.${placeText(this.unturned(place))}`); }

  release() {
    this.pressed = false;
    this.held = null;
    this.playground.hold(false);
  }

  leave() {
    this.playground.view.brush = null;
    this.playground.aim(this.playground.view.model, null);
    this.playground.refresh();
  }

  paint(place) {
    if (this.stroke && Math.hypot(place[0] - this.stroke[0], place[1] - this.stroke[1]) < SPACING) return;
    this.stroke = place;
    if (this.run.labels.length >= MAX_POINTS) {
      this.playground.notify(`There are at most ${MAX_POINTS} points; erase some.`);
      return;
    }
    this.playground.edit("paint", `${this.tool}${placeText(this.unturned(place))}`);
  }

  erase(place) {
    for (;;) {
      const { at, distance } = nearestPoint(this.run.places(), place);
      if (at === null || distance > ERASER) return;
      this.playground.edit("erase", String(at));
    }
  }

  showBrush(place) {
    const { view, look } = this.playground, scale = this.canvases.boxes[0].size / (2 * HALF);
    const [radius, colour] = this.paints ? [7, look.classes[Number(this.tool)]] : [ERASER * scale, look.ink];
    view.brush = { place, radius, colour };
    this.playground.refresh();
  }

  // Keys: up and down choose a point, Shift and an arrow move it, Delete erases it. With a brush or the eraser the
  // arrows move it, and Enter uses it. True if the key had a meaning.
  key(event) {
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const shift = (place) => place.map((v, k) => Math.min(HALF, Math.max(-HALF, v + NUDGE * way[k])));
    const { view } = this.playground;
    if (event.key === "Escape") this.leave();
    else if (this.playground.free && (event.key === "Delete" || event.shiftKey)) return false;
    else if (this.tool !== "look") {
      const place = view.brush?.place ?? [0, 0];
      if (way) this.showBrush(shift(place));
      else if (event.key !== "Enter") return false;
      else if (this.paints) { this.stroke = null; this.paint(place); } else this.erase(place);
    } else if (event.key === "Delete" && view.focus !== null) this.playground.edit("erase", String(view.focus));
    else if (way && event.shiftKey && view.focus !== null) {
      this.moveTo(view.focus, shift(this.run.places()[view.focus]));
    } else if (way && way[1] && !event.shiftKey && this.run.labels.length) {
      const n = this.run.labels.length, next = view.focus === null ? 0 : view.focus - way[1];
      this.playground.aim(view.model, (next + n) % n);
    } else return false;
    return true;
  }
}
