// History: how receivers heard one beacon, how far it was and where, on one time axis, and what other settings would
// have made of it.

import { get, now, query } from "./api.js";
import { announce, attribute, el, empty, patch, patchFacts, problemNode, show, showProblem, svg, text } from "./dom.js";
import { clock, counted, distanceWithRange, identity, measure, shortTime, span as spanOf } from "./format.js";

export const title = "History";

const spans = [["900", "15 minutes"], ["3600", "Hour"], ["21600", "6 hours"], ["86400", "Day"]];
const steps = 300;
/** The panels of the picture, from top to bottom: their heights and the space above each. */
const rows = { place: [0, 34], distance: [58, 110], signal: [192, 150], all: 350 };
const [nearest, farthest] = [0.2, 40];
const [faintest, loudest] = [-100, -35];

export function open(root, parameters, rest) {
  let beacon = rest.length === 3 ? rest.join("/") : null;
  let until = Number(parameters.get("at")) || null;
  let trace = null;
  let generation = 0;

  const fault = problemNode();
  const chooser = el("select", { id: "history-beacon" });
  const length = el("select", { id: "history-span" }, ...spans.map(([value, word]) => el("option", { value }, word)));
  length.value = parameters.get("span") || "3600";
  if (!length.value) length.value = "3600";
  const end = el("input", { id: "history-end", type: "datetime-local", step: 1 });
  const earlier = el("button.small", { type: "button" }, "Earlier");
  const later = el("button.small", { type: "button" }, "Later");
  const toNow = el("button.small", { type: "button" }, "Until now");
  const control = (id, label, node) => el("div.field", null, el("label", { for: id }, label), node);
  const reach = el("p.hint");
  const nothing = empty("Nothing was kept of this beacon in this time", "beacond keeps what its receivers hear of named beacons and of regions for some days. Choose another time or beacon.");
  nothing.hidden = true;

  const places = svg("g", {}), lines = svg("g.levels", {}), bands = svg("g.distances", {}), deaf = svg("g.deaf", {}), marks = svg("g.marks", {}), scale = svg("g.scale", {});
  const cursor = svg("line.cursor", { y1: 0, y2: rows.all });
  const picture = svg("svg.history", { viewBox: `0 0 ${steps} ${rows.all}`, preserveAspectRatio: "none", "aria-hidden": "true" }, deaf, scale, places, bands, lines, marks, cursor);
  const words = el("div.history-words", { "aria-hidden": "true" });
  const slider = el("input.scrub", { type: "range", id: "history-moment", min: 0, max: steps, step: 1, value: steps });
  const axis = el("div.timeline-axis", { "aria-hidden": "true" }, el("span"), el("span"), el("span"));
  const legend = el("ul.history-legend", { "aria-label": "Receivers" });
  const moment = el("h2", { id: "moment-heading" });
  const facts = el("dl.facts");
  const askWhy = el("button.small", { type: "button" }, "Why?");
  const reasons = el("ul.why-sentences");
  const events = el("ol.history-events");
  const figure = el("section.history-figure", { "aria-labelledby": "history-heading", hidden: true },
    el("h2.offscreen", { id: "history-heading" }, "Place, distance and signal"),
    el("div.picture.history-picture", null, picture, words, el("label.offscreen", { for: "history-moment" }, "Moment"), slider, axis, legend),
    el("section.card", { "aria-labelledby": "moment-heading" }, el("div.card-head", null, moment, askWhy), facts, el("div", { role: "status" }, reasons)),
    el("section", { "aria-labelledby": "history-events-heading" }, el("h2", { id: "history-events-heading" }, "Events"), events));

  const margin = el("input", { id: "what-if-margin", type: "number", min: 0, max: 60, step: 1, inputmode: "numeric" });
  const hold = el("input", { id: "what-if-hold", type: "number", min: 0, max: 3600, step: 1, inputmode: "numeric" });
  const tryIt = el("button", { type: "submit" }, "Compare");
  const differences = el("ul.what-if-list"), verdict = el("p", { role: "status" });
  const whatIf = el("section.card", { "aria-labelledby": "what-if-heading", hidden: true },
    el("h2", { id: "what-if-heading" }, "What if?"),
    el("p.hint", null, "Plays this time again with other rules of places, for all beacons, and shows what would have been different, also which rules would have run. Nothing changes, and nothing is started or sent."),
    el("form.what-if", null, el("div.field-row", null, control("what-if-margin", "Margin in dB", margin), control("what-if-hold", "Hold time in s", hold)), tryIt), verdict, differences);

  root.append(el("header.page-head", null, el("h1", null, "History"), el("p.lede", null, "What was heard of a beacon, and what followed from it.")),
    el("form.history-choice", null, control("history-beacon", "Beacon", chooser), control("history-span", "Length", length), control("history-end", "Until", end),
      el("div.history-steps", null, earlier, later, toNow)), reach, fault, nothing, figure, whatIf);

  const remember = () => history.replaceState(null, "", `#/history/${beacon}${query({ span: length.value, at: until === null ? null : Math.round(until) })}`);

  async function loadBeacons() {
    const answer = await get("v1/registered-beacons");
    const named = answer.beacons.map((one) => ({ key: identity(one), name: one.name }));
    if (beacon && !named.some((one) => one.key.toLowerCase() === beacon.toLowerCase())) named.push({ key: beacon, name: beacon });
    patch(chooser, named, (one) => one.key, (one) => el("option", { value: one.key }, one.name));
    beacon ??= named[0]?.key ?? null;
    if (beacon) chooser.value = named.find((one) => one.key.toLowerCase() === beacon.toLowerCase()).key;
    show(nothing, !beacon);
  }

  async function load() {
    if (!beacon) return;
    const mine = ++generation;
    const to = until ?? now();
    const from = to - Number(length.value);
    end.value = local(to);
    later.disabled = toNow.disabled = until === null;
    attribute(root, "aria-busy", "true");
    try {
      const found = await get(`v1/trace${query({ beacon, from, to, steps })}`);
      if (mine !== generation) return;
      trace = found;
      showProblem(fault, null);
      draw();
    } catch (problem) {
      if (mine !== generation) return;
      trace = null;
      showProblem(fault, problem);
      show(nothing, false);
      show(figure, false);
      show(whatIf, false);
    } finally { if (mine === generation) attribute(root, "aria-busy", null); }
  }

  const x = (time) => Math.min(steps, Math.max(0, (time - trace.from) / (trace.to - trace.from) * steps));
  const meters = (value) => {
    const part = Math.log(Math.min(farthest, Math.max(nearest, value)) / nearest) / Math.log(farthest / nearest);
    return rows.distance[0] + part * rows.distance[1];
  };
  const decibels = (level) => rows.signal[0] + (loudest - Math.min(loudest, Math.max(faintest, level))) / (loudest - faintest) * rows.signal[1];

  function draw() {
    const count = trace.distances.length;
    const at = (index) => index * steps / count;
    const isKnown = trace.receivers.some((one) => one.levels.some((level) => level !== null)) || trace.stays.length > 0;
    show(nothing, !isKnown);
    show(figure, isKnown);
    show(whatIf, isKnown && trace.stays.length > 0);
    text(reach, trace.unsettled.length ? `From ${clock(trace.unsettled[0].from)} to ${clock(trace.unsettled.at(-1).to)} it may differ from what happened: what was heard before was not kept.` : "");
    patch(deaf, trace.receivers.flatMap((one, index) => one.deaf.map((span) => ({ key: `${index} ${span.from}`, ...span }))), (one) => one.key, () => svg("rect", { y: rows.signal[0], height: rows.signal[1] }), (node, one) => {
      attribute(node, "x", x(one.from).toFixed(2));
      attribute(node, "width", Math.max(0.4, x(one.to) - x(one.from)).toFixed(2));
    });
    const names = [...new Set(trace.stays.map((stay) => stay.place).filter(Boolean))];
    patch(places, trace.stays, (stay) => stay.from, () => svg("rect", { y: rows.place[0], height: rows.place[1] }), (node, stay) => {
      attribute(node, "x", x(stay.from).toFixed(2));
      attribute(node, "width", Math.max(0.3, x(stay.to) - x(stay.from)).toFixed(2));
      attribute(node, "data-state", stay.state);
      attribute(node, "data-color", stay.place ? names.indexOf(stay.place) % 6 : null);
    });
    patch(scale, [0.5, 3, 10].map((value) => ({ key: `m${value}`, y: meters(value) })).concat([-50, -70, -90].map((value) => ({ key: `d${value}`, y: decibels(value) }))), (one) => one.key, () => svg("line", { x1: 0, x2: steps }), (node, one) => {
      attribute(node, "y1", one.y.toFixed(1));
      attribute(node, "y2", one.y.toFixed(1));
    });
    const band = trace.distances.map((one, index) => one && { key: `b${index}`, x: at(index), from: meters(one.nearest ?? one.meters), to: meters(one.farthest ?? farthest) }).filter(Boolean);
    const dots = trace.distances.map((one, index) => one && [at(index + 0.5), meters(one.meters)]);
    patch(bands, [...band, { key: "line", path: path(dots) }], (one) => one.key, (one) => (one.path === undefined ? svg("rect", { width: (steps / count).toFixed(2) }) : svg("path", {})), (node, one) => {
      if (one.path !== undefined) return attribute(node, "d", one.path);
      attribute(node, "x", one.x.toFixed(2));
      attribute(node, "y", one.from.toFixed(1));
      attribute(node, "height", Math.max(1, one.to - one.from).toFixed(1));
    });
    patch(lines, trace.receivers, (one) => one.name, () => svg("path", {}), (node, one) => {
      attribute(node, "data-color", trace.receivers.indexOf(one) % 6);
      attribute(node, "d", path(one.levels.map((level, index) => level !== null && [at(index + 0.5), decibels(level)])));
    });
    patch(marks, trace.events, eventKey, () => svg("line", { y1: rows.place[1], y2: rows.place[1] + 10 }), (node, event) => {
      attribute(node, "data-kind", event.event);
      attribute(node, "x1", x(event.time).toFixed(2));
      attribute(node, "x2", x(event.time).toFixed(2));
    });
    patch(legend, trace.receivers, (one) => one.name, (one) => el("li", null, el("span.swatch", { "aria-hidden": "true" }), one.name), (node, one) => attribute(node, "data-color", trace.receivers.indexOf(one) % 6));
    const labels = [
      ...trace.stays.filter((stay) => x(stay.to) - x(stay.from) > 24).map((stay) => ({ key: `p${stay.from}`, left: x(stay.from), top: rows.place[0] + 6, words: stay.place ?? (stay.state === "unknown" ? "unknown" : "away"), width: x(stay.to) - x(stay.from) })),
      ...[[0.5, "0.5 m"], [3, "3 m"], [10, "10 m"]].map(([value, words]) => ({ key: words, left: 0, top: meters(value), words, isScale: true })),
      ...[-50, -70, -90].map((value) => ({ key: `${value}`, left: 0, top: decibels(value), words: measure(value, "dBm"), isScale: true })),
    ];
    patch(words, labels, (one) => one.key, () => el("span"), (node, one) => {
      text(node, one.words);
      node.className = one.isScale ? "scale-word" : "place-word";
      node.style.left = `${one.left / steps * 100}%`;
      node.style.top = `${one.top / rows.all * 100}%`;
      node.style.maxWidth = one.width ? `${one.width / steps * 100}%` : "";
    });
    [trace.from, (trace.from + trace.to) / 2, trace.to].forEach((time, index) => text(axis.children[index], clock(time).slice(0, 5)));
    patch(events, [...trace.events].reverse(), eventKey, () => el("li", null, el("time"), " ", el("span")), (node, event) => {
      text(node.firstChild, clock(event.time));
      text(node.lastChild, sentence(event));
    });
    if (!trace.events.length) patch(events, [null], () => "none", () => el("li.hint", null, "None in this time."));
    read();
  }

  const path = (points) => {
    let [d, isOpen] = ["", false];
    for (const point of points) {
      if (point) d += `${isOpen ? "L" : "M"}${point[0].toFixed(2)} ${point[1].toFixed(1)}`;
      isOpen = Boolean(point);
    }
    return d;
  };

  /** Explains the place at the chosen moment. */
  let asked = 0;
  async function explain() {
    const mine = ++asked;
    const at = trace.from + (trace.to - trace.from) * Number(slider.value) / steps;
    askWhy.disabled = true;
    try {
      const why = await get(`v1/trace/why${query({ beacon, at })}`);
      if (mine !== asked) return;
      const [first, second] = why.heard;
      tell([
        why.since === null ? "It was placed before the journal begins." : `Placed ${why.place ? `in ${why.place}` : why.state === "unknown" ? "nowhere, since a receiver was deaf," : "in no place"} at ${clock(why.since)}${why.tippedBy ? `, after an advert with ${measure(why.tippedBy.rssi, "dBm")} at ${why.tippedBy.receiver}` : ""}.`,
        first && `${first.place} hears it loudest, with ${measure(first.level, "dBm", 1)}${second ? `; then ${second.place}, ${measure(first.level - second.level, "dB", 1)} behind` : ", and no other place hears it"}.`,
        why.lead > 0 && `Another place has ${Math.round(why.lead * 100)} % of the lead that it needs: ${measure(why.neededLead, "dB·s")} beyond ${measure(why.slack, "dB", 1)}.`,
        ...why.costs.slice(0, 4).map((one) => one.place === null
          ? `Levels unlike all taught places cost ${one.cost} a second${one.behind > 0 ? `, ${one.behind} behind in sum` : ""}.`
          : `${one.place} costs ${one.cost} by what was taught${one.behind > 0 ? `, ${one.behind} behind in sum` : ", the least in sum"}${one.lead ? `: ${measure(Math.abs(one.lead), "dB", 1)} ${one.lead > 0 ? "ahead of" : "behind"} its place` : ""}.`),
        why.deaf.length > 0 && `Deaf: ${why.deaf.join(", ")}.`,
        why.silence > 0 && `Unheard for ${why.silence} s; after ${why.patience} s it is in no place.`,
        ...why.otherwise.map((one) => `With ${one.with}, it would have been ${one.place ? `in ${one.place}` : "in no place"}.`),
        !why.otherwise.length && why.since !== null && "No other margin or hold time that was tried changes that.",
      ].filter(Boolean));
    } catch (problem) { if (mine === asked) tell([problem.message]); } finally { askWhy.disabled = false; }
  }
  const tell = (sentences) => patch(reasons, sentences, (sentence) => sentence, (sentence) => el("li", null, sentence));
  askWhy.addEventListener("click", explain);

  /** Shows the values at the chosen moment. */
  function read() {
    if (!trace) return;
    asked += 1;
    tell([]);
    const part = Number(slider.value) / steps;
    const time = trace.from + (trace.to - trace.from) * part;
    const index = Math.min(trace.distances.length - 1, Math.floor(part * trace.distances.length));
    attribute(cursor, "x1", (part * steps).toFixed(2));
    attribute(cursor, "x2", (part * steps).toFixed(2));
    attribute(slider, "aria-valuetext", shortTime(time, now()));
    text(moment, shortTime(time, now()));
    const stay = trace.stays.findLast((one) => one.from <= time && time <= one.to);
    const found = trace.distances[index];
    const list = [["Place", stay ? stay.place ?? (stay.state === "unknown" ? "unknown" : "outside all places") : "not known yet"]];
    if (stay) list.push(["There", `for ${spanOf(time - stay.from)}`]);
    list.push(["Distance", found ? `${distanceWithRange(found.meters, found.nearest === null ? null : [found.nearest, found.farthest])}, ${found.proximity}` : "unknown"]);
    for (const one of trace.receivers) {
      const isDeaf = one.deaf.some((span) => span.from <= time && time <= span.to);
      const level = one.levels[index];
      list.push([one.name, isDeaf ? "deaf" : level === null ? "heard nothing" : measure(level, "dBm", 1)]);
    }
    patchFacts(facts, list);
    return `${shortTime(time, now())}: ${list.map((pair) => pair.join(" ")).join(", ")}`;
  }

  let announcing = null;
  slider.addEventListener("input", () => {
    const words = read();
    clearTimeout(announcing);
    announcing = setTimeout(() => announce(words), 400);
  });
  picture.addEventListener("pointerdown", (event) => {
    const box = picture.getBoundingClientRect();
    slider.value = String(Math.round((event.clientX - box.left) / box.width * steps));
    read();
  });
  chooser.addEventListener("change", () => { beacon = chooser.value; remember(); load(); });
  length.addEventListener("change", () => { remember(); load(); });
  end.addEventListener("change", () => { until = end.value ? new Date(end.value).getTime() / 1000 : null; remember(); load(); });
  const move = (share) => { until = Math.min(now(), (until ?? now()) + share * Number(length.value)); if (until >= now() - 1) until = null; remember(); load(); };
  earlier.addEventListener("click", () => move(-0.5));
  later.addEventListener("click", () => move(0.5));
  toNow.addEventListener("click", () => { until = null; remember(); load(); });
  root.querySelector(".history-choice").addEventListener("submit", (event) => event.preventDefault());

  whatIf.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const changes = [margin.value && `place-rules.margin=${Number(margin.value)}`, hold.value && `place-rules.hold-time=${Number(hold.value)}s`].filter(Boolean);
    if (!changes.length) { text(verdict, "Enter a margin or a hold time."); return margin.focus(); }
    tryIt.disabled = true;
    text(verdict, "Playing…");
    try {
      const found = await get(`v1/replay?${new URLSearchParams([["from", trace.from], ["to", trace.to], ...changes.map((change) => ["with", change])])}`);
      text(verdict, found.changes.length ? counted(found.changes.length, "difference") : "No difference.");
      const glyphs = { added: "+", vanished: "−", shifted: "~" };
      patch(differences, found.changes.slice(0, 200), (one) => `${one.change} ${one.event.time} ${sentence(one.event)}`, (one) => el("li", { "data-change": one.change }, el("b", { "aria-label": one.change }, glyphs[one.change]), " ", el("time", null, clock(one.event.time)), " ",
        `${one.event.beacon && !one.event.rule ? `${nameOf(one.event.beacon)}: ` : ""}${sentence(one.event)}${one.seconds === null ? "" : `, ${spanOf(Math.abs(one.seconds))} ${one.seconds > 0 ? "later" : "earlier"}`}`));
    } catch (problem) {
      text(verdict, problem.message);
      patch(differences, [], () => "", () => null);
    } finally { tryIt.disabled = false; }
  });

  const nameOf = (one) => [...chooser.options].find((option) => option.value.toLowerCase() === identity(one).toLowerCase())?.textContent ?? `${one.major} · ${one.minor}`;

  loadBeacons().then(load).catch((problem) => showProblem(fault, problem));
  return () => { generation += 1; clearTimeout(announcing); };
}

const eventKey = (event) => `${event.time} ${event.event} ${event.rule ?? ""} ${event.cause ?? ""} ${event.region?.name ?? ""}`;

const local = (seconds) => {
  const date = new Date(seconds * 1000);
  date.setMinutes(date.getMinutes() - date.getTimezoneOffset());
  return date.toISOString().slice(0, 19);
};

function sentence(event) {
  const by = event.receiver ? ` at ${event.receiver}` : "";
  switch (event.event) {
    case "enter": return `${event.region.name} entered${by}`;
    case "exit": return `${event.region.name} left`;
    case "state": return `${event.region.name} is ${event.state}`;
    case "rule": return event.reason ? `the rule ${event.rule} was withheld: ${event.reason}` : `the rule ${event.rule} ran: ${event.summary}`;
    case "place":
      if (event.state === "inside") return `${event.before && event.before !== event.place ? `from ${event.before} ` : ""}to ${event.place}${event.margin === null || event.margin === undefined ? "" : `, ${measure(event.margin, "dB", 1)} ahead of ${event.runnerUp}`}`;
      return event.state === "unknown" ? "its place is unknown" : "in no place";
    default: return event.event;
  }
}
