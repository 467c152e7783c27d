// Events: a list by day, newest first, with filters and a timeline. New events are added at the top.

import { get, now, on, query } from "./api.js";
import { announce, attribute, el, empty, patch, problemNode, show, showProblem, text } from "./dom.js";
import { eventItem, kindGlyph, kinds } from "./event-item.js";
import { counted, dayKey, dayName } from "./format.js";
import { makeTimeline } from "./timeline.js";

export const title = "Events";

export function open(root, parameters) {
  let filters = read(parameters);
  /** The time chosen in the timeline, or null for now. */
  let at = Number(parameters.get("at")) || null;
  let events = [];
  let next = null;
  let fresh = [];
  let generation = 0;
  const opened = new Set();

  const fault = problemNode();
  const kindBoxes = Object.entries(kinds).map(([kind, word]) => {
    const box = el("input", { type: "checkbox", id: `kind-${kind}`, value: kind });
    return { box, node: el("li", null, box, el("label", { for: `kind-${kind}` }, kindGlyph(kind), word)) };
  });
  const region = el("select", { id: "filter-region" });
  const place = el("select", { id: "filter-place" });
  const from = el("input", { id: "filter-from", type: "datetime-local" });
  const to = el("input", { id: "filter-to", type: "datetime-local" });
  const clear = el("button.small", { type: "button" }, "Clear filters");
  const person = el("p.chip", { hidden: true }, el("a", null, "One person"), el("button.remove", { type: "button", "aria-label": "Events of all people", title: "All people" }, "×"));
  person.lastChild.addEventListener("click", () => { filters.install = ""; filtersChanged(); kindBoxes[0].box.focus(); });
  const csv = el("a", { download: "" }, "CSV");
  const log = el("a", { download: "" }, "JSON lines");
  const control = (id, label, node) => el("div.field", null, el("label", { for: id }, label), node);
  const form = el("form.filters", { "aria-label": "Filters" },
    el("fieldset", null, el("legend", null, "Kinds"), el("ul.kinds", null, ...kindBoxes.map((one) => one.node))),
    el("details.json", { open: innerWidth > 720 || filters.region || filters.place || filters.from || filters.to }, el("summary", null, "Region, place and time"), el("div.filter-row", null, control("filter-region", "Region", region), control("filter-place", "Place", place), control("filter-from", "From", from), control("filter-to", "To", to))),
    el("div.filter-foot", null, person, clear, el("p.exports", null, "Export this selection: ", csv, " ", log)));
  const scrubber = makeTimeline((time) => { at = time; remember(); showFilters(); opened.clear(); load(); });
  const showNew = el("button.news", { type: "button", hidden: true });
  const timeline = el("div.timeline");
  const older = el("button", { type: "button", hidden: true }, "Older");
  const end = el("p.hint", { hidden: true }, "There are no older events.");
  const nothing = empty("No events yet", "Events appear here when a region is entered or left, a beacon changes its place, or a receiver fails. They need regions in the configuration.");
  const noMatch = empty("No event matches", "Choose other kinds or a longer time, or clear the filters.");
  nothing.hidden = noMatch.hidden = true;
  root.append(el("header.page-head", null, el("h1", null, "Events"), el("p.lede", null, "Newest first; times are this browser's.")), scrubber.node, form, fault,
    el("div.news-place", null, showNew), timeline, nothing, noMatch, el("div.actions.start", null, older), end);

  function read(given) {
    return {
      kind: (given.get("kind") || "").split(",").filter((kind) => kind in kinds),
      region: given.get("region") || "", place: given.get("place") || "",
      from: Number(given.get("from")) || null, to: Number(given.get("to")) || null, install: given.get("install") || "",
    };
  }
  const parts = () => ({ kind: filters.kind.join(","), region: filters.region, place: filters.place, from: filters.from, to: filters.to, install: filters.install });
  const asQuery = () => ({ ...parts(), to: at === null ? filters.to : Math.min(at, filters.to ?? at) });
  const filtered = () => Object.values(parts()).some(Boolean);
  const remember = () => history.replaceState(null, "", `#/events${query({ ...parts(), at: at === null ? null : Math.round(at) }).replace(/%2C/g, ",")}`);

  function showFilters() {
    for (const { box } of kindBoxes) box.checked = filters.kind.includes(box.value);
    choose(region, filters.region);
    choose(place, filters.place);
    from.value = local(filters.from);
    to.value = local(filters.to);
    clear.disabled = !filtered();
    show(person, Boolean(filters.install));
    if (filters.install) person.firstChild.setAttribute("href", `#/people/${encodeURIComponent(filters.install)}`);
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

  /** Adds the events missed without a connection. Loads the list again if there is more than a page. */
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
    // After a clock is set back, a day can appear twice, with a separate key for each.
    const known = new Map();
    for (const day of days) { const times = known.get(day.key) || 0; known.set(day.key, times + 1); day.id = times ? `${day.key} ${times}` : day.key; }
    patch(timeline, days, (day) => day.id, (day) => el("section.day", { "aria-labelledby": `day-${day.id.replace(" ", "-")}` },
      el("h2", { id: `day-${day.id.replace(" ", "-")}` }, el("span"), " ", el("span.number")), el("ol")), (node, day) => {
      text(node.querySelector("h2 span"), dayName(day.time, now()));
      text(node.querySelector(".number"), String(day.events.length));
      attribute(node.querySelector(".number"), "title", counted(day.events.length, "event"));
      patch(node.querySelector("ol"), day.events, (event) => event.id, (event) => eventItem(event, opened));
    });
    show(nothing, !events.length && !filtered() && at === null);
    show(noMatch, !events.length && (filtered() || at !== null));
    show(older, next !== null && next !== undefined);
    show(end, events.length > 0 && (next === null || next === undefined));
    updateShowNew();
  }

  function updateShowNew() {
    show(showNew, fresh.length > 0);
    text(showNew, `Show ${counted(fresh.length, "new event")}`);
  }

  const matches = (event) => (at === null || event.time <= at) && (!filters.kind.length || filters.kind.includes(event.kind))
    && (!filters.region || event.region === filters.region) && (!filters.place || event.place === filters.place)
    && (!filters.install || event.install === filters.install) && (!filters.from || event.time >= filters.from) && (!filters.to || event.time <= filters.to);

  function arrive(event) {
    if (!matches(event) || event.id <= Math.max(events[0]?.id ?? 0, fresh[0]?.id ?? 0)) return;
    fresh.unshift(event);
    if (fresh.length > 500) fresh.length = 500;
    // A list does not move while the user reads it. It grows by itself only if its top is in view and no event is open.
    const box = timeline.getBoundingClientRect();
    const reading = opened.size > 0 || timeline.matches(":focus-within") || box.top < 0;
    if (!reading) reveal();
    else updateShowNew();
    if (event.kind !== "proximity") announce(event.summary);
  }

  function reveal() {
    const added = new Set(fresh.map((event) => event.id));
    events = fresh.concat(events);
    fresh = [];
    draw();
    for (const id of added) document.getElementById(`event-${id}`)?.classList.add("new");
  }

  showNew.addEventListener("click", () => {
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
      from: from.value ? Date.parse(from.value) / 1000 : null, to: to.value ? Date.parse(to.value) / 1000 : null, install: filters.install,
    };
    remember();
    opened.clear();
    showFilters();
    scrubber.use(filters, at);
    load();
  }
  form.addEventListener("change", filtersChanged);
  form.addEventListener("submit", (event) => event.preventDefault());
  clear.addEventListener("click", () => {
    for (const { box } of kindBoxes) box.checked = false;
    region.value = place.value = from.value = to.value = filters.install = "";
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
  scrubber.use(filters, at);
  load();
  const ends = [on("event", (event) => { scrubber.add(event); arrive(event); }), on("resumed", () => { catchUp(); scrubber.reload(); names().catch(() => {}); }), scrubber.end];
  const leave = () => { generation += 1; ends.forEach((one) => one()); };
  // The back button changes the filters only.
  open.change = (given) => { filters = read(given); at = Number(given.get("at")) || null; opened.clear(); showFilters(); scrubber.use(filters, at); load(); };
  return leave;
}

/** Applies other filters while the page is open. */
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
