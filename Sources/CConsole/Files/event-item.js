// An event in a list: its kind, its summary, and its details while open.

import { query } from "./api.js";
import { el, facts, svg } from "./dom.js";
import { beaconName, clock, distanceWithRange, exact, identity, machineTime, signal } from "./format.js";
import { why } from "./why.js";

/** The kinds of events, with their labels. */
export const kinds = {
  enter: "Enter", exit: "Exit", state: "State", place: "Place", proximity: "Proximity", gone: "Gone", suspicious: "Suspicious", app: "App", refused: "Refused", user: "User", receiver: "Receiver",
};
/** The paths of the kinds' glyphs. */
const glyphs = {
  enter: "M2 8h8M7 4.5l3.5 3.5L7 11.5M10 2h4v12h-4", exit: "M6 8h8M10.5 4.5L14 8l-3.5 3.5M6 2H2v12h4",
  state: "M8 2.5a5.5 5.5 0 1 0 .01 0", place: "M8 14C5 10.5 3.5 8.5 3.5 6.3a4.5 4.5 0 0 1 9 0c0 2.2-1.5 4.2-4.5 7.7zM8 6.3v.01",
  proximity: "M3 13v-2M8 13V7M13 13V3", gone: "M3.5 8h9", suspicious: "M8 2l6.2 11.5H1.8zM8 6.5v3.2M8 11.7v.01", receiver: "M8 9v5M5 6a3 3 0 0 1 6 0M2.5 6a5.5 5.5 0 0 1 11 0",
  refused: "M8 2.2a5.8 5.8 0 1 0 .01 0M4 12l8-8",
  app: "M5 1.8h6a1 1 0 0 1 1 1v10.4a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V2.8a1 1 0 0 1 1-1zM7.5 12h1", user: "M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8zM2.8 14a5.2 5.2 0 0 1 10.4 0",
};

/** Creates the glyph of a kind. */
export function kindGlyph(kind) {
  return svg("svg.kind-glyph", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: glyphs[kind] || glyphs.state }));
}

/** Creates an event as a list item. The set holds the numbers of open events; `time` formats the event's time. */
export function eventItem(event, opened = new Set(), time = clock) {
  const body = el("div.event-body");
  const by = event.user || event.receiver || event.sender;
  const details = el("details", null,
    el("summary", null,
      el("time", { datetime: machineTime(event.time), title: exact(event.time) }, time(event.time)),
      el("span.kind", null, kindGlyph(event.kind), el("span", null, kinds[event.kind] || event.kind)),
      el("span.summary", null, event.summary),
      by ? el("span.receiver", { title: event.user ? "User" : event.receiver ? "Receiver" : "Sender" }, by) : null),
    body);
  details.addEventListener("toggle", () => {
    if (details.open) {
      opened.add(event.id);
      if (!body.childElementCount) fillBody(body, event);
    } else opened.delete(event.id);
  });
  return el("li.event", { id: `event-${event.id}`, "data-kind": event.kind }, details);
}

function fillBody(body, event) {
  const { beacon, detail } = event;
  const grounds = detail.suspicion || {};
  body.append(facts([
    ["When", exact(event.time)], ["Region", event.region], ["Place", event.place], ["Receiver", event.receiver],
    ["User", event.user], ["Sent by", event.sender],
    ["Install", event.install ? el("a", { href: `#/people/${encodeURIComponent(event.install)}` }, event.install) : null],
    ["Beacon", beacon ? beaconName(beacon) : null],
    ["Attributes", beacon?.attributes ? Object.entries(beacon.attributes).map(([key, value]) => `${key}: ${value}`).join(", ") : null],
    ["Identity", beacon ? `${beacon.uuid.toUpperCase()}, major ${beacon.major}, minor ${beacon.minor}` : null],
    ["Distance", typeof detail.accuracy === "number" ? distanceWithRange(detail.accuracy) : null],
    ["Addresses", grounds.addresses?.length ? [...new Set(grounds.addresses)].join(", ") : null],
    ["Receivers", grounds.receivers?.length ? [...new Set(grounds.receivers)].join(", ") : null],
    ["Signal", typeof detail.rssi === "number" ? signal(detail.rssi) : null],
  ]));
  const actions = el("div.actions.start");
  // Events from an app's phone do not explain this machine's own regions and beacons.
  const isOwn = !event.install && !event.sender;
  if (event.region) {
    if (isOwn) actions.append(el("button.small", { type: "button", click: () => why({ region: event.region }) }, `Why? ${event.region}`));
    actions.append(el("a.button.small", { href: `#/events${query({ region: event.region })}` }, `Only ${event.region}`));
  }
  if (beacon && isOwn) actions.append(el("button.small", { type: "button", click: () => why({ beacon: identity(beacon) }) }, `Why? ${beaconName(beacon)}`));
  actions.append(el("a.button.small", { href: `#/events${query({ at: event.time })}` }, "Who was where then"));
  body.append(actions);
  body.append(el("details.json", null, el("summary", null, "JSON"), el("pre", null, el("code", null, JSON.stringify(event.data ? { ...detail, data: event.data } : detail, null, 2)))));
}
