// Cards with the meaning of a term, from the glossary: one at a time, under the pointer, by keyboard or by touch.
// A term is an <abbr class="ohash-term"> whose aria-description is its meaning, also inside a component.

const TERM = new RegExp(`(?<![\\p{L}\\p{N}_@])(${Object.keys(GLOSSARY).sort((a, b) => b.length - a.length)
  .map((term) => term.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("|")})s?(?![\\p{L}\\p{N}_@])`, "u");

// A text as nodes, each term at its first place with its card.
function withCards(text, met = new Set()) {
  const nodes = [];
  let rest = text, plain = "";
  for (let match = TERM.exec(rest); match; match = TERM.exec(rest)) {
    const [shown, term] = match;
    plain += rest.slice(0, match.index);
    rest = rest.slice(match.index + shown.length);
    if (met.has(term)) { plain += shown; continue; }
    met.add(term);
    nodes.push(plain, termElement(shown, GLOSSARY[term]));
    plain = "";
  }
  return [...nodes, plain + rest].filter((node) => node !== "");
}

function termElement(shown, meaning) {
  const element = document.createElement("abbr");
  [element.className, element.tabIndex, element.textContent] = ["ohash-term", 0, shown];
  element.setAttribute("aria-description", meaning);
  element.style.cssText = "text-decoration: underline dotted; text-underline-offset: .2em; cursor: help";
  return element;
}

// Opens the cards of the terms in a root: the page, or a component, since the pointer's way from one element of a
// component to another is not told outside of it. One card serves the whole page.
function listenForCards(root = document) {
  window.ohashCards ??= makeCard();
  window.ohashCards(root);
}

// The card stands in the top layer of the page: no box around a term cuts it off.
function makeCard() {
  const card = document.createElement("div"), roots = new WeakSet();
  [card.className, card.popover] = ["ohash-card", "manual"];
  card.setAttribute("role", "tooltip");
  let focused = null;
  const isOpen = () => card.isConnected && card.matches(":popover-open");
  const close = () => { if (isOpen()) card.hidePopover(); };
  const open = (term) => {
    if (!card.isConnected) document.body.append(card);
    card.textContent = term.getAttribute("aria-description");
    card.style.cssText = cardStyle(getComputedStyle(term).color);
    if (!isOpen()) card.showPopover();
    const { left, top, bottom } = term.getBoundingClientRect(), { width, height } = card.getBoundingClientRect();
    card.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    card.style.top = `${bottom + height < innerHeight - 4 ? bottom : Math.max(4, top - height)}px`;
  };
  const termOf = (event) => event.composedPath()[0].closest?.(".ohash-term[aria-description]") ?? null;
  const point = (event) => {
    const term = termOf(event) ?? (focused?.isConnected ? focused : null);
    if (term) open(term);
    else if (event.target !== card) close(); // the pointer may go to the card, to read or to copy
  };
  const focus = (event) => {
    focused = termOf(event);
    if (focused) open(focused);
    else close();
  };
  const leave = () => { focused = null; close(); };
  const press = (event) => { // in a label a press would go on to its control, and close the card
    const term = termOf(event);
    if (!term?.closest("label")) return;
    event.preventDefault();
    focused = term;
    open(term);
  };
  document.addEventListener("scroll", close, true);
  window.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen()) return;
    event.stopImmediatePropagation(); // this key closes the card alone, not what stands behind it
    leave();
  }, true);
  return (root) => {
    if (roots.has(root)) return;
    roots.add(root);
    for (const [name, act] of [["pointerover", point], ["focusin", focus], ["focusout", leave], ["click", press]])
      root.addEventListener(name, act);
  };
}

// In the colours of the page, which the colour of its text tells.
function cardStyle(ink) {
  const [red, green, blue] = ink.match(/[\d.]+/g).map(Number), dark = red + green + blue > 382;
  return `position: fixed; inset: auto; margin: 0; max-width: min(26em, 90vw); padding: .5em .7em; border-radius: .4em;
    font: 400 max(14px, 1.06vw)/1.35 "Source Sans", "Source Sans Pro", system-ui, sans-serif; text-align: left;
    color: ${dark ? "#f4f1ea" : "#1f2430"}; background: ${dark ? "#2b2925" : "#fff"}; border: 1px solid #808590;
    box-shadow: 0 2px 10px rgba(0, 0, 0, .25)`;
}
