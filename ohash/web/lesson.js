// A lesson in present mode: the choices that its question has, and after a choice the answer. `lessons` holds them by the
// name of their scene, with options, the right one, and the answer.

function makeLesson(element, lessons) {
  const box = make("div", { className: "lesson", hidden: true });
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Predict first");
  element.prepend(box);
  let shown = "";
  const ask = ({ options, right, answer }) => box.replaceChildren(...options.map((option) => {
    const button = make("button", { type: "button", textContent: option });
    button.addEventListener("click", () => tell(option === right ? "Right." : `Not quite: ${right}.`, answer));
    return button;
  }));
  const tell = (verdict, answer) => {
    const words = make("p", { tabIndex: -1 }, make("b", { textContent: verdict }), " ", ...withItalics(answer));
    box.replaceChildren(words);
    words.focus({ preventScroll: true });
  };
  // The lesson of a scene, asked again if `anew`; that of no lesson is none.
  return (scene, anew = false) => {
    if (scene === shown && !anew) return;
    shown = scene;
    box.hidden = !lessons[scene];
    if (lessons[scene]) ask(lessons[scene]);
  };
}

// A text as nodes, with its cards; what stands between stars, the name of a control, is in italics.
function withItalics(text) {
  const met = new Set();
  const parts = text.split(/\*{1,2}([^*]+)\*{1,2}/);
  return parts.flatMap((part, at) => (at % 2 ? make("i", { textContent: part }) : withCards(part, met)));
}
