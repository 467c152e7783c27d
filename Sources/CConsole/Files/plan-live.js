// The plan on the page Now: receivers and their states, fixed beacons, and moving beacons with known places.

import { get, on, server } from "./api.js";
import { el, patch, poll, show, text } from "./dom.js";
import { beaconName, counted, distance, identity } from "./format.js";
import { makePlan } from "./plan.js";

/** Creates a section with the plan, which is hidden without a plan. `update` receives the page's data. */
export function livePlan() {
  const scene = makePlan({ title: "Plan" });
  const words = el("ul.plan-words");
  const elsewhere = el("p.hint", { hidden: true });
  const legend = el("ul.plan-legend", { "aria-hidden": "true" }, ...[["receiver", "receiver"], ["receiver deaf", "receiver that does not hear"], ["fixed", "fixed beacon"], ["moving", "beacon in a place"], ["ring", "distance to a receiver"]]
    .map(([kind, word]) => el("li", null, el(`span.key.${kind.split(" ").join(".")}`), word)), el("li", null, scene.scale));
  const node = el("section.plan-section", { "aria-labelledby": "plan-heading", hidden: true }, el("div.section-head", null, el("h2", { id: "plan-heading" }, "Plan"), el("a.hint", { href: "#/settings/plan" }, "Edit the plan")),
    el("figure.picture.plan-figure", null, scene.node, el("figcaption", null, legend, elsewhere, el("details.json", null, el("summary", null, "The plan in words"), words))));
  let plan = null;
  let receivers = [];
  let seen = null;

  function draw() {
    const there = plan && plan.width > 0 && plan.height > 0;
    show(node, Boolean(there));
    if (!there || !seen) return;
    const { marks, rings, sentences, absent } = arrange(plan, receivers, seen);
    scene.update(plan, marks, rings, plan.rooms.map((room, index) => ({ key: String(index), corners: room.polygon, label: "", state: "" })));
    scene.describe(`Plan of ${plan.width} by ${plan.height} meters. ${sentences.length ? "The text below describes it." : "It is empty."}`);
    patch(words, sentences, (sentence) => sentence.key, () => el("li"), (item, sentence) => text(item, sentence.words));
    text(elsewhere, absent.length ? `Not on the plan, since their receivers are not: ${absent.join(", ")}.` : "");
    show(elsewhere, absent.length > 0);
    show(node.querySelector("a"), !server.status?.readOnly);
  }

  const load = async () => { plan = await get("v1/plan"); draw(); };
  const loadReceivers = async () => { receivers = (await get("v1/receivers")).receivers; draw(); };
  const ends = [
    poll(load, 30000), poll(async () => { if (plan?.width) await loadReceivers(); }, 5000),
    on("state", (names) => { if (names.plan) load().catch(() => {}); if (names.receivers) loadReceivers().catch(() => {}); }),
    on("resumed", () => { load().catch(() => {}); loadReceivers().catch(() => {}); }),
  ];
  load().then(loadReceivers).catch(() => {});
  return { node, update(all) { seen = all; draw(); }, end: () => ends.forEach((end) => end()) };
}

/** Returns the marks and rings of the plan, and the same as sentences. */
function arrange(plan, receivers, { places, located, ranged }) {
  const hearing = new Map(receivers.map((receiver) => [receiver.name, receiver.hearing]));
  const marks = [];
  const sentences = [];
  const absent = [];
  const near = new Map(ranged.map((beacon) => [identity(beacon), beacon]));
  for (const [name, at] of Object.entries(plan.receivers)) {
    const state = hearing.get(name) || "unknown";
    const words = `${name} ${{ hearing: "hears", deaf: "does not hear", unknown: "has not reported yet" }[state]}`;
    marks.push({ key: `receiver ${name}`, kind: "receiver", at, label: name, state, words: `Receiver ${words}` });
    sentences.push({ key: `receiver ${name}`, words: `Receiver ${words}.` });
  }
  const fixed = new Map(Object.entries(plan.beacons).map(([key, at]) => [key.toUpperCase(), at]));
  for (const [key, at] of fixed) {
    const beacon = near.get(key);
    const name = beacon ? beaconName(beacon) : key.split("/").slice(1).join(" · ");
    const heard = beacon && beacon.rssi ? `heard by ${beacon.receiver}` : "not heard";
    marks.push({ key, kind: "fixed", at, label: name, state: beacon?.rssi ? "heard" : "silent", words: `${name}, ${heard}` });
    sentences.push({ key, words: `${name} is fixed here and ${beacon?.rssi ? heard : "not heard"}.` });
  }
  // Beacons in a place surround the receiver of it that hears them, or else the center of its receivers.
  const groups = new Map();
  const known = new Set();
  for (const beacon of located) {
    const key = identity(beacon);
    if (beacon.state !== "inside" || fixed.has(key)) continue;
    known.add(key);
    const own = (places.find((place) => place.name === beacon.place)?.receivers || []).filter((name) => plan.receivers[name]);
    const best = near.get(key)?.receiver;
    const at = own.includes(best) ? plan.receivers[best] : middle(own.map((name) => plan.receivers[name]));
    if (!at) { absent.push(beaconName(beacon)); continue; }
    const spot = at.join(" ");
    if (!groups.has(spot)) groups.set(spot, { at, beacons: [] });
    groups.get(spot).beacons.push({ beacon, words: `${beaconName(beacon)} is in ${beacon.place}` });
  }
  for (const { at, beacons } of groups.values()) {
    const taken = new Set();
    beacons.sort((one, other) => (identity(one.beacon) < identity(other.beacon) ? -1 : 1)).forEach(({ beacon, words }) => {
      const key = identity(beacon);
      marks.push({ key, kind: "moving", at, label: beaconName(beacon), state: "located", words, offset: seat(key, taken) });
      sentences.push({ key, words: `${words}.` });
    });
  }
  const rings = [];
  for (const beacon of ranged) {
    const key = identity(beacon);
    if (known.has(key) || fixed.has(key) || beacon.accuracy < 0) continue;
    const at = plan.receivers[beacon.receiver];
    if (!at) { absent.push(beaconName(beacon)); continue; }
    rings.push({ key, at, meters: beacon.accuracy, label: `${beaconName(beacon)}, ${distance(beacon.accuracy, beacon.range)}` });
    sentences.push({ key, words: `${beaconName(beacon)} is ${distance(beacon.accuracy, beacon.range)} from ${beacon.receiver}; the direction is unknown.` });
  }
  // Many rings are hard to read. Only the nearest are drawn.
  rings.sort((one, other) => one.meters - other.meters);
  const shown = absent.length > 8 ? absent.slice(0, 8).concat(counted(absent.length - 8, "other")) : absent;
  return { marks, rings: rings.slice(0, 12), sentences, absent: shown };
}

const middle = (points) => (points.length ? [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length) : null);

/** Returns the position of a beacon around a point, in pixels: eight in a circle, then wider circles. A beacon keeps
 *  its position while that is free, so that it does not move when another one arrives. */
function seat(key, taken) {
  let hash = 7;
  for (const character of key) hash = (hash * 31 + character.charCodeAt(0)) % 65521;
  let index = hash % 8;
  for (let tries = 0; taken.has(index); tries += 1) index = tries < 7 ? (index + 3) % 8 : index + 1;
  taken.add(index);
  const ring = Math.floor(index / 8);
  const turn = (index % 8) * Math.PI / 4 + Math.PI / 8 + ring * 0.4;
  const radius = 34 + ring * 26;
  return [Math.cos(turn) * radius, Math.sin(turn) * radius];
}
