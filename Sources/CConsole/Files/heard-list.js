// The list of everything on the air, to choose a beacon from.

import { get, send } from "./api.js";
import { announce, attribute, el, patch, poll, problemNode, setTime, show, text, timeNode } from "./dom.js";
import { identity, shortUUID, signal } from "./format.js";

const interval = 2000;
/** How long the list stays empty before it says why. */
const patience = 10000;

/** Creates the part of a row that describes a beacon. `describe(node, beacon)` keeps it up to date. */
export const heardParts = () => [
  el("div.who", null, el("span.name"), el("span.since")),
  el("div.heard-by", null, el("span.receivers"), timeNode("for")),
  el("span.signal.tabular"),
];

/** Updates the parts of a row. `isNew` is true for a name that the user has just chosen. */
export function describe(node, beacon, isNew = false) {
  attribute(node, "data-named", beacon.name ? "yes" : null);
  text(node.querySelector(".name"), beacon.name ? `${isNew ? "" : "already "}${beacon.name}` : `${beacon.major} · ${beacon.minor}`);
  text(node.querySelector(".since"), `${shortUUID(beacon.uuid)}${beacon.name ? `, ${beacon.major} · ${beacon.minor}` : ", major · minor"}${beacon.maker ? `, ${beacon.maker}` : ""}`);
  text(node.querySelector(".receivers"), beacon.receivers.map((one) => (one.level === null ? one.name : `${one.name} ${signal(one.level)}`)).join(", "));
  setTime(node.querySelector("time"), beacon.since);
  text(node.querySelector(".signal"), beacon.level === null ? "–" : signal(beacon.level));
}

/** Shows everything on the air in a node, the strongest first. `row()` creates a row, `update(node, beacon)` keeps it
 *  up to date, and `heard(beacons)` receives each list. Returns a function that ends this. */
export function heardList(root, { row, update, heard }) {
  const list = el("ul.rows.air", { "aria-label": "Beacons on the air, the strongest first" });
  const quiet = el("p.hint", { role: "status" }, "Listening…");
  const fault = problemNode();
  root.append(fault, quiet, list);
  const began = performance.now();
  const end = poll(async () => {
    const { beacons } = await get("v1/beacons/heard?seconds=10");
    heard?.(beacons);
    show(quiet, !beacons.length);
    if (!beacons.length && performance.now() - began > patience) text(quiet, "No beacon is heard. Many send only after a button is pressed.");
    // The order stays while a row is used.
    if (list.matches(":focus-within")) {
      const order = [...list.children].map((node) => node.dataset.key);
      const place = (beacon) => { const index = order.indexOf(identity(beacon)); return index < 0 ? 1e6 : index; };
      beacons.sort((one, other) => place(one) - place(other));
    }
    patch(list, beacons.slice(0, 60), identity, (beacon) => { const node = row(beacon); node.dataset.key = identity(beacon); return node; }, update);
  }, interval, fault);
  return end;
}

/** Opens the list in a dialog. Resolves to `{ uuid, major, minor, name }`, to an empty object if the user wants to write
 *  an identity, or to null. `mustBeNamed` names a beacon without a name first, and allows named beacons. */
export function pickBeacon({ title, mustBeNamed = false }) {
  return new Promise((resolve) => {
    const opener = document.activeElement;
    const heading = el("h2", { id: "pick-title", tabindex: "-1" }, title);
    const content = el("div.air-box");
    const fault = problemNode();
    let picked = null;
    const close = (value) => { picked = value; dialog.close(); };
    const cancel = el("button", { type: "button", click: () => close(null) }, "Cancel");
    const paste = mustBeNamed ? null : el("button.aside", { type: "button", click: () => close({}) }, "Paste an identity");
    const dialog = el("dialog.dialog.wide", { "aria-labelledby": "pick-title" }, heading,
      el("p.hint", null, "Hold a beacon close to a receiver: it moves to the top."), fault, content, el("div.actions", null, paste, cancel), el("p.offscreen.announcer", { role: "status" }));

    async function choose(node, beacon) {
      const own = { uuid: beacon.uuid, major: beacon.major, minor: beacon.minor };
      if (beacon.name) return close({ ...own, name: beacon.name });
      if (!mustBeNamed) return close(own);
      const input = node.querySelector("input");
      const name = input.value.trim();
      if (!name) { attribute(input, "aria-invalid", "true"); text(fault, "Write a name."); show(fault, true); input.focus(); return undefined; }
      try {
        await send("POST", "v1/registered-beacons", { name, ...own });
        return close({ ...own, name });
      } catch (problem) { text(fault, problem.message); show(fault, true); input.focus(); return undefined; }
    }

    function row() {
      const button = el("button.small", null, "Choose");
      const input = mustBeNamed ? el("input", { "aria-label": "Name of this beacon", placeholder: "A name, such as Ann’s keys", maxlength: 100, autocomplete: "off" }) : null;
      const form = el("form.name-form", { novalidate: true }, input, button);
      const node = el("li.air-row", null, ...heardParts(), form);
      form.addEventListener("submit", (event) => { event.preventDefault(); choose(node, node.beacon); });
      return node;
    }
    function update(node, beacon) {
      node.beacon = beacon;
      describe(node, beacon);
      const button = node.querySelector("button");
      attribute(button, "aria-label", `Choose ${beacon.name || `${beacon.major} ${beacon.minor}`}`);
      if (mustBeNamed) show(node.querySelector("input"), !beacon.name);
      // Only one name fits a beacon.
      else show(button, !beacon.name);
    }
    document.getElementById("dialogs").append(dialog);
    const end = heardList(content, { row, update });
    dialog.addEventListener("close", () => {
      end();
      dialog.remove();
      if (opener?.isConnected) opener.focus({ preventScroll: true });
      resolve(picked);
    });
    dialog.showModal();
    heading.focus();
    announce("Listening for beacons");
  });
}
