// Receivers: their states, and the sources that they belong to.

import { get, isReadOnly, pathOf, send } from "./api.js";
import { announce, attribute, el, empty, patch, patchFacts, follow, problemNode, setTime, show, stateGlyph, svg, text, timeNode, showProblem, toast } from "./dom.js";
import { formDialog, textField } from "./form.js";
import { count, counted, exact, identity, measure, rate } from "./format.js";
import { takeOver } from "./settings-list.js";

export const title = "Receivers";

const words = { hearing: "Hears", deaf: "Deaf", unknown: "Unknown" };
const sourceStates = { starting: "Starting", running: "Running", failing: "Fails, and is tried again", failed: "Failed", ended: "Ended" };
const shapes = { hearing: "inside", deaf: "outside", unknown: "unknown" };

export function open(root) {
  const fault = problemNode();
  const list = el("ul.cards", { "aria-label": "Receivers" });
  const sourceRows = el("tbody");
  const sources = el("section", { "aria-labelledby": "sources-heading", hidden: true }, el("h2", { id: "sources-heading" }, "Sources"),
    el("div.table-scroll", { tabindex: "0", role: "region", "aria-labelledby": "sources-heading" }, el("table", null,
      el("thead", null, el("tr", null, ...["Name", "From"].map((name) => el("th", { scope: "col" }, name)), ...["Packets", "Beacons"].map((name) => el("th.right", { scope: "col" }, name)), ...["Receivers", "State"].map((name) => el("th", { scope: "col" }, name)))), sourceRows)));
  const offsets = offsetSection();
  const nothing = empty("There are no receivers", "Receivers belong to sources: a Bluetooth radio of this machine, or receivers in the network. Add a source under Settings, Sources.");
  nothing.hidden = true;
  root.append(el("header.page-head", null, el("h1", null, "Receivers"), el("p.lede", null, "An outage never causes an exit. While a receiver is deaf, beacons that only it could hear are unknown."),
    el("p.exports", null, "Record adverts as a sighting log: ", el("a", { href: "v1/sightings?seconds=60", download: "" }, "a minute"), " ", el("a", { href: "v1/sightings?seconds=600", download: "" }, "ten minutes"))), fault, nothing, list, offsets.node, sources);

  const history = new Map();
  const states = new Map();
  const load = async () => {
    const [first, second] = await Promise.all([get("v1/receivers"), get("v1/sources")]);
    show(nothing, !first.receivers.length);
    for (const receiver of first.receivers) {
      const rates = history.get(receiver.name) || [];
      rates.push(receiver.advertsPerSecond);
      if (rates.length > 60) rates.shift();
      history.set(receiver.name, rates);
      const before = states.get(receiver.name);
      if (before && before !== receiver.hearing) announce(`${receiver.name}: ${words[receiver.hearing]}`);
      states.set(receiver.name, receiver.hearing);
    }
    patch(list, first.receivers, (receiver) => receiver.name, (receiver) => card(receiver, load, fault), (node, receiver) => {
      node.from = second.configured.find((source) => source.name === receiver.source);
      update(node, receiver, history.get(receiver.name));
    });
    offsets.update(first.offsets, first.receivers);
    show(sources, second.sources.length > 0);
    patch(sourceRows, second.sources, (source) => source.name, (source) => el("tr", null, el("th", { scope: "row" }, source.name), el("td"), el("td.right.tabular"), el("td.right.tabular"), el("td"), el("td")), (row, source) => {
      const [, from, packets, beacons, receivers, state] = row.children;
      text(from, source.from);
      text(packets, count(source.packets));
      text(beacons, count(source.beacons));
      text(receivers, source.receivers.join(", ") || "–");
      text(state, `${sourceStates[source.state] || source.state}${source.advertises ? ", can advertise" : ""}${source.reason ? `: ${source.reason}` : ""}`);
    });
  };
  return follow(load, 2000, fault, ["receivers", "sources"]);
}

// The learned offsets of beacons and of receivers that move, with the reason why some are not used.
function offsetSection() {
  const summary = el("p.offsets-summary");
  const sideRows = el("tbody");
  const deviceRows = el("tbody");
  const table = (heads, rows) => el("div.table-scroll", { tabindex: "0", role: "region", "aria-labelledby": "offsets-heading" }, el("table", null,
    el("thead", null, el("tr", null, ...heads.map((name) => el("th", { scope: "col" }, name)))), rows));
  const devices = table(["Device", "Offset"], deviceRows);
  const sides = table(["Compared with each other", "Devices", "Reliability", "Use"], sideRows);
  const node = el("section", { "aria-labelledby": "offsets-heading", hidden: true }, el("h2", { id: "offsets-heading" }, "Learned offsets"), summary, sides, devices);
  const update = (offsets, receivers) => {
    show(node, Boolean(offsets));
    if (!offsets) return;
    const when = offsets.time ? `Learned on ${exact(offsets.time)}` : "Nothing learned yet: beacons count while they are ranged or located, and the first fit takes an hour";
    text(summary, offsets.noise === null ? `${when}. Too few pairs of receivers and beacons.` : `${when} from ${counted(offsets.pairs, "pair")}, with a noise of ${offsets.noise.toFixed(1)} dB.`);
    show(sides, offsets.sides.length > 0);
    patch(sideRows, offsets.sides, (side) => `${side.uuid} ${side.power}`, () => el("tr", null, el("th", { scope: "row" }), el("td"), el("td"), el("td")), (row, side) => {
      const [name, number, reliability, use] = row.children;
      text(name, side.kind === "receivers" ? "Receivers" : `Beacons of ${side.uuid}, ${side.power === null ? "no valid power" : `${measure(side.power, "dBm")} at 1 m`}`);
      text(number, count(side.devices));
      text(reliability, side.reliability.toFixed(2));
      text(use, side.used ? "Used" : `Not used: ${side.reason}`);
    });
    const found = [
      ...receivers.filter((receiver) => receiver.offset !== null).map((receiver) => [`receiver ${receiver.name}`, receiver.name, receiver.offset]),
      ...offsets.beacons.map((beacon) => [identity(beacon), beacon.name || identity(beacon), beacon.offset]),
    ];
    show(devices, found.length > 0);
    patch(deviceRows, found, ([key]) => key, () => el("tr", null, el("th", { scope: "row" }), el("td.tabular")), (row, [, name, offset]) => {
      text(row.children[0], name);
      text(row.children[1], measure(offset, "dB", 1));
    });
  };
  return { node, update };
}

function card(receiver, load, fault) {
  const node = el("li.card.receiver-card", null,
    el("div.card-head", null, el("h2", null, receiver.name), el("span.source")),
    el("p.state", null, stateGlyph(), el("b.word"), el("span.state-time", null, " ", timeNode("for"))),
    el("p.warn-text.reason", { hidden: true }),
    el("div.rate", null, el("span", null, el("b.big"), " adverts/s"), svg("svg.spark", { viewBox: "0 0 120 28", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("path"))),
    el("dl.facts"), el("div.actions.start", null, el("button.small.room", { type: "button", "aria-label": `Change the room of ${receiver.name}`, click: () => roomForm(node.receiver, load) }, "Change the room"),
      el("button.small.rename", { type: "button", "aria-label": `Rename ${receiver.name}`, click: () => nameForm(node.receiver, node.from, load).catch((problem) => showProblem(fault, problem)) }, "Rename")));
  return node;
}

/** Opens the form for the place of a receiver. */
async function roomForm(receiver, load) {
  const places = await get("v1/places").then((answer) => answer.places.map((place) => place.name), () => []);
  const room = textField("place", "Room", { optional: true, help: "A new name makes a new room. Leave it empty if the receiver is in none.", attributes: { maxlength: 100, list: "receiver-rooms" } });
  room.set(receiver.place);
  formDialog({
    title: `Room of ${receiver.name}`, fields: [room],
    content: [room.node, el("datalist", { id: "receiver-rooms" }, ...places.map((name) => el("option", { value: name })))],
    send: async () => {
      const answer = await send("PUT", `${pathOf("v1/receivers", receiver.name)}/place`, { place: room.value() });
      toast(answer.place ? `${receiver.name} is in ${answer.place}` : `${receiver.name} is in no room`);
      load().catch(() => {});
    },
  });
}

/** Opens the form for the name of a receiver. A source of the file has to be taken over first. */
async function nameForm(receiver, source, load) {
  if (source?.origin === "file" && source.movable && !await takeOver("source", source.name)) return;
  const name = textField("name", "Name", { help: "Its room, its position in the plan and what was taught keep it. Earlier events keep the former name.", attributes: { maxlength: 100 } });
  name.set(receiver.name);
  formDialog({
    title: `Name of ${receiver.name}`, fields: [name], content: [name.node],
    send: async () => {
      const answer = await send("PUT", `${pathOf("v1/receivers", receiver.name)}/name`, { name: name.value() });
      toast(`${receiver.name} is ${answer.name} now`);
      load().catch(() => {});
    },
  });
}

/** Says whether a receiver passes on the adverts of phones, and how many named ones it heard. */
function phones({ hears, condition, heard }) {
  if (heard > 0) return `yes, ${heard} in the last 24 hours`;
  const word = { yes: "yes", no: "no", depends: "perhaps" }[hears] || "not known yet";
  return condition ? `${word}: ${condition}` : word;
}

function update(node, receiver, rates) {
  node.receiver = receiver;
  show(node.querySelector(".rename"), !isReadOnly());
  show(node.querySelector(".room"), !isReadOnly());
  attribute(node, "data-state", shapes[receiver.hearing]);
  attribute(node, "data-hearing", receiver.hearing);
  text(node.querySelector(".source"), receiver.source);
  text(node.querySelector(".word"), words[receiver.hearing] || receiver.hearing);
  setTime(node.querySelector("time"), receiver.since);
  const reason = node.querySelector(".reason");
  text(reason, receiver.reason || "");
  show(reason, Boolean(receiver.reason));
  text(node.querySelector(".big"), rate(receiver.advertsPerSecond));
  const most = Math.max(1, ...rates);
  attribute(node.querySelector(".spark path"), "d", rates.length < 5 ? "" : rates.map((value, index) => `${index ? "L" : "M"}${(120 - (rates.length - 1 - index) * 2).toFixed(1)} ${(26 - 24 * value / most).toFixed(1)}`).join(""));
  patchFacts(node.querySelector("dl"), [["Room", receiver.place || "none"], ["Hears phones", phones(receiver.tags)], ...(receiver.moves ? [["Moves", "yes"]] : [])]);
}
