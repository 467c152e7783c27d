// Now: the places, regions and beacons, with times and distances.

import { Stream, get, on, whileSeen } from "./api.js";
import { announce, attribute, el, empty, glide, patch, poll, problemNode, proximityGlyph, setTime, show, stateGlyph, steadyOrder, text, timeNode } from "./dom.js";
import { livePlan } from "./plan-live.js";
import { beaconName, counted, distance, distanceRange, identity, measure, proximityWords, regionIdentity, shortUUID, signal } from "./format.js";
import { whyButton } from "./why.js";

export const title = "Now";

const stateWords = { inside: "Inside", outside: "Outside", unknown: "Unknown" };
const announced = new Set(["enter", "exit", "place", "gone", "suspicious"]);

const example = `sources: [auto]
regions:
  - name: hall
    uuid: e2c56db5-dffb-48d2-b060-d0f5a71096e0
places:
  - name: hall
    receivers: [hci0]`;

export function open(root) {
  const lede = el("p.lede");
  const fault = problemNode();
  const notices = el("ul.notices", { "aria-label": "Findings" });
  const places = section("places", "Places", "ul.cards");
  const regions = section("regions", "Regions", "ul.cards");
  const beacons = section("beacons", "Beacons, nearest first", "ul.rows");
  const plan = livePlan();
  const nothing = empty("Nothing is monitored yet",
    "Add regions under Settings, and places if there are several receivers. You can also add them to the configuration file. This page then shows who is where. Range shows all beacons on the air.", example);
  nothing.hidden = true;
  const quiet = el("p.hint", { hidden: true }, "No beacon is heard right now.");
  beacons.node.append(quiet);
  root.append(el("header.page-head", null, el("h1", null, "Now"), lede), fault, notices, nothing, el("div.plan-and-places", null, plan.node, places.node), regions.node, beacons.node);

  const seen = { regions: null, places: null, beacons: null };
  let order = [];

  function draw() {
    const { regions: regionList, places: located, beacons: ranged } = seen;
    if (!regionList || !located || !ranged) return;
    show(nothing, !regionList.length && !located.places.length);
    drawPlaces(located, ranged);
    drawRegions(regionList, ranged);
    drawBeacons(regionList, located, ranged);
    plan.update({ places: located.places, located: located.beacons, ranged });
    const inside = regionList.filter((region) => region.state === "inside").length;
    const parts = [];
    if (located.places.length) parts.push(`${counted(located.beacons.filter((beacon) => beacon.state === "inside").length, "beacon")} in ${counted(located.places.length, "place")}`);
    if (regionList.length) parts.push(`inside ${inside} of ${counted(regionList.length, "region")}`);
    parts.push(`${counted(ranged.length, "beacon")} ranged`);
    const line = parts.join(", ");
    text(lede, line[0].toUpperCase() + line.slice(1));
  }

  function drawPlaces(located, ranged) {
    show(places.node, located.places.length > 0);
    const near = new Map(ranged.map((beacon) => [identity(beacon), beacon]));
    const groups = located.places.map((place) => ({
      key: `place ${place.name}`, name: place.name, dark: place.dark, receivers: place.receivers,
      beacons: located.beacons.filter((beacon) => beacon.state === "inside" && beacon.place === place.name),
    }));
    for (const [state, name] of [["unknown", "Place unknown"], ["outside", "In no place"]]) {
      const some = located.beacons.filter((beacon) => beacon.state === state);
      if (some.length) groups.push({ key: state, name, quiet: true, beacons: some });
    }
    patch(places.list, groups, (group) => group.key, placeCard, (card, group) => updatePlace(card, group, near));
  }

  function drawRegions(list, ranged) {
    show(regions.node, list.length > 0);
    patch(regions.list, list, (region) => region.name, regionCard, (card, region) => {
      updateRegion(card, region, ranged.filter((beacon) => beacon.regions.includes(region.name)));
    });
  }

  function drawBeacons(regionList, located, ranged) {
    show(beacons.node, ranged.length > 0 || regionList.length > 0 || located.places.length > 0);
    show(quiet, !ranged.length);
    const where = new Map(located.beacons.map((beacon) => [identity(beacon), beacon]));
    const several = new Set(ranged.map((beacon) => beacon.uuid.toUpperCase())).size > 1;
    // The list keeps its order while the user points at or focuses a row.
    const held = beacons.list.matches(":hover, :focus-within");
    const value = (beacon) => (beacon.accuracy < 0 ? 1e6 : Math.max(beacon.accuracy, 0.05));
    const known = new Set(order);
    const sorted = held && ranged.every((beacon) => known.has(identity(beacon)))
      ? [...ranged].sort((one, other) => order.indexOf(identity(one)) - order.indexOf(identity(other)))
      : steadyOrder(ranged, identity, value, order);
    order = sorted.map(identity);
    glide(beacons.list, () => patch(beacons.list, sorted, identity, beaconRow, (row, beacon) => updateBeacon(row, beacon, where.get(identity(beacon)), several)));
  }

  const load = {
    regions: async () => { seen.regions = (await get("v1/regions")).regions; draw(); },
    places: async () => { seen.places = await get("v1/places"); draw(); },
    beacons: async () => { seen.beacons = (await get("v1/beacons")).beacons; draw(); },
    health: async () => { drawNotices(notices, await get("v1/health")); },
  };
  const ends = [
    // Listing beacons does not start ranging, so a separate stream does.
    whileSeen(() => new Stream("v1/ranging/stream?scope=regions", {})),
    poll(load.beacons, 1500, fault),
    poll(async () => { await Promise.all([load.regions(), load.places()]); }, 15000, fault),
    poll(load.health, 20000),
    on("state", (names) => { for (const name of Object.keys(load)) if (names[name]) load[name]().catch(() => {}); if (names.receivers) load.health().catch(() => {}); }),
    on("event", (event) => { if (announced.has(event.kind)) announce(event.summary); }),
    on("resumed", () => { for (const one of Object.values(load)) one().catch(() => {}); }),
    plan.end,
  ];
  return () => ends.forEach((end) => end());
}

function section(id, heading, list) {
  const node = el("section", { "aria-labelledby": `${id}-heading`, hidden: true }, el("h2", { id: `${id}-heading` }, heading));
  const items = el(list, { "aria-labelledby": `${id}-heading` });
  node.append(items);
  return { node, list: items };
}

function drawNotices(list, answer) {
  const some = answer.findings.filter((finding) => finding.severity === "error" || finding.severity === "warning");
  patch(list, some, (finding) => finding.severity + finding.what, (finding) => el(`li.notice.${finding.severity === "error" ? "bad" : "warn"}`, null,
    el("span", null, el("b", null, finding.severity === "error" ? "Error: " : "Warning: "), finding.what), el("a", { href: "#/health", "aria-label": "Details on the page Health" }, "Health")));
}

function placeCard(group) {
  const quiet = group.quiet ? ".quiet" : "";
  return el(`li.card.place${quiet}`, null,
    el("div.card-head", null, el("h3", null, group.name), el("span.number")),
    el("p.dark-note.warn-text", { hidden: true }, "Dark: no receiver of this place hears"),
    el("ul.people", { "aria-label": group.quiet ? group.name : `Beacons in ${group.name}` }),
    el("p.hint.nobody", null, "No beacon is here"));
}

function updatePlace(card, group, near) {
  text(card.querySelector(".number"), String(group.beacons.length));
  attribute(card.querySelector(".number"), "title", counted(group.beacons.length, "beacon"));
  if (group.receivers) attribute(card.querySelector("h3"), "title", `Receivers: ${group.receivers.join(", ")}`);
  show(card.querySelector(".dark-note"), Boolean(group.dark));
  show(card.querySelector(".nobody"), !group.beacons.length);
  attribute(card, "data-dark", group.dark ? "yes" : null);
  patch(card.querySelector(".people"), group.beacons, identity, (beacon) => {
    const time = timeNode("for");
    const node = el("li", null, el("div.who", null, el("span.name"), el("span.since", null, time, el("span.from"))), whyButton(() => ({ beacon: identity(beacon) }), beaconName(beacon)));
    return node;
  }, (node, beacon) => {
    text(node.querySelector(".name"), beaconName(beacon));
    attribute(node.querySelector(".name"), "title", `${beacon.uuid.toUpperCase()}, major ${beacon.major}, minor ${beacon.minor}`);
    setTime(node.querySelector("time"), beacon.since);
    const heard = near.get(identity(beacon));
    const parts = [];
    if (beacon.before && beacon.before !== beacon.place) parts.push(beacon.state === "inside" ? `from ${beacon.before}` : `last in ${beacon.before}`);
    if (beacon.level !== null && beacon.level !== undefined) parts.push(measure(beacon.level, "dBm"));
    text(node.querySelector(".from"), parts.map((part) => `, ${part}`).join(""));
    const lead = beacon.margin !== null && beacon.margin !== undefined && beacon.runnerUp ? `Leads ${beacon.runnerUp} by ${measure(beacon.margin, "dB")}` : null;
    attribute(node.querySelector(".from"), "title", lead || (heard ? `${distance(heard.accuracy, heard.range)} from ${heard.receiver}` : null));
  });
}

function regionCard(region) {
  return el("li.card.region", null,
    el("div.card-head", null, el("h3", null, region.name), whyButton(() => ({ region: region.name }), `Region ${region.name}`)),
    el("p.state", null, stateGlyph(), el("b.word"), el("span.state-time", null, " ", timeNode("for"))),
    el("p.members"),
    el("p.identity", null));
}

function updateRegion(card, region, members) {
  attribute(card, "data-state", region.state);
  text(card.querySelector(".word"), stateWords[region.state] || region.state);
  setTime(card.querySelector("time"), region.since);
  const sorted = [...members].sort((one, other) => (one.accuracy < 0 ? 1e6 : one.accuracy) - (other.accuracy < 0 ? 1e6 : other.accuracy));
  const names = sorted.filter((beacon) => beacon.name).map((beacon) => beacon.name).sort();
  const others = sorted.length - names.length;
  const shown = names.slice(0, 4);
  const rest = others + names.length - shown.length;
  const list = shown.concat(rest ? [shown.length ? counted(rest, "other") : counted(rest, "beacon")] : []).join(", ");
  text(card.querySelector(".members"), list || (region.state === "inside" ? "No beacon is heard right now" : region.state === "unknown" ? "Not determined yet" : "None of its beacons is heard"));
  const parts = [shortUUID(region.uuid)];
  if (region.major !== null && region.major !== undefined) parts.push(`major ${region.major}`);
  if (region.minor !== null && region.minor !== undefined) parts.push(`minor ${region.minor}`);
  if (region.receiver) parts.push(`at ${region.receiver}`);
  text(card.querySelector(".identity"), parts.join(", "));
  attribute(card.querySelector(".identity"), "title", regionIdentity(region));
}

function beaconRow(beacon) {
  return el("li.row.beacon", null,
    el("span.proximity", null, proximityGlyph(), el("span.word")),
    el("div.who", null, el("span.name"), el("span.since")),
    el("span.distance", null, el("b"), el("span.range")),
    el("span.signal"),
    whyButton(() => ({ beacon: identity(beacon) }), beaconName(beacon)));
}

function updateBeacon(row, beacon, located, several) {
  attribute(row, "data-proximity", beacon.proximity);
  text(row.querySelector(".word"), proximityWords[beacon.proximity] || beacon.proximity);
  text(row.querySelector(".name"), beaconName(beacon));
  const parts = [];
  if (several || beacon.name) parts.push(beacon.name ? `${shortUUID(beacon.uuid)} ${beacon.major} · ${beacon.minor}` : shortUUID(beacon.uuid));
  parts.push(located?.state === "inside" ? `in ${located.place}` : `at ${beacon.receiver}`);
  text(row.querySelector(".since"), parts.join(", "));
  attribute(row.querySelector(".who"), "title", `${beacon.uuid.toUpperCase()}, major ${beacon.major}, minor ${beacon.minor}, at ${beacon.receiver}`);
  text(row.querySelector(".distance b"), beacon.accuracy < 0 ? "–" : distance(beacon.accuracy, beacon.range));
  const ends = distanceRange(beacon.accuracy, beacon.range);
  text(row.querySelector(".range"), ends ? ` (${ends})` : "");
  text(row.querySelector(".signal"), beacon.rssi ? signal(beacon.rssi) : "not heard");
}
