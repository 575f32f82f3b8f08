// The clock and the buttons. `mountPlayground` puts a playground into an element;
// a host says where its link is kept (`address`), where the Live page is (`live`), what it starts with (`start`),
// whether keys that are pressed nowhere in particular are meant for it (`everywhere`), whether the address may change
// while it plays (`notes`): not in a class, which would be sent to the lecturer's again and again; whether its address is
// that of a lecturer (`follows`), which it leaves as it is while it plays; and the lessons that it asks in present mode
// (`lessons`).

const FRAME_MS = 9; // learning may take this much of a frame
const N_SAMPLES = 30; // of the agreement, on the way to the moment that a link names
const TELL_MS = 100; // how often, while it plays, it is measured, and segment, words, numbers and charts change
const SLOW = 10, FAST = 100; // pairs per second: up to the one each pair is told, beyond the other none is drawn
const NOTE_MS = 1000; // how often the address follows it

function mountPlayground(root, colours, {
  address = "fragment", live = null, start = null, everywhere = () => false, notes = () => true, follows = () => false,
  lessons = {},
} = {}) {
  listenForCards(root);
  const host = { everywhere, notes, follows };
  const playground = new Playground(root, colours, ADDRESSES[address], live, host, lessons);
  playground.open(start ?? playground.address.read());
  return () => playground.stop();
}

class Playground {
  constructor(root, colours, address, live, host, lessons) {
    Object.assign(this, { colours, address, ...host, home: location.pathname });
    this.find = (selector) => root.querySelector(selector);
    this.element = this.find(".playground");
    this.charts = [...root.querySelectorAll(".side canvas")];
    this.view = { focus: null, model: 0, phase: MOVED, showPair: true, slow: true, brush: null, notice: "", pair: null };
    Object.assign(this, { run: null, free: null, playing: false, held: false, stale: true, whole: true });
    Object.assign(this, { owed: 0, frameAt: 0, toldAt: 0, drawnAt: 0, frames: 0, timer: 0 });
    Object.assign(this, { notedAt: 0, followed: "" }); // when the address was last written, and what was opened of it
    this.canvases = new Canvases(this.find(".canvases"));
    this.hand = new Hand(this.canvases, this);
    const choose = (control, value) => this.choose(control, value);
    this.rail = makeRail(this.find(".rail"), choose, () => this.setFree(null));
    this.showLesson = makeLesson(this.find(".rail"), lessons);
    this.tools = makeTools(this.find(".tools"), (tool) => this.hand.choose(tool));
    this.showLive = live ? makeLiveLinks(this.find(".elsewhere"), live) : () => {};
    this.find("[data-press=link]").textContent = address.title;
    this.readLook();
    this.listen();
    this.element.playground = this; // for tests and benchmarks
  }

  listen() {
    this.find(".bar").addEventListener("click", (event) => {
      const button = event.target.closest("[data-press]");
      if (button) this[button.dataset.press](button);
    });
    this.scrub = this.find(".scrub");
    this.scrub.addEventListener("input", () => this.goTo(Number(this.scrub.value)));
    this.element.addEventListener("keydown", (event) => this.key(event));
    // a press on an empty place gives Streamlit's <main> the focus, one on a scene its link
    this.keyElsewhere = (event) => {
      if (event.target.matches?.("body, main, a, button") && this.everywhere()) this.key(event);
    };
    document.addEventListener("keydown", this.keyElsewhere);
    this.follow = () => {
      const link = this.address.read();
      if (!this.element.isConnected) return;
      const strays = strayKeys(this.address.fragment());
      if (strays.length) this.notify(linkWords(strays));
      if (!isLink(location.hash) || !isLink(link)) return;
      this.followed = link;
      this.showLesson(this.scene());
      if (link.slice(1) !== this.text()) this.open(link);
      this.comeIntoView();
    };
    window.addEventListener("hashchange", this.follow);
    this.openAddress = () => { if (this.element.isConnected) this.open(this.address.read()); };
    window.addEventListener("ohash-place", this.openAddress); // a class was sent to another address of this page
    this.refit = () => this.resize();
    this.observer = new ResizeObserver(this.refit);
    this.observer.observe(this.find(".canvases"));
    // on a stage the planes fill the window below what stands above them, which may wrap after they were drawn
    this.shift = new ResizeObserver(() => {
      if (this.everywhere() && this.canvases.hasMoved()) requestAnimationFrame(this.refit);
    });
    for (const outer of outerElements(this.element)) this.shift.observe(outer);
    window.addEventListener("resize", this.refit); // a higher window is no larger element
    const tick = (now) => { this.frame = requestAnimationFrame(tick); this.tick(now); };
    this.frame = requestAnimationFrame(tick);
  }

  stop() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.observer.disconnect();
    this.shift.disconnect();
    window.removeEventListener("resize", this.refit);
    window.removeEventListener("hashchange", this.follow);
    window.removeEventListener("ohash-place", this.openAddress);
    document.removeEventListener("keydown", this.keyElsewhere);
  }

  // Shows what a link says; without a moment to stop at, it plays.
  open(text) {
    const { params, events, at, problems, free, paused } = readLink(text);
    this.followed = text;
    this.showLesson(this.scene(), true);
    const waits = paused && !this.address.wasPlaying(text);
    this.begin(params, events, at);
    this.setFree(free);
    this.view.notice = linkWords([...problems, ...strayKeys(this.address.fragment())]);
    this.setPlaying(!waits && !matchMedia("(prefers-reduced-motion: reduce)").matches);
    this.describe(true);
  }

  // Whoever followed a link of a lesson sees what it set: on a phone the picture lies under the lesson.
  comeIntoView() {
    if (this.everywhere()) return; // in present mode all of it is on the screen
    if (this.find(".planes").getBoundingClientRect().bottom > innerHeight) this.element.scrollIntoView();
  }

  // What is presented, as the address names it.
  scene() { return this.everywhere() ? new URLSearchParams(location.search).get("present") ?? "" : ""; }

  begin(params, events = [], at = 0) {
    this.run = new PlaygroundRun(params, events);
    const samples = Math.min(at, N_SAMPLES);
    for (let k = 1; k <= samples; k++) this.run.seek(Math.round(at * k / samples)); // and measure there
    Object.assign(this.view, { focus: null, model: 0, phase: MOVED, pair: null });
    this.resize();
    this.rail.show(this.run.params);
    this.describe(true);
  }

  readLook() {
    const look = chooseLook(this.element, this.colours);
    if (this.look && this.look.theme === look.theme && this.look.type === look.type) return;
    this.look = look;
    for (const name of ["ink", "faint", "grid"]) this.element.style.setProperty(`--${name}`, look[name]);
    this.element.style.setProperty("--blue", look.roles.now);
    this.element.style.setProperty("--ground", look.background);
    this.tools.colour(look);
    this.resize();
    this.refresh();
  }

  resize() {
    if (!this.run) return;
    this.element.classList.toggle("presents", Boolean(this.everywhere()));
    this.showLesson(this.scene());
    this.canvases.fit(this.run.params.r, this.run.params.T, this.everywhere() ? this.look.type : 0);
    for (const canvas of this.charts) canvas.style.width = canvas.style.height = "";
    for (const canvas of this.charts) fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight);
    this.refresh();
  }

  refresh() { this.stale = this.whole = true; }

  // One frame: pairs that are due, then what changed.
  tick(now) {
    if (document.hidden || !this.element.isConnected) return;
    if (this.playing && !this.held) {
      this.learnDue(now);
      if (now - this.notedAt > NOTE_MS) this.note(now);
    }
    this.frameAt = now;
    const due = now - this.toldAt > TELL_MS;
    if (due) this.readLook();
    if (this.stale && this.canvases.boxes.length) this.draw(due || !this.playing || this.run.params.pace <= SLOW, now);
    else if (due) this.toldAt = now;
    this.frames += 1;
  }

  learnDue(now) {
    this.owed = Math.min(this.owed + this.run.params.pace * Math.min(100, now - this.frameAt) / 1000, 400);
    const from = performance.now(), { happened } = this.run;
    while (this.owed >= 1 && performance.now() - from < FRAME_MS) {
      this.owed -= 1;
      if (this.run.learn()) this.stale = true;
    }
    if (this.run.happened > happened) this.rail.show(this.run.params); // changes seen again after going back
  }

  // What is shown: while the parts of an update are, the moment before it.
  get shown() { return this.view.phase < MOVED ? this.run.beforeLast() : this.run; }

  // The planes move in every frame. What is read changes less often, and all of it at once, so that segment, words,
  // numbers and charts are of one pair.
  draw(tells, now) {
    const { run, view, look, playing } = this;
    view.slow = !playing || run.params.pace <= SLOW;
    view.showPair = !playing || run.params.pace <= FAST;
    if (tells) view.pair = run.last;
    this.canvases.draw(this.shown, view, look, this.whole);
    [this.stale, this.whole] = [!tells, false]; // what was not told is due soon, also if no pair comes
    if (tells) {
      this.toldAt = now;
      if (playing) run.measureNow(this.canvases.codes(run));
      drawCharts(this.charts, this.shown, look);
      this.describe(!playing);
    }
    this.drawnAt = performance.now();
  }

  describe(aloud) {
    this.find(".pair").replaceChildren(...pairWords(this.run, this.view, this.look));
    report(this, aloud);
  }

  setPlaying(on) {
    this.playing = on;
    this.owed = 1;
    this.view.phase = MOVED;
    this.find("[data-press=play]").textContent = on ? "Pause" : "Play";
    this.refresh();
    this.remember();
    if (on) return;
    this.run.measureNow(); // while it played, it was measured only now and then
    this.address.keepPlaying(null);
  }

  remember() { // browsers limit how often an address may change
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.writeAddress(), 200);
  }

  // Not on the way to another page, whose address it is already, nor over a link that is about to be followed.
  writeAddress() {
    const followed = !this.address.pending() || location.hash === this.followed;
    if (!followed || !this.element.isConnected || location.pathname !== this.home) return;
    this.followed = "";
    if (this.playing && this.follows()) return;
    this.address.write(this.text());
    if (this.playing) this.address.keepPlaying(this.text());
  }

  // While it plays: a reload goes on from here.
  note(now) {
    this.notedAt = now;
    if (this.notes()) this.writeAddress();
  }

  text() { return writeLink(this.run, this.free, !this.playing); }

  // The settings that can be changed, null for all: a lesson may lock the others.
  setFree(free) {
    this.free = free;
    this.rail.lock(free);
    this.tools.lock(free !== null);
    this.remember();
  }

  goTo(t, phase = MOVED) {
    if (this.playing) this.setPlaying(false);
    this.run.seek(t);
    this.show(phase);
    this.rail.show(this.run.params);
  }

  show(phase) {
    this.view.phase = phase;
    if (this.view.focus >= this.run.labels.length) this.view.focus = null;
    this.refresh();
    this.remember();
  }

  // Buttons.
  play() { this.setPlaying(!this.playing); }

  step() { this.goTo(this.run.t + 1); }

  forward() {
    const { run, view } = this;
    if (run.last?.moved && view.phase < MOVED && !this.playing) this.show(view.phase + 1);
    else this.goTo(run.t + 1, 0);
    if (!run.last?.moved) view.phase = MOVED;
  }

  back() {
    const { run, view } = this;
    if (run.last?.moved && view.phase > 0 && !this.playing) this.show(view.phase - 1);
    else if (run.t > 0) this.goTo(run.t - 1);
  }

  over() {
    this.begin(this.run.params, this.edits());
    this.remember();
  }

  async link(button) {
    const link = this.text();
    this.address.write(link);
    let said = "Copied";
    try { await navigator.clipboard.writeText(this.address.copy(link)); } catch { said = this.address.otherwise; }
    button.textContent = said;
    setTimeout(() => { button.textContent = this.address.title; }, 1500);
  }

  // The points as they were painted and moved, for a new run.
  edits() {
    const { events, happened } = this.run;
    return events.slice(0, happened).filter(([, key]) => EDITS[key]).map(([, key, text]) => [0, key, text]);
  }

  choose(control, value) {
    const { run, view } = this;
    view.notice = "";
    if (control.key === "pace") run.params.pace = run.first.pace = value;
    else if (control.live) run.change(control.key, value);
    else if (control.key === "data") this.begin({ ...run.params, data: value, drift: defaultsFor(value).drift });
    else this.begin({ ...run.params, [control.key]: value }, this.edits());
    if (control.key === "data") this.tools.select(this.run.labels.length ? "look" : "0"); // a colour to paint with
    this.rail.show(this.run.params);
    this.refresh();
    this.remember();
  }

  // What the hand does.
  hold(on) {
    if (this.held && !on) this.remember();
    this.held = on;
  }

  notify(words) {
    [this.view.notice, this.toldAt] = [words, 0];
    this.refresh();
  }

  edit(key, text) {
    this.view.notice = "";
    this.run.change(key, text);
    if (key === "erase") this.view.focus = null;
    this.view.phase = MOVED;
    this.toldAt = 0;
    this.refresh();
    this.remember();
  }

  aim(m, focus) {
    if (this.view.focus === focus && this.view.model === m) return;
    [this.view.model, this.view.focus, this.toldAt] = [m, focus, 0];
    this.refresh();
  }

  key(event) {
    const inPicture = event.target === this.canvases.top, inControl = /^(INPUT|SELECT)$/.test(event.target.tagName);
    if (inControl || event.altKey || event.ctrlKey || event.metaKey) return;
    if (inPicture && this.hand.key(event)) ;
    else if ((inPicture || event.target.matches("body, main")) && event.key === " ") this.play();
    else if (event.key === "ArrowRight" && !event.shiftKey) this.forward();
    else if (event.key === "ArrowLeft" && !event.shiftKey) this.back();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
