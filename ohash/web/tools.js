// The choice of what the pointer does in the picture, as radio buttons.

const TOOLS = [
  { key: "look", title: "Look and drag", text: "Look, drag" },
  ...CLASS_ROLES.map((_, label) => ({ key: String(label), title: `Paint class ${label + 1}`, label })),
  { key: "erase", title: "Erase", text: "Erase" },
];
const SIGN = 22; // pixels along each side of a painted sign

// `colour` paints the signs of the classes, `select` chooses a tool, `lock` leaves only looking.
function makeTools(element, choose) {
  const signs = [], inputs = {}, name = `tool-${Math.random()}`; // a notebook may have several playgrounds
  for (const { key, title, text, label } of TOOLS) {
    const input = make("input", { type: "radio", name, value: key, checked: key === "look" });
    input.setAttribute("aria-label", title);
    input.addEventListener("change", () => choose(key));
    const sign = text ?? make("canvas");
    inputs[key] = input;
    if (!text) signs.push({ sign, label });
    element.append(make("label", { title }, input, sign));
  }
  const colour = (look) => signs.forEach(({ sign, label }) => {
    fitCanvas(sign, SIGN, SIGN);
    const context = sign.getContext("2d");
    markPath(context, label, SIGN / 2, SIGN / 2, 6.5);
    context.fillStyle = look.classes[label];
    context.fill();
  });
  const select = (key) => {
    inputs[key].checked = true;
    choose(key);
  };
  const lock = (on) => {
    for (const key of Object.keys(inputs)) inputs[key].disabled = on && key !== "look";
    if (on) select("look");
  };
  return { colour, select, lock };
}
