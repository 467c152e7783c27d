// The answer to "Why?": a dialog that explains the state of a region or a beacon, and updates while it is open.

import { get, query } from "./api.js";
import { el, patch, patchFacts, poll, problemNode, text } from "./dom.js";

/** Opens the dialog for `{ region: NAME }` or `{ beacon: UUID/MAJOR/MINOR }`. */
export function why(subject) {
  const opener = document.activeElement;
  const heading = el("h2", { id: "why-title" }, "Why?");
  const fault = problemNode();
  const sentences = el("div.why-sentences");
  const list = el("dl.facts");
  const close = el("button", { type: "button", autofocus: true, click: () => dialog.close() }, "Close");
  const dialog = el("dialog.dialog.why.passing", { "aria-labelledby": "why-title", "aria-describedby": "why-text" },
    heading, fault, el("div", { id: "why-text" }, sentences), list,
    el("div.actions", null, subject.beacon ? el("a", { href: `#/history/${subject.beacon}` }, "What was heard of it") : null, close));
  const end = poll(async () => {
    const answer = await get(`v1/why${query(subject)}`);
    text(heading, answer.title);
    const numbered = answer.sentences.map((sentence, index) => ({ sentence, index }));
    patch(sentences, numbered, (item) => item.index, () => el("p"), (node, item) => text(node, item.sentence));
    patchFacts(list, answer.facts.map((fact) => [fact.label, fact.value]));
  }, 2000, fault);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    end();
    dialog.remove();
    opener?.focus?.({ preventScroll: true });
  });
  document.getElementById("dialogs").append(dialog);
  dialog.showModal();
}

/** Creates a button that opens the dialog. Screen readers announce the subject. */
export function whyButton(subject, name) {
  return el("button.small.why-button", { type: "button", "aria-label": `Why? ${name}`, click: () => why(subject()) }, "Why?");
}
