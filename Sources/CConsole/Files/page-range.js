// Range for Beacons: add constraints, and range their beacons once a second while the page is open.

import { Stream, connection, on, whileSeen } from "./api.js";
import { announce, attribute, el, patch, show, steadyOrder, svg, text } from "./dom.js";
import { beaconName, counted, distance, distanceRange, distanceWithRange, identity, parseUUID, parseWhole, proximities, proximityWords, shortUUID, signal } from "./format.js";

export const title = "Range";

const defaultUUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0";
const storeKey = "beacond.ranging";
const seconds = 60;

/** Returns the stored constraints: `UUID[/MAJOR[/MINOR]]`, or "all". */
function stored() {
  try {
    const list = JSON.parse(localStorage.getItem(storeKey) || "[]");
    return Array.isArray(list) ? list.filter((item) => typeof item === "string").slice(0, 20) : [];
  } catch { return []; }
}
function store(list) {
  try { localStorage.setItem(storeKey, JSON.stringify(list)); } catch { /* The browser stores nothing. */ }
}

function constraintWords(constraint) {
  if (constraint === "all") return "Every beacon";
  const [uuid, major, minor] = constraint.split("/");
  return [uuid, major !== undefined ? `major ${major}` : null, minor !== undefined ? `minor ${minor}` : null].filter(Boolean).join(", ");
}

export function open(root) {
  let constraints = stored();
  let endStream = null;
  let selected = null;
  let orders = {};
  /** The newest report of each receiver and constraint. */
  const reports = new Map();
  /** The last minute of each beacon: `[time, accuracy, range, rssi]`. */
  const histories = new Map();

  const uuid = field("uuid", "UUID", { value: defaultUUID, spellcheck: "false", autocapitalize: "characters", autocomplete: "off", maxlength: 40 });
  const major = field("major", "Major", { inputmode: "numeric", placeholder: "any", autocomplete: "off", maxlength: 5 });
  const minor = field("minor", "Minor", { inputmode: "numeric", placeholder: "any", autocomplete: "off", maxlength: 5 });
  const form = el("form.add-form", { novalidate: true },
    uuid.node, major.node, minor.node, el("button.primary", null, "Add"));
  const chips = el("ul.chips", { "aria-label": "Ranged" });
  const every = el("button.small", { type: "button", click: () => add("all") }, "Range every beacon");
  const nothing = el("div.empty", null, el("p.empty-title", null, "No beacons are ranged"),
    el("p", null, "Add the UUID of your beacons above; the default is the UUID of Apple's sample. Or range everything on the air."), every);
  const waiting = el("p.hint", { role: "status", hidden: true }, "None of these beacons has been heard yet. Are they switched on and within about ten meters?");
  const radar = makeRadar((key) => select(key));
  const graph = makeGraph();
  const sections = new Map(proximities.map((proximity) => [proximity, makeSection(proximity, select)]));
  const live = el("div.range-live", { hidden: true },
    el("div.range-tables", null, waiting, ...[...sections.values()].map((section) => section.node)),
    el("div.range-pictures", null, radar.node, graph.node));
  root.append(
    el("header.page-head", null, el("h1", null, "Range for Beacons"), el("p.lede", null, "Ranging continues while this page is open.")),
    form, chips, nothing, live);

  function validate(showAll) {
    const id = parseUUID(uuid.input.value);
    uuid.fault(id || (!showAll && !uuid.input.value) ? "" : "A UUID has 32 hexadecimal digits.");
    const parsed = [major, minor].map((one) => {
      const given = one.input.value.trim();
      const value = given === "" ? undefined : parseWhole(given, 0, 65535);
      one.fault(value === null ? "0 to 65535" : "");
      return value;
    });
    if (parsed[1] !== undefined && parsed[1] !== null && parsed[0] === undefined) {
      major.fault("A minor needs a major.");
      return null;
    }
    if (!id || parsed.includes(null)) return null;
    return [id, ...parsed.filter((value) => value !== undefined)].join("/");
  }
  for (const one of [uuid, major, minor]) one.input.addEventListener("input", () => validate(false));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const constraint = validate(true);
    if (!constraint) { form.querySelector("[aria-invalid=true]")?.focus(); return; }
    add(constraint);
  });

  function add(constraint) {
    if (constraints.includes(constraint)) { announce("It is already being ranged"); return; }
    constraints = constraint === "all" ? ["all"] : constraints.filter((one) => one !== "all").concat(constraint).slice(-20);
    announce(`${constraintWords(constraint)} is ranged`);
    changed();
  }
  function remove(constraint) {
    const index = constraints.indexOf(constraint);
    constraints = constraints.filter((one) => one !== constraint);
    changed();
    (chips.querySelectorAll("button")[Math.min(index, constraints.length - 1)] || uuid.input).focus();
    announce(`${constraintWords(constraint)} is no longer ranged`);
  }
  function changed() {
    store(constraints);
    patch(chips, constraints, (one) => one, (one) => el("li.chip", null, el("span", null, constraintWords(one)),
      el("button.remove", { type: "button", "aria-label": `Remove ${constraintWords(one)}`, title: "Remove", click: () => remove(one) }, "×")));
    show(chips, constraints.length > 0);
    show(nothing, !constraints.length);
    show(live, constraints.length > 0);
    endStream?.();
    endStream = null;
    reports.clear();
    if (!constraints.length) { histories.clear(); return; }
    const regions = constraints.includes("all") ? "" : `?${constraints.map((one) => `region=${encodeURIComponent(one)}`).join("&")}`;
    endStream = whileSeen(() => new Stream(`v1/ranging/stream${regions}`, { ranging: report }));
    draw();
  }

  function report(data) {
    const region = data.region ? `${data.region.uuid}/${data.region.major}/${data.region.minor}` : "all";
    reports.set(`${data.receiver} ${region}`, { at: performance.now(), time: data.time, beacons: data.beacons });
    // Reports of several receivers and constraints arrive together. Draw once for all of them.
    drawing ??= setTimeout(() => { drawing = null; draw(); }, 60);
  }
  let drawing = null;

  /** Returns the beacons of all reports within the last five seconds, each from its strongest report. */
  function beacons() {
    const best = new Map();
    for (const [key, one] of reports) {
      if (performance.now() - one.at > 5000 && connection.state !== "lost") { reports.delete(key); continue; }
      for (const beacon of one.beacons) {
        const id = identity(beacon);
        const known = best.get(id);
        if (!known || strength(beacon) > strength(known)) best.set(id, { ...beacon, time: one.time });
      }
    }
    return [...best.values()];
  }

  function draw() {
    const list = beacons();
    const newest = Math.max(0, ...list.map((beacon) => beacon.time));
    for (const beacon of list) {
      const key = identity(beacon);
      let history = histories.get(key);
      if (!history) histories.set(key, history = []);
      const last = history[history.length - 1];
      if (!last || beacon.time > last.time + 0.5) history.push({ time: beacon.time, accuracy: beacon.accuracy, range: beacon.range, rssi: beacon.rssi });
      else if (beacon.time >= last.time) Object.assign(last, { accuracy: beacon.accuracy, range: beacon.range, rssi: beacon.rssi });
      while (history.length && history[0].time < beacon.time - seconds - 2) history.shift();
    }
    for (const [key, history] of histories) if (history[history.length - 1].time < newest - 120) histories.delete(key);
    show(waiting, constraints.length > 0 && !list.length);
    const value = (beacon) => (beacon.accuracy < 0 ? 1e6 + beacon.minor : Math.max(beacon.accuracy, 0.05));
    const several = new Set(list.map((beacon) => beacon.uuid.toUpperCase())).size > 1;
    let first = null;
    const focused = document.activeElement?.closest?.("tr[data-key]")?.dataset.key;
    for (const [proximity, section] of sections) {
      const sorted = steadyOrder(list.filter((beacon) => beacon.proximity === proximity), identity, value, orders[proximity] || []);
      orders[proximity] = sorted.map(identity);
      first ??= orders[proximity][0] ?? null;
      section.update(sorted, selected, several);
    }
    // A beacon that moved to another section keeps the focus.
    if (focused && !live.contains(document.activeElement)) {
      [...live.querySelectorAll("tr")].find((row) => row.dataset.key === focused)?.querySelector("button").focus({ preventScroll: true });
    }
    if ((!selected || !histories.has(selected)) && first) { selected = first; for (const [proximity, section] of sections) section.mark(selected, proximity); }
    radar.update(list, selected);
    const chosen = list.find((beacon) => identity(beacon) === selected);
    graph.update(chosen, selected ? histories.get(selected) : null, newest);
    show(live.querySelector(".range-pictures"), list.length > 0 || histories.size > 0);
  }

  function select(key) {
    selected = key;
    draw();
    announce(`The graph shows ${graph.name()}`);
  }

  changed();
  const end = on("resumed", () => changed());
  return () => {
    endStream?.();
    clearTimeout(drawing);
    end();
  };
}

const strength = (beacon) => (beacon.accuracy < 0 ? -1000 : 0) + (beacon.rssi || -200);

function field(id, label, attributes) {
  const input = el("input", { id: `range-${id}`, "aria-describedby": `range-${id}-fault`, ...attributes });
  const fault = el("p.field-problem", { id: `range-${id}-fault` });
  return {
    node: el(`div.field.field-${id}`, null, el("label", { for: `range-${id}` }, label), input, fault), input,
    fault: (message) => { text(fault, message); attribute(input, "aria-invalid", message ? "true" : null); },
  };
}

function makeSection(proximity, select) {
  const body = el("tbody");
  const number = el("span.number");
  const heading = el("h2", { id: `range-${proximity}` }, proximityWords[proximity], " ", number);
  const table = el("table.beacons", { "aria-labelledby": `range-${proximity}` },
    el("thead", null, el("tr", null, el("th", { scope: "col" }, "Beacon"), el("th.right", { scope: "col" }, "Major"), el("th.right", { scope: "col" }, "Minor"), el("th.right", { scope: "col" }, "Distance"), el("th.right", { scope: "col" }, "Signal"))), body);
  const node = el("section.zone", { "data-proximity": proximity, hidden: true }, heading, table);
  return {
    node,
    update(list, selected) {
      show(node, list.length > 0);
      text(number, String(list.length));
      patch(body, list, identity, (beacon) => {
        const key = identity(beacon);
        const button = el("button.link", { type: "button", click: (event) => { event.stopPropagation(); select(key); } });
        return el("tr", { click: () => select(key), "data-key": key },
          el("td.first", null, button), el("td.right.tabular"), el("td.right.tabular"),
          el("td.right.tabular.distance", null, el("b"), " ", el("span.range")), el("td.right.tabular.signal", null, el("span"), el("span.unit", null, " dBm")));
      }, (row, beacon) => {
        const [first, majorCell, minorCell, distanceCell, signalCell] = row.children;
        text(first.firstChild, beacon.name || shortUUID(beacon.uuid));
        attribute(first.firstChild, "title", beacon.uuid.toUpperCase());
        attribute(first.firstChild, "aria-label", `${beacon.name || shortUUID(beacon.uuid)}, major ${beacon.major}, minor ${beacon.minor}: show its graph`);
        attribute(first.firstChild, "aria-pressed", String(identity(beacon) === selected));
        text(majorCell, String(beacon.major));
        text(minorCell, String(beacon.minor));
        text(distanceCell.firstChild, distance(beacon.accuracy, beacon.range));
        const ends = distanceRange(beacon.accuracy, beacon.range);
        text(distanceCell.lastChild, ends ? `(${ends})` : "");
        text(signalCell.firstChild, beacon.rssi ? signal(beacon.rssi).slice(0, -4) : "none");
        show(signalCell.lastChild, Boolean(beacon.rssi));
      });
    },
    mark(selected) {
      for (const row of body.children) attribute(row.querySelector("button"), "aria-pressed", String(row.dataset.key === selected));
    },
  };
}

// The radar.

const size = 440;
const center = size / 2;
const edge = 210;
const rings = [0.5, 3, 10];
const least = 0.1;
const most = 40;

/** Returns the radius of a distance on a logarithmic scale from 0.1 to 40 m. */
function radius(meters) {
  const clamped = Math.min(Math.max(meters, least), most);
  return edge * Math.log(clamped / least) / Math.log(most / least);
}

/** Returns an angle that is always the same for a beacon. */
function angle(key) {
  let hash = 2166136261;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 16777619) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519) >>> 0;
  return ((hash ^ (hash >>> 13)) >>> 0) / 4294967296 * 2 * Math.PI;
}

function makeRadar(select) {
  const name = svg("title", { id: "radar-title" });
  name.textContent = "Radar: the distance of each beacon";
  const alternative = svg("desc", { id: "radar-text" });
  const dots = svg("g");
  const picture = svg("svg.radar", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-labelledby": "radar-title radar-text" }, name, alternative);
  picture.append(svg("circle.rim", { cx: center, cy: center, r: edge }));
  for (const ring of rings) {
    const label = svg("text.ring-label", { x: center, y: center + radius(ring) + 4, "text-anchor": "middle" });
    label.textContent = `${ring} m`;
    picture.append(svg("circle.ring", { cx: center, cy: center, r: radius(ring) }), label);
  }
  picture.append(svg("circle.self", { cx: center, cy: center, r: 4 }), dots);
  const figure = el("figure.picture", null, picture, el("figcaption", null, "Distances are measured; directions are not: a beacon's angle only separates it from the others."));

  return {
    node: figure,
    update(list, selected) {
      const shown = list.filter((beacon) => beacon.accuracy >= 0).sort((one, other) => one.accuracy - other.accuracy);
      const taken = rings.map((ring) => [center - 17, center + radius(ring) - 8, center + 17, center + radius(ring) + 8]);
      const points = shown.map((beacon) => {
        const key = identity(beacon);
        const turn = angle(key);
        const far = radius(beacon.accuracy);
        const x = center + Math.cos(turn) * far, y = center + Math.sin(turn) * far;
        return { beacon, key, turn, x, y };
      });
      for (const point of points) taken.push([point.x - 7, point.y - 7, point.x + 7, point.y + 7]);
      points.sort((one, other) => Number(other.key === selected) - Number(one.key === selected));
      for (const point of points) place(point, taken);
      patch(dots, points, (point) => point.key, (point) => {
        const node = svg("g.dot", { click: () => select(point.key) }, svg("line.reach", {}), svg("g.mark", {}, svg("circle", { r: 6.5 }), svg("text", {})));
        return node;
      }, (node, point) => {
        const { beacon } = point;
        attribute(node, "data-proximity", beacon.proximity);
        attribute(node, "data-selected", point.key === selected ? "yes" : null);
        const [reach, mark] = node.children;
        const [from, to] = beacon.range || [beacon.accuracy, beacon.accuracy];
        attribute(reach, "x1", (center + Math.cos(point.turn) * radius(from)).toFixed(1));
        attribute(reach, "y1", (center + Math.sin(point.turn) * radius(from)).toFixed(1));
        attribute(reach, "x2", (center + Math.cos(point.turn) * radius(to ?? most)).toFixed(1));
        attribute(reach, "y2", (center + Math.sin(point.turn) * radius(to ?? most)).toFixed(1));
        mark.style.setProperty("--x", `${point.x.toFixed(1)}px`);
        mark.style.setProperty("--y", `${point.y.toFixed(1)}px`);
        const label = mark.lastChild;
        text(label, point.label || "");
        if (point.label) {
          attribute(label, "x", point.dx);
          attribute(label, "y", point.dy);
          attribute(label, "text-anchor", point.anchor);
        }
      });
      const nearest = shown.slice(0, 5).map((beacon) => `${beaconName(beacon)} at ${distanceWithRange(beacon.accuracy, beacon.range)}`);
      text(alternative, shown.length ? `${counted(shown.length, "beacon")}. Nearest first: ${nearest.join("; ")}. The tables list all of them.` : "No beacon has a known distance.");
    },
  };
}

/** Places a dot's label where it covers no other. If there is no such place, the dot has no label. */
function place(point, taken) {
  const words = beaconName(point.beacon);
  const short = words.length > 18 ? `${words.slice(0, 17)}…` : words;
  const width = short.length * 7.2 * (innerWidth > 720 ? 1 : 1.3) + 4;
  const tries = [
    { dx: 12, dy: 5, anchor: "start", left: 10, top: -8 }, { dx: -12, dy: 5, anchor: "end", left: -12 - width, top: -8 },
    { dx: 0, dy: 24, anchor: "middle", left: -width / 2, top: 10 }, { dx: 0, dy: -14, anchor: "middle", left: -width / 2, top: -28 },
  ];
  if (point.x > center) tries.unshift(...tries.splice(1, 1));
  for (const one of tries) {
    const box = [point.x + one.left, point.y + one.top, point.x + one.left + width, point.y + one.top + 17];
    if (box[0] < 0 || box[2] > size || box[1] < 0 || box[3] > size) continue;
    const clear = taken.every((other) => {
      const own = other[0] === point.x - 7 && other[1] === point.y - 7;
      return own || other[0] > box[2] || other[2] < box[0] || other[1] > box[3] || other[3] < box[1];
    });
    if (!clear) continue;
    taken.push(box);
    Object.assign(point, one, { label: short });
    return;
  }
  point.label = null;
}

// The graph of a beacon's last minute.

const wide = 440;
const left = 52;
const right = 8;
const panels = { distance: [10, 160], signal: [190, 270] };

function makeGraph() {
  const heading = el("b");
  const reading = el("span");
  const name = svg("title", { id: "graph-title" });
  const picture = svg("svg.graph", { viewBox: `0 0 ${wide} 296`, role: "img", "aria-labelledby": "graph-title" }, name);
  const line = (y, label) => {
    const words = svg("text.axis", { x: left - 7, y: y + 4, "text-anchor": "end" });
    words.textContent = label;
    return [svg("line.grid", { x1: left, x2: wide - right, y1: y, y2: y }), words];
  };
  for (const meters of [0.1, ...rings, most]) picture.append(...line(distanceY(meters), String(meters)));
  for (const level of [-40, -70, -100]) picture.append(...line(signalY(level), `−${-level}`));
  for (const [x, label, anchor] of [[left, "60 s ago", "start"], [left + (wide - left - right) / 2, "30 s", "middle"], [wide - right, "now", "end"]]) {
    const words = svg("text.axis", { x, y: 290, "text-anchor": anchor });
    words.textContent = label;
    picture.append(words);
  }
  const unit = svg("text.axis", { x: wide - right, y: panels.signal[0] - 6, "text-anchor": "end" });
  unit.textContent = "signal in dBm";
  const unit2 = svg("text.axis", { x: wide - right, y: panels.distance[0] + 14, "text-anchor": "end" });
  unit2.textContent = "distance in meters, with its range";
  const band = svg("path.band"), course = svg("path.course"), level = svg("path.level"), end = svg("circle.end", { r: 4 });
  picture.append(band, course, level, end, unit, unit2);
  const figure = el("figure.picture", { hidden: true }, el("figcaption.graph-head", null, heading, reading), picture);
  let called = "";

  return {
    node: figure,
    name: () => called,
    update(beacon, history, newest) {
      show(figure, Boolean(history?.length));
      if (!history?.length) return;
      if (beacon) called = beacon.name || `major ${beacon.major}, minor ${beacon.minor}`;
      text(heading, called);
      text(reading, beacon ? `${distanceWithRange(beacon.accuracy, beacon.range)}, ${signal(beacon.rssi)}` : "no longer heard");
      const now = Math.max(newest, history[history.length - 1].time);
      const x = (time) => left + (wide - left - right) * (1 - (now - time) / seconds);
      const recent = history.filter((point) => point.time >= now - seconds);
      const pieces = split(recent, (point) => point.accuracy >= 0);
      attribute(course, "d", pieces.map((piece) => path(piece, (point) => [x(point.time), distanceY(point.accuracy)])).join(""));
      attribute(band, "d", pieces.map((piece) => {
        const ranged = piece.filter((point) => point.range);
        if (ranged.length < 2) return "";
        const upper = ranged.map((point) => [x(point.time), distanceY(point.range[1] ?? most)]);
        const lower = ranged.map((point) => [x(point.time), distanceY(point.range[0])]).reverse();
        return `${path([...upper, ...lower], (point) => point)}Z`;
      }).join(""));
      attribute(level, "d", split(recent, (point) => point.rssi).map((piece) => path(piece, (point) => [x(point.time), signalY(point.rssi)])).join(""));
      const last = recent[recent.length - 1];
      const known = last && last.accuracy >= 0;
      attribute(end, "cx", known ? x(last.time).toFixed(1) : -20);
      attribute(end, "cy", known ? distanceY(last.accuracy).toFixed(1) : -20);
      const all = recent.filter((point) => point.accuracy >= 0).sort((one, other) => one.accuracy - other.accuracy)
        .map((point) => distance(point.accuracy, point.range));
      text(name, all.length ? `The last minute of ${called}: from ${all[0]} to ${all[all.length - 1]}` : `The last minute of ${called}: no known distance`);
    },
  };
}

function distanceY(meters) {
  const [top, bottom] = panels.distance;
  return bottom - (bottom - top) * radius(meters) / edge;
}
function signalY(level) {
  const [top, bottom] = panels.signal;
  return top + (bottom - top) * (Math.min(Math.max(-level, 30), 105) - 30) / 75;
}
const path = (points, place) => points.map((point, index) => `${index ? "L" : "M"}${place(point).map((number) => number.toFixed(1)).join(" ")}`).join("");

/** Splits the points into pieces at missing values and at gaps of more than four seconds. */
function split(points, known) {
  const pieces = [];
  let piece = null;
  let before = null;
  for (const point of points) {
    if (!known(point)) { piece = null; continue; }
    if (!piece || point.time - before > 4) pieces.push(piece = []);
    piece.push(point);
    before = point.time;
  }
  return pieces;
}
