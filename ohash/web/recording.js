// Shows one moment of a recorded run, and plays them.

(() => {
  const find = (selector) => document.querySelector(selector);
  const { texts, items, frames } = JSON.parse(find(".recording").textContent);
  const [scrub, says, play, look] = [".scrub", ".says", ".play", ".look"].map(find);
  const last = frames.length - 1;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const narrow = matchMedia("(max-width: 40rem)"); // where wide drawings would have tiny type
  const over = find(".continuation");
  let at = last, timer = 0, leave = () => {};

  function element(name, properties = {}, children = []) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function picture(row, alt) {
    const { name, picture: src } = items[row];
    return src ? element("img", { src, alt }) : element("span", { className: "word", textContent: name });
  }

  function listItem(row, distance, sign, words, role) {
    const label = element("span", {}, [element("b", { textContent: sign, title: words }), ` ${distance}`]);
    const item = element("li", {}, [picture(row, `${items[row].name}: ${words}`), label]);
    item.dataset.role = role;
    return item;
  }

  // A line of SVG; a narrow picture has the curves of the wide one, with other axes.
  function lineOf(line) {
    if (!Array.isArray(line)) return texts[line];
    const [number, across, right, up, down] = line;
    const move = (_, x, y) => `${(across * x + right).toFixed(2)} ${(up * y + down).toFixed(2)}`;
    return texts[number].replace(/ d="[^"]*"/g, (points) => points.replace(/(-?[\d.]+) (-?[\d.]+)/g, move));
  }

  function draw() {
    const { pairs, says: words, charts, gallery } = frames[at];
    const count = `${pairs.toLocaleString("en")} pair${pairs === 1 ? "" : "s"}`;
    scrub.value = at;
    scrub.setAttribute("aria-valuetext", count);
    find(".pairs").textContent = count;
    says.textContent = words;
    for (const [name, { title, caption, ...svg }] of Object.entries(charts)) {
      const figure = find(`[data-chart=${name}]`);
      figure.querySelector("figcaption").textContent = title;
      figure.querySelector(".picture").innerHTML = svg[narrow.matches ? "narrow" : "wide"].map(lineOf).join("\n");
      figure.querySelector("p").textContent = texts[caption];
    }
    find(".right").textContent = gallery.right && `(${gallery.right})`;
    find(".note").textContent = gallery.note;
    const query = element("li", {}, [picture(gallery.query, items[gallery.query].name), "query"]);
    find(".gallery").replaceChildren(query, ...gallery.items.map((item) => listItem(...item)));
  }

  function show(moment) {
    at = Math.min(last, Math.max(0, moment));
    draw();
    leave(at);
  }

  function setPlaying(on) {
    clearInterval(timer);
    timer = on ? setInterval(step, calm.matches ? 1500 : 300) : 0;
    play.textContent = on ? "Pause" : "Play";
    says.setAttribute("aria-live", on ? "off" : "polite"); // nobody can listen to three sentences a second
  }

  function step() {
    show(at + 1);
    if (at === last) setPlaying(false);
  }

  function toggle() {
    if (!timer && at === last) show(0);
    setPlaying(!timer);
  }

  function goTo(moment) {
    setPlaying(false);
    show(moment);
  }

  const KEYS = {
    ArrowLeft: () => goTo(at - 1), ArrowDown: () => goTo(at - 1), ArrowRight: () => goTo(at + 1),
    ArrowUp: () => goTo(at + 1), Home: () => goTo(0), End: () => goTo(last), " ": toggle,
  };

  document.addEventListener("keydown", (event) => {
    const own = event.target.closest(event.key === " " ? "button" : ".knobs input"); // the browser does it itself
    if (own || !KEYS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  scrub.addEventListener("input", () => goTo(Number(scrub.value)));
  play.addEventListener("click", toggle);
  narrow.addEventListener("change", draw); // what has been taken over goes on

  const { style } = document.documentElement;
  let dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const nameOther = () => { look.textContent = dark ? "Light" : "Dark"; };
  look.addEventListener("click", () => {
    dark = !dark;
    style.colorScheme = dark ? "dark" : "light";
    nameOther();
  });
  nameOther();
  if (over) leave = mountTakeOver(JSON.parse(over.textContent), () => at, () => setPlaying(false));
  show(last);
})();
