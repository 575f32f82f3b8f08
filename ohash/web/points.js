// Points in the plane with a class each: the data sets, and edits by hand.

const HALF = 1.6; // the plane shown is [-HALF, HALF]²
const N_POINTS = 200; // of a data set
const MAX_POINTS = 400; // with those painted
const N_CLASSES = 4;

// `drift` is what the control of this name starts with. Live draws the same points: ohash/streams/datasets/playground.py.
const SHAPES = {
  blobs: { title: "Four blobs", classes: 4,
    point: (c, u, normal) => {
      const centre = [[-0.8, 0.7], [0.75, 0.8], [-0.7, -0.75], [0.8, -0.7]][c];
      return centre.map((v) => v + 0.24 * normal());
    } },
  moons: { title: "Two moons", classes: 2, point: (c, u, normal) => {
    const angle = Math.PI * u(), x = Math.cos(angle) - 0.5, y = Math.sin(angle) - 0.25;
    return [c ? -x : x, c ? -y : y].map((v) => 0.9 * v + 0.09 * normal());
  } },
  rings: { title: "A ring in a ring", classes: 2, point: (c, u, normal) => {
    const angle = 2 * Math.PI * u(), radius = (c ? 1.15 : 0.4) + 0.08 * normal();
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  } },
  xor: { title: "XOR", classes: 2, point: (c, u) => {
    const x = (u() < 0.5 ? -1 : 1) * (0.12 + 1.1 * u()), y = 0.12 + 1.1 * u();
    return [x, (x > 0) === (c === 0) ? y : -y];
  } },
  spirals: { title: "Two spirals", classes: 2, point: (c, u, normal) => {
    const way = 0.15 + 0.85 * Math.sqrt(u()), angle = 3 * Math.PI * way + Math.PI * c;
    return [1.35 * way * Math.cos(angle) + 0.04 * normal(), 1.35 * way * Math.sin(angle) + 0.04 * normal()];
  } },
  drift: { title: "Two drifting clouds", classes: 2, drift: 6, point: (c, u, normal) => [
    (c ? 0.75 : -0.75) + 0.26 * normal(), 0.26 * normal()] },
  own: { title: "Your own points", classes: 0 },
};

function makePoints(data, { u, normal }) {
  const { classes, point } = SHAPES[data];
  const labels = [...Array(classes ? N_POINTS : 0).keys()].map((k) => k % classes);
  return { labels, places: labels.map((c) => point(c, u, normal)) };
}

function rotate([x, y], angle) {
  const cos = Math.cos(angle), sin = Math.sin(angle);
  return [cos * x - sin * y, sin * x + cos * y];
}

// A place as four characters of a link: two for each coordinate, in 36² steps over [-REACH, REACH]. The plane turns
// as it drifts, so that a place shown may have coordinates beyond HALF.
const REACH = 1.5 * HALF;
const PLACE_STEPS = 36 ** 2 - 1;

function placeText(place) {
  return place.map((v) => {
    const step = Math.round((Math.min(REACH, Math.max(-REACH, v)) + REACH) / (2 * REACH) * PLACE_STEPS);
    return step.toString(36).padStart(2, "0");
  }).join("");
}

function readPlace(text) {
  return [text.slice(0, 2), text.slice(2)].map((part) => parseInt(part, 36) / PLACE_STEPS * 2 * REACH - REACH);
}

// An edit in a link is a word and a text: `paint` a class and places, `move` a point and its place, `erase` a point.
// The result is new points; the old ones stay as they are. What is impossible changes nothing.
const EDITS = {
  paint: { pattern: /^[0-3](?:[0-9a-z]{4})+$/, edit: ({ places, labels }, text) => {
    const added = text.slice(1).match(/.{4}/g).map(readPlace).slice(0, Math.max(0, MAX_POINTS - places.length));
    return { places: [...places, ...added], labels: [...labels, ...added.map(() => +text[0])] };
  } },
  move: { pattern: /^\d+\.[0-9a-z]{4}$/, edit: ({ places, labels }, text) => {
    const [at, place] = text.split(".");
    return { places: places.map((old, k) => (k === +at ? readPlace(place) : old)), labels };
  } },
  erase: { pattern: /^\d+$/, edit: ({ places, labels }, text) => {
    const others = (_, k) => k !== +text;
    return { places: places.filter(others), labels: labels.filter(others) };
  } },
};

// Adds an edit to the events of a link: a stroke of one colour, or the way of one point, is one event.
function addEdit(events, t, key, value) {
  const last = events[events.length - 1], same = last && last[0] === t && last[1] === key;
  if (same && key === "paint" && last[2][0] === value[0]) last[2] += value.slice(1);
  else if (same && key === "move" && last[2].split(".")[0] === value.split(".")[0]) last[2] = value;
  else events.push([t, key, value]);
}
