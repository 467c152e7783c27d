// Events: a timeline by day, newest first, with filters; what happens is added at its top.

import { get, now, on, query } from "./api.js";
import { announce, attribute, el, empty, facts, patch, problemNode, show, showProblem, svg, text } from "./dom.js";
import { beaconName, clock, counted, dayKey, dayName, exact, identity, machineTime, signal, distanceWithRange } from "./format.js";
import { why } from "./why.js";

export const title = "Events";

const kinds = {
  enter: "Enter", exit: "Exit", state: "State", place: "Place", proximity: "Proximity", gone: "Gone", receiver: "Receiver",
};
/** Paths of the kinds' glyphs. */
const glyphs = {
  enter: "M2 8h8M7 4.5l3.5 3.5L7 11.5M10 2h4v12h-4", exit: "M6 8h8M10.5 4.5L14 8l-3.5 3.5M6 2H2v12h4",
  state: "M8 2.5a5.5 5.5 0 1 0 .01 0", place: "M8 14C5 10.5 3.5 8.5 3.5 6.3a4.5 4.5 0 0 1 9 0c0 2.2-1.5 4.2-4.5 7.7zM8 6.3v.01",
  proximity: "M3 13v-2M8 13V7M13 13V3", gone: "M3.5 8h9", receiver: "M8 9v5M5 6a3 3 0 0 1 6 0M2.5 6a5.5 5.5 0 0 1 11 0",
};

export function open(root, parameters) {
  let filters = read(parameters);
  let events = [];
  let next = null;
  let fresh = [];
  let generation = 0;
  const opened = new Set();

  const fault = problemNode();
  const kindBoxes = Object.entries(kinds).map(([kind, word]) => {
    const box = el("input", { type: "checkbox", id: `kind-${kind}`, value: kind });
    return { box, node: el("li", null, box, el("label", { for: `kind-${kind}` }, glyph(kind), word)) };
  });
  const region = el("select", { id: "filter-region" });
  const place = el("select", { id: "filter-place" });
  const from = el("input", { id: "filter-from", type: "datetime-local" });
  const to = el("input", { id: "filter-to", type: "datetime-local" });
  const clear = el("button.small", { type: "button" }, "Clear filters");
  const csv = el("a", { download: "" }, "CSV");
  const log = el("a", { download: "" }, "JSON lines");
  const control = (id, label, node) => el("div.field", null, el("label", { for: id }, label), node);
  const form = el("form.filters", { "aria-label": "Filters" },
    el("fieldset", null, el("legend", null, "Kinds"), el("ul.kinds", null, ...kindBoxes.map((one) => one.node))),
    el("details.json", { open: innerWidth > 720 || filters.region || filters.place || filters.from || filters.to }, el("summary", null, "Region, place and time"), el("div.filter-row", null, control("filter-region", "Region", region), control("filter-place", "Place", place), control("filter-from", "From", from), control("filter-to", "To", to))),
    el("div.filter-foot", null, clear, el("p.exports", null, "Export what is chosen: ", csv, " ", log)));
  const news = el("button.news", { type: "button", hidden: true });
  const timeline = el("div.timeline");
  const older = el("button", { type: "button", hidden: true }, "Older");
  const end = el("p.hint", { hidden: true }, "No older events are kept.");
  const nothing = empty("No events yet", "Events appear here when a region is entered or left, a beacon changes its place, or a receiver fails. They need regions in the configuration.");
  const noMatch = empty("No event matches", "Choose other kinds or a longer time, or clear the filters.");
  nothing.hidden = noMatch.hidden = true;
  root.append(el("header.page-head", null, el("h1", null, "Events"), el("p.lede", null, "Newest first; times are this browser's.")), form, fault,
    el("div.news-place", null, news), timeline, nothing, noMatch, el("div.actions.start", null, older), end);

  function read(given) {
    return {
      kind: (given.get("kind") || "").split(",").filter((kind) => kind in kinds),
      region: given.get("region") || "", place: given.get("place") || "",
      from: Number(given.get("from")) || null, to: Number(given.get("to")) || null,
    };
  }
  const asQuery = () => ({ kind: filters.kind.join(","), region: filters.region, place: filters.place, from: filters.from, to: filters.to });
  const filtered = () => Object.values(asQuery()).some(Boolean);

  function showFilters() {
    for (const { box } of kindBoxes) box.checked = filters.kind.includes(box.value);
    choose(region, filters.region);
    choose(place, filters.place);
    from.value = local(filters.from);
    to.value = local(filters.to);
    clear.disabled = !filtered();
    csv.setAttribute("href", `v1/events/export${query({ format: "csv", ...asQuery() })}`);
    log.setAttribute("href", `v1/events/export${query({ format: "log", ...asQuery() })}`);
  }

  async function load() {
    const mine = ++generation;
    try {
      const answer = await get(`v1/events${query({ limit: 100, ...asQuery() })}`);
      if (mine !== generation) return;
      events = answer.events;
      next = answer.next;
      fresh = [];
      showProblem(fault, null);
      draw();
    } catch (problem) { if (mine === generation) showProblem(fault, problem); }
  }

  /** Adds what was missed while there was no connection; begins anew if that is more than a page. */
  async function catchUp() {
    if (!events.length) return load();
    const mine = generation;
    const answer = await get(`v1/events${query({ limit: 100, ...asQuery() })}`).catch(() => null);
    if (!answer || mine !== generation) return;
    const newest = Math.max(events[0].id, fresh[0]?.id ?? 0);
    const missed = answer.events.filter((event) => event.id > newest);
    if (missed.length === answer.events.length && answer.next) return load();
    for (const event of missed.reverse()) arrive(event);
  }

  function draw() {
    const days = [];
    for (const event of events) {
      const key = dayKey(event.time);
      const last = days[days.length - 1];
      if (last?.key === key) last.events.push(event);
      else days.push({ key, time: event.time, events: [event] });
    }
    // A clock that was set back makes a day appear twice; each keeps a key of its own.
    const known = new Map();
    for (const day of days) { const times = known.get(day.key) || 0; known.set(day.key, times + 1); day.id = times ? `${day.key} ${times}` : day.key; }
    patch(timeline, days, (day) => day.id, (day) => el("section.day", { "aria-labelledby": `day-${day.id.replace(" ", "-")}` },
      el("h2", { id: `day-${day.id.replace(" ", "-")}` }, el("span"), " ", el("span.number")), el("ol")), (node, day) => {
      text(node.querySelector("h2 span"), dayName(day.time, now()));
      text(node.querySelector(".number"), String(day.events.length));
      attribute(node.querySelector(".number"), "title", counted(day.events.length, "event"));
      patch(node.querySelector("ol"), day.events, (event) => event.id, (event) => item(event, opened));
    });
    show(nothing, !events.length && !filtered());
    show(noMatch, !events.length && filtered());
    show(older, next !== null && next !== undefined);
    show(end, events.length > 0 && (next === null || next === undefined));
    showNews();
  }

  function showNews() {
    show(news, fresh.length > 0);
    text(news, `Show ${counted(fresh.length, "new event")}`);
  }

  const matches = (event) => (!filters.kind.length || filters.kind.includes(event.kind))
    && (!filters.region || event.region === filters.region) && (!filters.place || event.place === filters.place)
    && (!filters.from || event.time >= filters.from) && (!filters.to || event.time <= filters.to);

  function arrive(event) {
    if (!matches(event) || event.id <= Math.max(events[0]?.id ?? 0, fresh[0]?.id ?? 0)) return;
    fresh.unshift(event);
    if (fresh.length > 500) fresh.length = 500;
    // What somebody reads does not move: only a list whose top is in view, and in which nothing is opened, grows by itself.
    const box = timeline.getBoundingClientRect();
    const reading = opened.size > 0 || timeline.matches(":focus-within") || box.top < 0;
    if (!reading) reveal();
    else showNews();
    if (event.kind !== "proximity") announce(event.summary);
  }

  function reveal() {
    const added = new Set(fresh.map((event) => event.id));
    events = fresh.concat(events);
    fresh = [];
    draw();
    for (const id of added) document.getElementById(`event-${id}`)?.classList.add("new");
  }

  news.addEventListener("click", () => {
    reveal();
    const first = timeline.querySelector("summary");
    scrollTo({ top: timeline.getBoundingClientRect().top + scrollY - 120 });
    first?.focus({ preventScroll: true });
  });
  older.addEventListener("click", async () => {
    const mine = generation;
    older.disabled = true;
    try {
      const answer = await get(`v1/events${query({ limit: 100, before: next, ...asQuery() })}`);
      if (mine === generation) {
        const before = events.length;
        events = events.concat(answer.events);
        next = answer.next;
        draw();
        announce(`${counted(answer.events.length, "older event")}`);
        const first = answer.events[0] && document.getElementById(`event-${events[before].id}`);
        first?.querySelector("summary").focus({ preventScroll: true });
      }
    } catch (problem) { showProblem(fault, problem); }
    older.disabled = false;
  });

  function filtersChanged() {
    filters = {
      kind: kindBoxes.filter(({ box }) => box.checked).map(({ box }) => box.value), region: region.value, place: place.value,
      from: from.value ? Date.parse(from.value) / 1000 : null, to: to.value ? Date.parse(to.value) / 1000 : null,
    };
    history.replaceState(null, "", `#/events${query(asQuery()).replace(/%2C/g, ",")}`);
    opened.clear();
    showFilters();
    load();
  }
  form.addEventListener("change", filtersChanged);
  form.addEventListener("submit", (event) => event.preventDefault());
  clear.addEventListener("click", () => {
    for (const { box } of kindBoxes) box.checked = false;
    region.value = place.value = from.value = to.value = "";
    filtersChanged();
    kindBoxes[0].box.focus();
  });

  async function names() {
    const [regions, places] = await Promise.all([get("v1/regions"), get("v1/places")]);
    options(region, regions.regions.map((one) => one.name), filters.region);
    options(place, places.places.map((one) => one.name), filters.place);
    show(place.parentElement, places.places.length > 0 || Boolean(filters.place));
  }

  options(region, [], filters.region);
  options(place, [], filters.place);
  showFilters();
  names().catch(() => {});
  load();
  const ends = [on("event", arrive), on("resumed", () => { catchUp(); names().catch(() => {}); })];
  const leave = () => { generation += 1; ends.forEach((one) => one()); };
  // The back button changes the filters only.
  open.change = (given) => { filters = read(given); opened.clear(); showFilters(); load(); };
  return leave;
}

/** Takes over other filters, while the page is open. */
export function change(parameters) { open.change?.(parameters); }

function local(seconds) {
  if (!seconds) return "";
  const value = new Date(seconds * 1000 - new Date(seconds * 1000).getTimezoneOffset() * 60000);
  return value.toISOString().slice(0, 16);
}

function options(select, names, chosen) {
  const all = [...new Set(names.concat(chosen ? [chosen] : []))];
  patch(select, ["", ...all], (name) => name, (name) => el("option", { value: name }, name || "All"));
  select.value = chosen;
}

function choose(select, value) {
  if (value && ![...select.options].some((option) => option.value === value)) select.append(el("option", { value }, value));
  select.value = value;
}

function glyph(kind) {
  return svg("svg.kind-glyph", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: glyphs[kind] || glyphs.state }));
}

function item(event, opened) {
  const body = el("div.event-body");
  const details = el("details", null,
    el("summary", null,
      el("time", { datetime: machineTime(event.time), title: exact(event.time) }, clock(event.time)),
      el("span.kind", null, glyph(event.kind), el("span", null, kinds[event.kind] || event.kind)),
      el("span.summary", null, event.summary),
      event.receiver ? el("span.receiver", null, event.receiver) : null),
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
  const inner = detail?.beacon || detail || {};
  body.append(facts([
    ["When", exact(event.time)], ["Region", event.region], ["Place", event.place], ["Receiver", event.receiver],
    ["Beacon", beacon ? beaconName(beacon) : null],
    ["Identity", beacon ? `${beacon.uuid.toUpperCase()}, major ${beacon.major}, minor ${beacon.minor}` : null],
    ["Distance", typeof inner.accuracy === "number" ? distanceWithRange(inner.accuracy, inner.range || inner.accuracyRange) : null],
    ["Signal", typeof inner.rssi === "number" ? signal(inner.rssi) : null],
  ]));
  const actions = el("div.actions.start");
  if (event.region) {
    actions.append(el("button.small", { type: "button", click: () => why({ region: event.region }) }, `Why? ${event.region}`),
      el("a.button.small", { href: `#/events${query({ region: event.region })}` }, `Only ${event.region}`));
  }
  if (beacon) actions.append(el("button.small", { type: "button", click: () => why({ beacon: identity(beacon) }) }, `Why? ${beaconName(beacon)}`));
  if (actions.childElementCount) body.append(actions);
  body.append(el("details.json", null, el("summary", null, "JSON"), el("pre", null, el("code", null, JSON.stringify(detail, null, 2)))));
}
