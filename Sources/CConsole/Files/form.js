// Forms: fields with a label, a help text and an error, and a dialog that sends them. Input stays until the server
// accepts it.

import { attribute, confirmed, el, patch, show, text } from "./dom.js";

let last = 0;
const unique = (key) => `f${last += 1}-${key.replace(/\W+/g, "-")}`;

/** Wraps a control in a field: `{ key, node, input, fault(message), focus() }`. */
function wrap(key, label, input, { help, after, value, set, parse, optional } = {}) {
  const id = unique(key);
  input.id = id;
  const fault = el("p.field-problem", { id: `${id}-fault` });
  const hint = help ? el("p.hint", { id: `${id}-help` }, help) : null;
  input.setAttribute("aria-describedby", [`${id}-fault`, hint ? `${id}-help` : null].filter(Boolean).join(" "));
  const node = el("div.field", { "data-key": key }, el("label", { for: id }, label, optional ? el("span.optional", null, " optional") : null),
    after ? el("div.field-line", null, input, after) : input, fault, hint);
  const own = {
    key, node, input, parse,
    fault(message) { text(fault, message || ""); attribute(input, "aria-invalid", message ? "true" : null); },
    focus: () => input.focus(),
    value: value || (() => input.value.trim()),
    set: set || ((given) => { input.value = given ?? ""; }),
  };
  input.addEventListener("input", () => own.fault(""));
  return own;
}

/** Creates a line of text. The options are help, attributes, optional, and a node that follows it. */
export const textField = (key, label, { attributes, ...options } = {}) =>
  wrap(key, label, el("input", { autocomplete: attributes?.type ? null : "off", ...attributes }), options);

/** Creates a text area. */
export const areaField = (key, label, { attributes, ...options } = {}) =>
  wrap(key, label, el("textarea", { rows: 3, ...attributes }), options);

/** Creates a choice of `[value, words]`. */
export function selectField(key, label, choices, { attributes, ...options } = {}) {
  const input = el("select", attributes);
  const field = wrap(key, label, input, {
    ...options, value: () => input.value,
    set: (value) => {
      if (value && ![...input.options].some((one) => one.value === value)) input.append(el("option", { value }, value));
      input.value = value ?? "";
    },
  });
  field.offer = (list) => {
    const before = input.value;
    patch(input, list, ([value]) => value, ([value, words]) => el("option", { value }, words));
    input.value = before;
  };
  field.offer(choices);
  return field;
}

/** Creates a checkbox. */
export function checkField(key, label, { help } = {}) {
  const id = unique(key);
  const input = el("input", { type: "checkbox", id, "aria-describedby": help ? `${id}-help` : null });
  const fault = el("p.field-problem");
  return {
    key, input, node: el("div.field.check", { "data-key": key }, el("div.check-line", null, input, el("label", { for: id }, label)), fault, help ? el("p.hint", { id: `${id}-help` }, help) : null),
    value: () => input.checked, set: (value) => { input.checked = Boolean(value); },
    fault: (message) => text(fault, message || ""), focus: () => input.focus(),
  };
}

/** Creates a choice of several `[value, words]` as chips. Its value is a list. Missing chosen values are kept. */
export function chipsField(key, legend, choices, { help, missing = " (missing)", single } = {}) {
  const id = unique(key);
  const list = el("ul.kinds");
  const fault = el("p.field-problem", { id: `${id}-fault` });
  const filter = el("input.chips-filter", { type: "search", placeholder: "Filter", "aria-label": `Filter: ${legend}` });
  const node = el("fieldset.field.chips-field", { "data-key": key, "aria-describedby": `${id}-fault` }, el("legend", null, legend), filter, list, fault, help ? el("p.hint", null, help) : null);
  const boxes = () => [...list.querySelectorAll("input")];
  const field = {
    key, node, list, legend: node.firstChild,
    value: () => boxes().filter((box) => box.checked).map((box) => box.value),
    set(values) {
      const given = values || [];
      field.offer(field.choices);
      for (const box of boxes()) box.checked = given.includes(box.value);
      const unknown = given.filter((value) => !field.choices.some(([known]) => known === value));
      for (const value of unknown) list.append(chip(value, `${value}${missing}`, true));
    },
    offer(all) {
      const chosen = field.choices ? field.value() : [];
      field.choices = all;
      list.replaceChildren(...all.map(([value, words]) => chip(value, words, chosen.includes(value))));
      show(filter, all.length > 12);
    },
    fault: (message) => text(fault, message || ""),
    focus: () => boxes()[0]?.focus(),
  };
  function chip(value, words, checked) {
    const own = unique("chip");
    return el("li", null, el("input", { type: single ? "radio" : "checkbox", name: single ? id : null, id: own, value, ...(checked ? { checked } : {}) }), el("label", { for: own }, words));
  }
  filter.addEventListener("input", (event) => {
    event.stopPropagation();
    const wanted = filter.value.trim().toLowerCase();
    for (const item of list.children) show(item, item.textContent.toLowerCase().includes(wanted) || item.querySelector("input").checked);
  });
  filter.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  list.addEventListener("change", () => field.fault(""));
  field.offer(choices);
  return field;
}

/** Creates rows of a name and a value, such as the attributes of a person. Its value is an object. */
export function pairsField(key, legend, { help, nameWord = "Name", valueWord = "Value", addWord = "Add an attribute" } = {}) {
  const rows = el("ul.pairs");
  const fault = el("p.field-problem");
  const add = el("button.small", { type: "button" }, addWord);
  const node = el("fieldset.field", { "data-key": key }, el("legend", null, legend), help ? el("p.hint", null, help) : null, rows, add, fault);
  function row(name, value) {
    const remove = el("button.remove", { type: "button", "aria-label": `Remove ${name || "this row"}`, title: "Remove" }, "×");
    const item = el("li", null, el("input", { "aria-label": nameWord, placeholder: nameWord, autocomplete: "off", autocapitalize: "none" }), el("span", { "aria-hidden": "true" }, "="), el("input", { "aria-label": valueWord, placeholder: valueWord, autocomplete: "off" }), remove);
    const [one, other] = item.querySelectorAll("input");
    one.value = name;
    other.value = value;
    remove.addEventListener("click", () => { item.remove(); add.focus(); node.dispatchEvent(new Event("input", { bubbles: true })); });
    rows.append(item);
    return one;
  }
  add.addEventListener("click", () => row("", "").focus());
  return {
    key, node,
    value: () => Object.fromEntries([...rows.children].map((item) => [...item.querySelectorAll("input")].map((input) => input.value.trim())).filter(([name]) => name)),
    set(pairs) { rows.replaceChildren(); for (const [name, value] of Object.entries(pairs || {})) row(name, value); },
    fault: (message) => text(fault, message || ""), focus: () => (rows.querySelector("input") || add).focus(),
  };
}

/** Returns the field for an error's key: the field with the same key, with a key that ends with it (`to` is `when.to`),
 *  or with the longest key that the error's key begins with. */
function fieldFor(fields, key) {
  const same = fields.find((field) => field.key === key);
  if (same) return same;
  const own = fields.find((field) => field.takes?.(key)) || (key && fields.find((field) => field.key.endsWith(`.${key}`)));
  if (own) return own;
  const near = fields.filter((field) => key.startsWith(`${field.key}.`) || key.startsWith(`${field.key}[`));
  return near.sort((one, other) => other.key.length - one.key.length)[0] || null;
}

/** Shows errors beside their fields, and focuses the first. Returns the errors without a field. */
export function showFaults(fields, errors, focus = true) {
  const others = [];
  const faulty = new Map();
  for (const error of errors) {
    const field = fieldFor(fields, error.key);
    if (!field) others.push(error);
    else faulty.set(field, [...(faulty.get(field) || []), error]);
  }
  for (const field of fields) {
    if (field.faults) field.faults(faulty.get(field) || []);
    else field.fault(faulty.has(field) ? sentences(faulty.get(field).map((error) => error.detail)) : "");
  }
  if (focus && faulty.size) {
    const first = [...faulty.keys()].sort((one, other) => (one.node.compareDocumentPosition(other.node) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1))[0];
    for (let parent = first.node.parentElement; parent; parent = parent.parentElement) if (parent.tagName === "DETAILS") parent.open = true;
    first.focus();
    first.node.scrollIntoView?.({ block: "nearest" });
  }
  return others;
}

const sentences = (details) => details.map((detail) => detail[0].toUpperCase() + detail.slice(1)).join(". ");

/** Returns the text of a refusal and of its errors without a field. If some errors are beside their fields, the text
 *  repeats none of them. For a lost connection it says that nothing is lost. */
export function refusalWords(problem, others, isShown = false) {
  if (problem.status === 0) return "beacond cannot be reached; nothing was saved. Your input stays here; try again once the connection is back.";
  const words = isShown ? "" : problem.message[0].toUpperCase() + problem.message.slice(1);
  const more = others.filter((error) => !words.toLowerCase().includes(error.detail.toLowerCase()));
  return [words, ...more.map((error) => (error.key ? `${error.key}: ${error.detail}` : error.detail))].filter(Boolean).join(". ");
}

/** Opens a dialog with a form. `send` sends it and may throw a Problem, whose errors are shown beside the fields.
 *  `check` returns errors by key that are known without the server. `other` is a second action, `{ word, run(invalid)
 *  }`, which can ask if the form is invalid. Returns the dialog, which has a "close" event, and its form. */
export function formDialog({ title, lede, fields, content, verb = "Save", send, check, wide, other }) {
  const opener = document.activeElement;
  const id = unique("dialog");
  const fault = el("p.notice.bad", { role: "alert", hidden: true });
  const submit = el("button.primary", null, verb);
  const cancel = el("button", { type: "button" }, "Cancel");
  const form = el("form", { novalidate: true }, el("h2", { id }, title), lede ? el("p.hint", null, lede) : null,
    ...(content || fields.map((field) => field.node)), el("div.dialog-foot", null, fault, el("div.actions", null, other ? el("button.aside", { type: "button", click: () => other.run(invalid) }, other.word) : null, cancel, submit)), announcer());
  const dialog = el(`dialog.dialog.form-dialog.passing${wide ? ".wide" : ""}`, { "aria-labelledby": id }, form);
  const state = () => JSON.stringify(fields.map((field) => field.value()));
  let before = null;
  let busy = false;
  function invalid() {
    const known = check?.() || [];
    const others = showFaults(fields, known);
    show(fault, others.length > 0);
    text(fault, others.map((error) => error.detail).join(". "));
    return known.length > 0;
  }
  async function close() {
    if (state() !== before && !await confirmed("Discard your changes?", "They are not saved yet.", "Discard")) return;
    dialog.close();
  }
  cancel.addEventListener("click", close);
  dialog.addEventListener("cancel", (event) => { event.preventDefault(); close(); });
  // Browsers let a second Escape close a dialog regardless of the page. Handling the key prevents that.
  dialog.addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.defaultPrevented) { event.preventDefault(); close(); } });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    if (invalid()) return;
    busy = submit.disabled = true;
    let failed = null;
    try { await send(); } catch (problem) { failed = problem; }
    busy = submit.disabled = false;
    if (!failed) { dialog.close(); return; }
    const rest = showFaults(fields, failed.errors || []);
    const isShown = (failed.errors || []).length > rest.length;
    text(fault, refusalWords(failed, rest, isShown));
    show(fault, fault.textContent !== "");
    if (!isShown) submit.focus();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (opener?.isConnected) opener.focus({ preventScroll: true });
  });
  document.getElementById("dialogs").append(dialog);
  dialog.showModal();
  before = state();
  fields.find((field) => field.input?.type !== "checkbox" && field.node.isConnected)?.focus();
  return { dialog, form };
}

/** Creates the node in a dialog for announcements while the dialog is open. */
const announcer = () => el("p.offscreen.announcer", { role: "status" });

/** Opens a dialog that shows content, with a button that closes it. */
export function showDialog({ title, content, wide, verb = "Close" }) {
  const opener = document.activeElement;
  const id = unique("dialog");
  const heading = el("h2", { id, tabindex: "-1" }, title);
  const dialog = el(`dialog.dialog.passing${wide ? ".wide" : ""}`, { "aria-labelledby": id }, heading, ...content,
    el("div.actions", null, el("button", { type: "button", click: () => dialog.close() }, verb)), announcer());
  dialog.addEventListener("close", () => { dialog.remove(); opener?.focus?.({ preventScroll: true }); });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.getElementById("dialogs").append(dialog);
  dialog.showModal();
  heading.focus();
  return dialog;
}
