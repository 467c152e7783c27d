// The timeline above the events: their number by kind, a time that can be chosen, and the presence at that time.

import { get, now, query } from "./api.js";
import { announce, attribute, el, patch, show, svg, text } from "./dom.js";
import { clock, count as grouped, counted, dayName, shortTime, span as spanOf } from "./format.js";
import { kinds } from "./event-item.js";
import { presenceAt, presenceKinds } from "./presence.js";

const spans = [["3600", "Hour"], ["86400", "Day"], ["604800", "Week"], ["2592000", "30 days"]];
const steps = 96;
const pageSize = 1000;
/** The kinds in stacking order. */
const layers = ["enter", "exit", "state", "place", "proximity", "gone", "suspicious", "app", "refused", "user", "receiver"];

/** Creates the timeline. Calls `choose(time)` with the chosen time, or null for now. */
export function makeTimeline(choose) {
  const span = el("select", { id: "timeline-span" }, ...spans.map(([value, word]) => el("option", { value }, word)));
  span.value = "86400";
  const bars = svg("g", {}), cursor = svg("line.cursor", { y1: 0, y2: 100 });
  const chart = svg("svg.density", { viewBox: `0 0 ${steps} 100`, preserveAspectRatio: "none", "aria-hidden": "true" }, bars, cursor);
  const slider = el("input.scrub", { type: "range", id: "timeline-scrub", min: 0, max: steps * 4, step: 1 });
  const axis = el("div.timeline-axis", { "aria-hidden": "true" }, el("span"), el("span"), el("span"));
  const legend = el("ul.timeline-legend", { "aria-label": "Events in the timeline by kind" });
  const scaleWords = el("p.hint.timeline-scale");
  const hint = el("p.hint", { hidden: true }, "There are no events in this time.");
  const chosen = el("b.moment");
  const back = el("button.small", { type: "button" }, "Back to now");
  const then = el("div.then-groups");
  const panel = el("section.card.then", { "aria-labelledby": "then-heading", hidden: true },
    el("div.card-head", null, el("h3", { id: "then-heading" }, "Who was where, ", chosen), back), then,
    el("p.hint", null, "Derived from the events up to this time. The list below ends at this time too."));
  const node = el("section.scrubber", { "aria-labelledby": "timeline-heading" },
    el("div.section-head", null, el("h2", { id: "timeline-heading" }, "Timeline"), el("label.span-choice", { for: "timeline-span" }, "Last ", span)),
    el("div.picture.timeline-picture", null, chart, el("label.offscreen", { for: "timeline-scrub" }, "Time"), slider, axis, legend, scaleWords), hint, panel);

  /** The server's counts, and the presence events, the newest first. */
  let counts = {};
  let past = { events: [], isWhole: true, to: 0 };
  let filters = {};
  let start = 0, end = 0;
  let at = null;
  let generation = 0;
  /** True while the window was moved around a time outside of it. */
  let isAside = false;

  const presence = async (to) => {
    const answer = await get(`v1/events${query({ kind: presenceKinds.join(","), to, limit: pageSize })}`);
    return { events: answer.events, isWhole: answer.next === null || answer.next === undefined, to };
  };

  async function load() {
    const mine = ++generation;
    const newest = filters.to || now();
    const from = filters.from || newest - Number(span.value);
    const [numbers, before] = await Promise.all([count(from, newest), presence(newest)]);
    if (mine !== generation) return;
    counts = numbers;
    past = before;
    start = from;
    end = newest;
    if (at !== null && (at < start || at > end)) follow();
    draw();
  }

  const count = async (from, to) => (await get(`v1/events/counts${query({ from, to, steps, kind: filters.kind?.join(","), region: filters.region, place: filters.place, install: filters.install })}`)).counts;

  /** Counts again for a window that has moved on. */
  async function recount() {
    const mine = generation;
    const newest = at === null && !filters.to ? now() : end;
    const from = filters.from || newest - (end - start);
    const found = await count(from, newest);
    if (mine !== generation) return;
    counts = found;
    if (past.to >= end) past.to = newest;
    start = from;
    end = newest;
    draw();
  }

  /** Loads the events before the chosen time if they are unknown. */
  let asking = null;
  function look() {
    const isKnown = at <= past.to && (past.isWhole || past.events.filter((event) => event.time <= at).length > pageSize / 4);
    if (isKnown) return;
    clearTimeout(asking);
    asking = setTimeout(async () => {
      const wanted = at;
      const found = await presence(wanted).catch(() => null);
      if (found && wanted === at) { past = found; drawCursor(); }
    }, 150);
  }

  /** Moves the window around a time outside of it. */
  function follow() {
    const length = Math.max(end - start, 3600);
    isAside = true;
    if (at > end || at < start) { filters = { ...filters, from: at - length / 2, to: Math.min(now(), at + length / 2) }; load().catch(() => {}); }
  }

  function draw() {
    const length = Math.max(1, end - start);
    const kindsHere = layers.filter((kind) => counts[kind]?.some(Boolean));
    const heights = Array.from({ length: steps }, (_, index) => kindsHere.reduce((sum, kind) => sum + (counts[kind][index] || 0), 0));
    const top = Math.max(0, ...heights);
    const highest = Math.max(3, top);
    const pieces = [];
    heights.forEach((height, index) => {
      let level = 100;
      for (const kind of height ? kindsHere : []) {
        if (!counts[kind][index]) continue;
        const tall = counts[kind][index] / highest * 96;
        level -= tall;
        pieces.push({ key: `${index} ${kind}`, kind, x: index, level, tall });
      }
    });
    patch(bars, pieces, (piece) => piece.key, (piece) => svg("rect", { "data-kind": piece.kind, x: piece.x + 0.1, width: 0.8 }), (bar, piece) => {
      attribute(bar, "y", piece.level.toFixed(2));
      attribute(bar, "height", piece.tall.toFixed(2));
    });
    text(scaleWords, pieces.length ? `A bar is ${spanOf(length / steps)}; the highest has ${counted(top, "event")}.` : "");
    patch(legend, kindsHere, (kind) => kind, (kind) => el("li", { "data-kind": kind }, el("span.swatch", { "aria-hidden": "true" }), el("span")),
      (item, kind) => text(item.lastChild, `${kinds[kind]} ${grouped(counts[kind].reduce((sum, one) => sum + one, 0))}`));
    const middle = start + length / 2;
    [start, middle, end].forEach((time, index) => text(axis.children[index], index === 2 && !filters.to ? "now" : axisTime(time, length)));
    show(hint, !pieces.length);
    drawCursor();
  }

  const timeOf = (value) => start + (end - start) * Number(value) / (steps * 4);

  function drawCursor() {
    const part = at === null || end <= start ? 1 : Math.min(1, Math.max(0, (at - start) / (end - start)));
    attribute(cursor, "x1", (part * steps).toFixed(2));
    attribute(cursor, "x2", (part * steps).toFixed(2));
    if (at === null || Math.abs(timeOf(slider.value) - at) > (end - start) / (steps * 4)) slider.value = String(Math.round(part * steps * 4));
    attribute(slider, "aria-valuetext", at === null ? "Now" : shortTime(at, now()));
    show(panel, at !== null);
    if (at === null) return;
    look();
    text(chosen, shortTime(at, now()));
    const { regions, beacons, people } = presenceAt(past.events, at);
    const places = new Map();
    for (const beacon of beacons) places.set(beacon.place, [...(places.get(beacon.place) || []), beacon]);
    const since = (one) => ` since ${at - one.since > 64800 ? shortTime(one.since, now()) : clock(one.since)}`;
    const groups = [
      { name: "Regions", rows: regions.map((region) => ({ key: region.key, name: region.name, words: `${region.state}${since(region)}`, state: region.state })) },
      { name: "Places", rows: [...places].map(([name, some]) => ({ key: name, name, words: some.map((beacon) => `${beacon.name}${since(beacon)}`).join(", "), state: "inside" })) },
      { name: "People", rows: people.map((person) => ({ key: person.key, name: person.name, words: `in ${person.region}${since(person)}`, state: "inside" })) },
    ].filter((group) => group.rows.length);
    const inside = regions.filter((region) => region.state === "inside").map((region) => region.name);
    summary = [`${shortTime(at, now())}`, inside.length ? `inside ${inside.join(", ")}` : "inside no region", ...[...places].map(([name, some]) => `${name}: ${some.map((beacon) => beacon.name).join(", ")}`), people.length ? counted(people.length, "person", "people") : ""].filter(Boolean).join("; ");
    if (!groups.length) groups.push({ name: "Unknown", rows: [{ key: "none", name: "", words: "No earlier event has information about presence.", state: "unknown" }] });
    patch(then, groups, (group) => group.name, (group) => el("div", null, el("h4", null, group.name), el("ul")), (node, group) => {
      patch(node.lastChild, group.rows, (row) => row.key, () => el("li", null, el("b"), " ", el("span")), (item, row) => {
        attribute(item, "data-state", row.state);
        text(item.firstChild, row.name);
        text(item.lastChild, row.words);
      });
    });
  }

  let announcing = null;
  let summary = "";
  function set(time) {
    at = time;
    if (at === null && isAside) {
      isAside = false;
      filters = { ...filters, from: null, to: null };
      load().catch(() => {});
    } else drawCursor();
    clearTimeout(announcing);
    announcing = setTimeout(() => { choose(at); announce(at === null ? "Now" : summary); }, 250);
  }
  slider.addEventListener("input", () => set(Number(slider.value) >= steps * 4 ? null : timeOf(slider.value)));
  back.addEventListener("click", () => { set(null); slider.focus(); });
  span.addEventListener("change", () => { filters = { ...filters, from: null, to: null }; load().catch(() => {}); });
  let dragging = false;
  const drag = (event) => {
    const box = chart.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    if (part >= 0.995) set(null);
    else set(start + (end - start) * Math.max(0, part));
  };
  chart.addEventListener("pointerdown", (event) => { if (event.button) return; dragging = true; chart.setPointerCapture(event.pointerId); drag(event); });
  chart.addEventListener("pointermove", (event) => { if (dragging) drag(event); });
  for (const name of ["pointerup", "pointercancel"]) chart.addEventListener(name, () => { dragging = false; });

  let redraw = null;
  return {
    node,
    /** Applies the page's filters and the chosen time, and loads the data. */
    use(given, time) {
      filters = given;
      at = time;
      isAside = false;
      load().catch(() => {});
    },
    /** Adds a new event. */
    add(event) {
      if (filters.to) return;
      if (presenceKinds.includes(event.kind) && !past.events.some((one) => one.id === event.id)) past.events.unshift(event);
      // Several events in a row are counted once.
      redraw ??= setTimeout(() => { redraw = null; recount().catch(() => {}); }, 2000);
    },
    reload: () => load().catch(() => {}),
    end: () => { generation += 1; for (const timer of [redraw, announcing, asking]) clearTimeout(timer); },
  };
}

const axisTime = (time, length) => (length <= 90000 ? clock(time).slice(0, 5) : `${dayName(time, now())}`.replace(/^(\w{3})\w*day,? /, "$1 "));
