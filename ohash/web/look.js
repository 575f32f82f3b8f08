// Colours, marks and numbers as every picture has them.

const CLASS_ROLES = ["similar", "dissimilar", "bound", "distance"];

const parsed = new Map();

function rgb(hex) {
  if (!parsed.has(hex)) parsed.set(hex, [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return parsed.get(hex);
}

function mix(over, under, share) {
  const a = rgb(over), b = rgb(under);
  return a.map((v, k) => Math.round(share * v + (1 - share) * b[k]));
}

const USUAL_TYPE = 14; // pixels

// The colours for an element: its text is light where its ground is dark. Outside of a page text has no colour.
function chooseLook(element, colours) {
  const numbers = getComputedStyle(element.parentElement).color.match(/[\d.]+/g) ?? [0, 0, 0];
  const [red, green, blue] = numbers.map(Number);
  const theme = colours[red + green + blue > 384 ? "dark" : "light"];
  const { fontFamily, fontSize } = getComputedStyle(element);
  const type = (parseFloat(fontSize) || USUAL_TYPE) / USUAL_TYPE; // pictures are drawn as much larger
  return { ...theme, theme, font: fontFamily, type, label: type > 1 ? 14 : 11,
    line: `rgb(${mix(theme.ink, theme.background, 0.55)})`, classes: CLASS_ROLES.map((role) => theme.roles[role]) };
}

const CORNERS = { 2: [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]], 3: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]] };

// Adds a class's mark to the path: circle, square, triangle, diamond.
function addMark(context, label, x, y, radius) {
  if (label === 0) {
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  } else if (label === 1) context.rect(x - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius);
  else {
    CORNERS[label].forEach(([dx, dy], k) => context[k ? "lineTo" : "moveTo"](x + dx * radius, y + dy * radius));
    context.closePath();
  }
}

function markPath(context, label, x, y, radius) {
  context.beginPath();
  addMark(context, label, x, y, radius);
}

// A canvas of this many CSS pixels, sharp on every screen.
function fitCanvas(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
}

function shortNumber(v) {
  if (v === 0) return "0";
  if (Math.abs(v) >= 10000) return `${Math.round(v / 1000)}k`;
  return Math.abs(v) >= 100 ? Math.round(v).toLocaleString("en") : String(+v.toPrecision(2));
}
