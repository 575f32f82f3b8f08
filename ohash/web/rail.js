// The settings: a list, a slider or a number for each control.

function makeRail(element, choose) {
  const inputs = CONTROLS.map((control) => {
    const input = makeInput(control), shown = make("b");
    const event = control.options || control.number ? "change" : "input";
    input.addEventListener(event, () => choose(control, fromInput(control, input.value)));
    const label = make("label", {}, make("span", { textContent: control.title }), shown, input);
    if (control.help) label.append(make("small", { textContent: control.help }));
    element.append(label);
    return { control, input, shown };
  });
  return (params) => {
    for (const { control, input, shown } of inputs) {
      const value = params[control.key];
      input.value = toInput(control, value);
      if (control.options || control.number) continue;
      shown.textContent = control.key === "noise" ? percent(value) : String(+value.toPrecision(3));
      input.setAttribute("aria-valuetext", shown.textContent);
    }
  };
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
