// A list of settings: items of the file, items of the console, and unused items.

import { get, isReadOnly, pathOf, send, server } from "./api.js";
import { attribute, codeBlock, confirmed, el, empty, follow, patch, problemNode, show, showProblem, text, toast } from "./dom.js";

/** Returns a sentence about where items of the file are edited. */
export const fileWords = () => `Items marked “file” are in ${fileName()}. Edit them there.`;

const fileName = () => server.status?.configuration || "the configuration file";

/** Asks, and then moves an item of the file to the console. `kind` is beacon, region, place, source, destination or rule. Returns whether it
 *  was moved. Throws a Problem. */
export async function takeOver(kind, name) {
  const programs = kind === "rule" ? " The console then shows all arguments of the program that it starts." : "";
  if (!await confirmed(`Move ${name} from the file to the console?`, `You can then edit and remove it here. It leaves ${fileName()}; a copy of the file is kept.${programs}`, "Take over", "primary")) return false;
  const { copy } = await send("POST", "v1/items/take-over", { kind, name });
  toast(`You can edit ${name} here now. The file from before is ${copy}.`);
  return true;
}

/** Creates the button that moves an item of the file to the console. */
export const takeOverButton = (name, click) => el("button.small.take-over", { type: "button", "aria-label": `Take over ${name} from the file`, title: "Move it from the file to the console, to edit it here", click }, "Take over");

/** Opens a list. `path` and `key` are its address, `word` the name of an item. `row(item)` creates a node whose
 *  `update(item)` keeps it up to date. `edit(item)` opens its form, with null for a new item. `loaded` receives the
 *  items each time. Returns `{ load, saved, end }`. */
export function settingsList(root, { path, key, word, heading, lede, nothing, topics, container = el("ul.rows"), row, edit, removal, extra, loaded }) {
  const fault = problemNode();
  const hint = el("p.hint", { hidden: true });
  const add = isReadOnly() ? null : el("button.primary", { type: "button", click: () => guarded(() => edit(null)) }, `Add a ${word}`);
  const none = empty(...nothing);
  none.hidden = true;
  const list = container.matches("table") ? container.querySelector("tbody") : container;
  const box = container.matches("table") ? el("div.table-box", null, container) : container;
  const unusedList = el("ul.rows");
  const unused = el("section", { "aria-labelledby": `unused-${key}`, hidden: true }, el("h3", { id: `unused-${key}` }, "Not in use"), unusedList);
  const head = el("div.section-head", null, el("div", null, el("h2", null, heading), el("p.hint", null, lede)), add);
  root.append(head, fault, none, ...(extra || []), box, hint, unused);
  attribute(list, "aria-label", container.matches("table") ? null : heading);

  const load = async () => {
    const answer = await get(path);
    const items = answer[key];
    show(none, !items.length);
    show(box, items.length > 0);
    loaded?.(items);
    show(hint, items.some((item) => item.origin === "file"));
    text(hint, isReadOnly() ? fileWords() : `Items marked “file” are in ${fileName()}. Edit them there, or take them over.`);
    patch(list, items, (item) => `${item.origin} ${item.name}`, (item) => {
      const node = row(item);
      if (item.origin === "file" && item.movable !== false && !isReadOnly()) node.querySelector(".setting-actions").append(takeOverButton(item.name, () => guarded(() => take(item.name))));
      if (item.origin === "console" && !isReadOnly()) node.querySelector(".setting-actions").append(
        el("button.small", { type: "button", "aria-label": `Edit ${item.name}`, click: () => guarded(() => edit(node.item)) }, "Edit"),
        el("button.small", { type: "button", "aria-label": `Remove ${item.name}`, click: () => remove(item.name, removal) }, "Remove"));
      return node;
    }, (node, item) => {
      node.item = item;
      node.update?.(item);
    });
    show(unused, answer.unused?.length > 0);
    patch(unusedList, answer.unused || [], (one) => `${one.name} ${one.reason}`, (one) => el("li.setting", null,
      el("div.setting-text", null, el("p.name", null, one.name), el("p.warn-text", null, one.reason), el("details.json", null, el("summary", null, "Settings"), codeBlock(JSON.stringify(one.settings, null, 2)))),
      el("div.setting-actions", null, isReadOnly() ? null : el("button.small", { type: "button", "aria-label": `Remove ${one.name}, which is not in use`, click: () => remove(one.name, "It is not in use.") }, "Remove"))));
  };

  async function remove(name, explanation) {
    if (!await confirmed(`Remove the ${word} ${name}?`, explanation, "Remove")) return;
    try {
      await send("DELETE", pathOf(path, name));
      showProblem(fault, null);
      toast(`${name} is removed`);
      await load();
      add?.focus();
    } catch (problem) { report(problem); }
  }

  async function take(name) {
    if (!await takeOver(word, name)) return;
    showProblem(fault, null);
    await load();
    ([...list.children].find((node) => node.item?.name === name)?.querySelector("button") || add)?.focus();
  }

  function report(problem) {
    if (problem.status === 0) toast("The connection is lost; nothing has changed.");
    showProblem(fault, problem);
    if (problem.status !== 0) fault.scrollIntoView({ block: "nearest" });
  }
  async function guarded(action) {
    try { await action(); } catch (problem) { report(problem); }
  }
  const saved = async (name) => {
    toast(`${name} is saved`);
    await load().catch(() => {});
    // A renamed item has a new row, so the focus may be lost.
    if (document.activeElement === document.body) add?.focus();
  };
  return { load, saved, end: follow(load, 10000, fault, topics) };
}

/** Creates a badge for items of the file. */
export const originBadge = (item) => (item.origin === "file" ? el("span.origin", { title: "In the configuration file" }, "file") : null);

/** Creates a row of a list: a name, its lines, and a place for its buttons. */
export function settingRow(item) {
  const lines = el("p.identity");
  const node = el("li.setting", null, el("div.setting-text", null, el("p.name", null, item.name, " ", originBadge(item)), lines), el("div.setting-actions"));
  node.describe = (words) => text(lines, words);
  return node;
}
