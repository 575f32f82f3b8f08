// The settings: a list, a slider or a number for each control. `show` writes their values, `lock` disables all but
// those that a lesson leaves free and says so.

function makeRail(element, choose, unlock) {
  const words = make("span"), open = make("button", { type: "button", textContent: "Unlock all settings" });
  const notice = make("div", { className: "locked", hidden: true }, words, open);
  open.addEventListener("click", unlock);
  element.append(notice);
  const inputs = CONTROLS.map((control) => {
    const input = makeInput(control), shown = make("b");
    const event = control.options || control.number ? "change" : "input";
    input.addEventListener(event, () => choose(control, fromInput(control, input.value)));
    if (control.number) input.addEventListener("keydown", ({ key }) => { // in JupyterLab Enter alone changes nothing
      if (key !== "Enter") return;
      input.blur();
      input.focus();
    });
    const label = make("label", {}, make("span", {}, ...withCards(control.title)), shown, input);
    if (control.help) label.append(make("small", {}, ...withCards(control.help, new Set([control.title]))));
    element.append(label);
    return { control, input, shown };
  });
  const show = (params) => {
    for (const { control, input, shown } of inputs) {
      const value = params[control.key];
      input.value = toInput(control, value);
      if (control.options || control.number) continue;
      shown.textContent = control.key === "noise" ? percent(value) : settingWords(value);
      input.setAttribute("aria-valuetext", shown.textContent);
    }
  };
  const lock = (free) => {
    for (const { control, input } of inputs) input.disabled = isLocked(control.key, free);
    notice.hidden = free === null;
    if (free) words.textContent = lockWords(free);
  };
  return { show, lock };
}

function settingWords(value) { return (+value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 }); }

function isLocked(key, free) { return free !== null && key !== "pace" && !free.includes(key); }

function lockWords(free) {
  const names = CONTROLS.filter(({ key }) => key !== "pace" && free.includes(key)).map(({ title }) => title);
  if (!names.length) return "In this lesson you only watch: the points and all settings that change the run are locked.";
  return `In this lesson only ${names.join(" and ")} can be changed; the points and all other settings that change the run are locked.`;
}

function makeInput({ key, title, help, options, list, lo, hi, step, log, number }) {
  const input = make(options ? "select" : "input", { name: key });
  if (options) for (const [value, name] of options) input.add(new Option(name, value));
  else {
    const scale = (value) => (log ? Math.log10(value) : value);
    input.type = number ? "number" : "range";
    [input.min, input.max] = list ? [0, list.length - 1] : [scale(lo), scale(hi)];
    input.step = list ? 1 : step;
  }
  input.setAttribute("aria-label", title);
  if (help) input.setAttribute("aria-description", help);
  return input;
}

function toInput({ log, list }, value) { return log ? Math.log10(value) : list ? list.indexOf(value) : value; }

function fromInput(control, raw) {
  if (control.options) return raw;
  if (control.list) return control.list[raw];
  return control.log ? +(10 ** raw).toPrecision(2) : clamp(Number(raw) || 0, control);
}
