// Teaching a place: choose a room and a tag, walk, see points arrive with the change they would make, keep or discard.

import { Stream, get, isReadOnly, pathOf, send } from "./api.js";
import { announce, confirmed, el, follow, patch, poll, problemNode, show, showProblem, text, toast } from "./dom.js";
import { selectField, showFaults, textField } from "./form.js";
import { beaconName, counted, identity, signal } from "./format.js";

/** The time in which a carried beacon's level changes clearly, in polls of two seconds. */
const memory = 10;

const percent = (share) => (share === null ? "–" : `${Math.round(share * 100)}\u00a0%`);

/** Opens the list of taught places below the list of places. Returns a function that ends this. */
export function taughtSection(root) {
  const fault = problemNode();
  const list = el("ul.rows", { "aria-label": "Taught places" });
  const none = el("p.hint", null, "No place is taught. Teach the rooms that are confused, or that have no receiver.");
  const undo = el("button", { type: "button", hidden: true, click: () => act(undoLast) });
  const start = isReadOnly() ? null : el("button.primary", { type: "button", click: () => teachDialog(null, load) }, "Teach a room");
  root.append(el("section", { "aria-labelledby": "taught-heading" },
    el("div.section-head", null, el("div", null, el("h2", { id: "taught-heading" }, "Teaching"),
      el("p.hint", null, "Walk through a room with a tag: beacond learns how its receivers hear it there, and can then find rooms that have no receiver.")),
    el("div.actions", null, isReadOnly() ? null : undo, start)), fault, none, list));
  let last = null;

  async function load() {
    const taught = await get("v1/taught");
    last = taught.last;
    show(none, !taught.places.length);
    show(undo, last !== null);
    text(undo, last ? `Undo the last: ${last.place}` : "");
    patch(list, taught.places, (one) => `${one.name} ${one.fromConsole > 0}`, (one) => el("li.setting", null,
      el("div.setting-text", null, el("p.name", null, one.name), el("p.identity")),
      el("div.setting-actions", null, isReadOnly() || !one.fromConsole ? null : el("button.small", { type: "button", "aria-label": `Forget what was taught of ${one.name}`, click: () => act(() => forget(one.name)) }, "Forget"))),
    (node, one) => text(node.querySelector(".identity"), [counted(one.fromFile + one.fromConsole, "point"), one.fromFile ? `${one.fromFile} from the file` : null].filter(Boolean).join(", ")));
  }
  async function undoLast() {
    if (!await confirmed(`Undo the last teaching of ${last.place}?`, `${counted(last.points, "point")} of ${last.place} will be forgotten.`, "Undo")) return;
    await send("POST", "v1/taught/undo");
    toast(`The last teaching of ${last.place} is undone`);
  }
  async function forget(name) {
    if (!await confirmed(`Forget what was taught of ${name}?`, "Points from the file stay.", "Forget")) return;
    await send("DELETE", pathOf("v1/taught", name));
    toast(`What was taught of ${name} is forgotten`);
  }
  async function act(action) {
    try {
      await action();
      showProblem(fault, null);
      await load();
    } catch (problem) { showProblem(fault, problem); }
    if (document.activeElement === document.body) start?.focus();
  }
  return follow(load, 10000, fault, ["places"]);
}

/** Opens the dialog that teaches a place; `place` is chosen already, or null. `saved` is called once points are kept. */
export async function teachDialog(place, saved) {
  const opener = document.activeElement;
  const { places } = await get("v1/places");
  const other = "\u0000";
  const room = selectField("place", "Room", [...places.map((one) => [one.name, one.name]), [other, "A room without a receiver…"]]);
  const name = textField("name", "Name of the room", { attributes: { maxlength: 100 } });
  const tag = selectField("beacon", "Tag that you carry", [], { help: "Listening for tags…" });
  const still = el("p.hint", { role: "status" });
  const fault = problemNode();
  const heading = el("h2", { id: "teach-title", tabindex: "-1" }, "Teach a room");
  const body = el("div.teach", null, room.node, name.node, tag.node, still);
  const verb = el("button.primary", { type: "button", click: () => step() }, "Start");
  const cancel = el("button", { type: "button", click: () => close() }, "Cancel");
  const dialog = el("dialog.dialog.wide", { "aria-labelledby": "teach-title" }, heading, fault, body, el("div.actions", null, cancel, verb), el("p.offscreen.announcer", { role: "status" }));
  room.set(place || places[0]?.name || other);
  const choose = () => show(name.node, room.value() === other);
  room.input.addEventListener("change", choose);
  choose();

  // The tag: the one whose level moves most is with the person.
  const levels = new Map();
  let touched = false;
  let heard = [];
  tag.input.addEventListener("change", () => { touched = true; compare(); });
  const movement = (key) => {
    const values = levels.get(key) || [];
    return values.length < 3 ? 0 : Math.max(...values) - Math.min(...values);
  };
  function compare() {
    const moving = heard.map((one) => movement(identity(one)));
    const own = heard.find((one) => identity(one) === tag.value());
    const least = own && heard.length > 1 && movement(identity(own)) <= Math.min(...moving) && movement(identity(own)) < Math.max(...moving);
    text(still, least ? `${beaconName(own)} moves least: is it with you?` : "");
  }
  const endPoll = poll(async () => {
    heard = (await get("v1/beacons/heard?seconds=10")).beacons.filter((one) => one.level !== null).slice(0, 60);
    for (const one of heard) levels.set(identity(one), [...(levels.get(identity(one)) || []), one.level].slice(-memory));
    const before = tag.value();
    tag.offer(heard.map((one) => [identity(one), `${beaconName(one)}, ${signal(one.level)}`]));
    const best = [...heard].sort((one, two) => movement(identity(two)) - movement(identity(one)) || two.level - one.level)[0];
    const chosen = touched && heard.some((one) => identity(one) === before) ? before : best && identity(best);
    if (chosen) tag.set(chosen);
    text(tag.node.querySelector(".hint"), heard.length ? "The one that moves most is chosen. Walk a few steps with it." : "No tag is heard. Many send only after a button is pressed.");
    compare();
  }, 2000, fault);

  let stream = null;
  let ended = false;
  let taught = false;
  let step = start;

  async function start() {
    const wanted = room.value() === other ? name.value() : room.value();
    const one = heard.find((beacon) => identity(beacon) === tag.value());
    const errors = [...(wanted ? [] : [{ key: "name", detail: "write a name" }]), ...(one ? [] : [{ key: "beacon", detail: "no tag is heard yet" }])];
    if (showFaults([room, name, tag], errors).length || errors.length) return;
    verb.disabled = true;
    try {
      await send("POST", "v1/teaching", { place: wanted, beacon: { uuid: one.uuid, major: one.major, minor: one.minor } });
    } catch (problem) {
      text(fault, problem.message);
      show(fault, true);
      return;
    } finally { verb.disabled = false; }
    endPoll();
    showProblem(fault, null);
    walk(wanted, beaconName(one));
  }

  function walk(wanted, tagName) {
    taught = true;
    step = keep;
    text(heading, `Teach ${wanted}`);
    text(verb, "Keep");
    text(cancel, "Throw away");
    verb.disabled = true;
    const progress = el("p", null, `Walk through the whole room with ${tagName} for a minute.`);
    const now = el("p.hint.tabular");
    const hints = el("div.teach-hints", { role: "status" });
    const points = el("ol.teach-points", { "aria-label": "Points" });
    const change = el("div", { hidden: true });
    const words = el("p");
    const advice = el("p.warn-text");
    const rows = el("tbody");
    change.append(el("h3", null, "What it would change"), words, el("table.teach-table", null,
      el("thead", null, el("tr", null, el("th", { scope: "col" }, "Room"), el("th", { scope: "col" }, "Right"), el("th", { scope: "col" }, "Taken for"))), rows), advice);
    body.replaceChildren(progress, now, hints, points, change);
    let count = 0;
    stream = new Stream("v1/teaching/stream", { teaching: (data) => {
      text(now, [`${data.seconds} s`, ...Object.entries(data.levels).sort((one, two) => two[1] - one[1]).map(([receiver, level]) => `${receiver} ${signal(level)}`)].join(" · "));
      patch(hints, data.hints, (hint) => hint, (hint) => el("p.warn-text", null, hint));
      patch(points, data.points.map((levelsOf, number) => ({ levelsOf, number })), (point) => point.number, () => el("li.tabular"), (node, point) =>
        text(node, Object.entries(point.levelsOf).sort((one, two) => (two[1] ?? -999) - (one[1] ?? -999)).map(([receiver, level]) => `${receiver} ${level === null ? "–" : signal(level)}`).join(", ")));
      if (data.points.length > count) announce(counted(data.points.length, "point"));
      count = data.points.length;
      verb.disabled = !count;
      show(change, data.change !== null);
      if (!data.change) return;
      text(words, `With the points left out in turn, ${percent(data.change.after)} are found in their room. Without this walk: ${percent(data.change.before)}.`);
      text(advice, data.change.advice || "");
      patch(rows, data.change.places, (one) => one.name, (one) => el("tr", null, el("th", { scope: "row" }, one.name), el("td.tabular"), el("td")), (node, one) => {
        text(node.children[1], `${one.right} of ${one.points}`);
        text(node.children[2], one.mistakes.map((mistake) => `${mistake.place ?? "no room"} in ${mistake.points} of ${one.points}`).join(", ") || "–");
      });
    } }, (open) => {
      // The stream ends with the teaching, which ends a minute after its last watcher.
      if (!open && !ended) get("v1/taught").catch(() => {});
    });
    heading.focus();
  }

  async function keep() {
    verb.disabled = true;
    try {
      const { last } = await send("POST", "v1/teaching/keep");
      ended = true;
      toast(`${last.place} is taught with ${counted(last.points, "point")}`);
      dialog.close();
      saved?.();
    } catch (problem) {
      text(fault, problem.message);
      show(fault, true);
      verb.disabled = false;
    }
  }

  async function close() {
    if (taught && !ended && !await confirmed("Throw away these points?", "The places stay as they were.", "Throw away")) return;
    dialog.close();
  }
  dialog.addEventListener("cancel", (event) => { event.preventDefault(); close(); });
  dialog.addEventListener("close", () => {
    endPoll();
    stream?.close();
    if (taught && !ended) send("DELETE", "v1/teaching").catch(() => {});
    dialog.remove();
    if (opener?.isConnected) opener.focus({ preventScroll: true });
  });
  document.getElementById("dialogs").append(dialog);
  dialog.showModal();
  room.focus();
}
