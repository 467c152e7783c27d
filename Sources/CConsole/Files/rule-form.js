// The form of a rule: all its settings in the order in which people think of them, with a sentence that describes it.

import { get, pathOf, send, server } from "./api.js";
import { attribute, el, patch, show, text } from "./dom.js";
import { checkField, chipsField, formDialog, selectField, textField } from "./form.js";
import { pickBeacon } from "./heard-list.js";
import { settingFields } from "./settings-keys.js";
import { tryRule } from "./rule-history.js";
import { dayWords, eventParts, ruleFaults, ruleWords } from "./rule-words.js";

const eventChoices = [["enter", "A region is entered"], ["exit", "A region is left"], ["place", "A beacon changes its place"], ["gone", "A beacon is no longer heard"], ["suspicious", "A beacon may have been cloned"]];
const nearChoices = [["", "No matter how near"], ["immediate", "Immediate: within half a meter"], ["near", "Near: within about three meters"], ["far", "Far: at any distance"]];
const oftenChoices = [["", "Every time"], ["1h", "Once an hour"], ["1d", "Once a day"], ["7d", "Once a week"], ["other", "Another time…"]];
const tokens = ["{user}", "{beacon}", "{place}", "{region}", "{event}"];

const lines = (value) => value.split(/\r?\n|,/).map((line) => line.trim()).filter(Boolean);
const wholeLines = (value) => value.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);

/** Opens the form for a new rule, or for a rule of the console. Calls `saved` with its name. */
export async function ruleForm({ rule, saved }) {
  const mayStart = server.status?.programs !== false;
  const destinations = server.status?.destinations || [];
  const [keys, regions, places, beacons] = await Promise.all([
    settingFields("launch.rules"),
    get("v1/regions").then((answer) => answer.regions), get("v1/places").then((answer) => answer.places), get("v1/registered-beacons").then((answer) => answer.beacons),
  ]);
  const named = (list) => list.map((one) => [one.name, one.name]);
  const fields = {
    name: keys.text("name", { attributes: { maxlength: 100 } }),
    events: chipsField("events", "Which events", eventChoices),
    near: selectField("near", "Or a beacon comes this near", nearChoices),
    stay: textField("stay", "and stays for", { optional: true, help: "Such as 30s or 5m.", attributes: { placeholder: "at once", autocapitalize: "none" } }),
    regions: keys.chips("regions", named(regions), { label: "In which regions", help: "If you choose none: in any region." }),
    beacons: keys.chips("beacons", named(beacons), { label: "Which beacons", help: "If you choose none: all beacons of the regions." }),
    places: keys.chips("places", named(places), { label: "Into which places", help: "If you choose none: into any place." }),
    users: keys.area("who.users", { optional: true, help: "One per line, with their names in the app.", attributes: { rows: 2, autocapitalize: "none" } }), attributes: keys.pairs("who.attributes", { help: "All of them must match." }),
    installs: keys.area("who.installs", { optional: true, help: "One id per line. You find the ids under People.", attributes: { rows: 2, autocapitalize: "none" } }),
    was: keys.chips("who.was.beacons", named(beacons), { label: "Who were near", help: "One of these beacons, before the event." }), wasWithin: keys.text("who.was.within", { label: "in the time before", optional: true, help: "Such as 7d." }),
    wasNot: keys.chips("who.was-not.beacons", named(beacons), { label: "Who were not near", help: "None of these beacons, before the event." }), wasNotWithin: keys.text("who.was-not.within", { label: "in the time before", optional: true, help: "Such as 7d." }),
    unless: keys.chips("unless.beacons", named(beacons), { label: "Not if they come near", help: "The rule waits, and does not run if the same person or beacon comes near one of these beacons." }), unlessWithin: keys.text("unless.within", { label: "within", optional: true, help: "Such as 10m." }),
    from: keys.text("when.from", { optional: true, help: null, attributes: { type: "date" } }), to: keys.text("when.to", { optional: true, help: null, attributes: { type: "date" } }),
    days: keys.chips("when.days", Object.entries(dayWords).map(([day, word]) => [day, word.slice(0, 3)]), { help: "If you choose none: every day." }),
    start: textField("when.hours", "From", { optional: true, attributes: { type: "time" } }),
    end: textField("hours-end", "To", { optional: true, attributes: { type: "time" } }),
    zone: keys.text("when.time-zone", { optional: true, attributes: { placeholder: Intl.DateTimeFormat().resolvedOptions().timeZone, list: "time-zones", spellcheck: "false" } }),
    often: selectField("often", "At most", oftenChoices, { help: "Counted for each person, or for each beacon or region if the person is unknown." }),
    span: keys.text("at-most", { label: "Time span", help: "Such as 30m, 2h or 3d." }), late: keys.check("late"),
    doMessage: checkField("action", "Send a message to the person’s app", { help: "To the app that sent the event. Events of this machine’s own receivers do not come from an app and send no message." }),
    title: keys.text("message.title", { optional: true, help: null }), text: keys.area("message.text", { help: null, attributes: { rows: 2 } }),
    url: keys.text("message.url", { optional: true, help: null, attributes: { type: "url", placeholder: "https://", autocapitalize: "none" } }),
    destinations: keys.chips("destinations", destinations.map((name) => [name, name]), { label: "Notify destinations of the configuration", help: null }),
    program: keys.area("program", { optional: true, help: "The program’s full path, then one argument per line. There is no shell. The program reads the event as JSON from its standard input.", attributes: { rows: 2, spellcheck: "false", autocapitalize: "none", placeholder: "/usr/local/bin/lights" } }),
    unit: keys.text("unit", { label: "or a systemd unit", optional: true, help: null, attributes: { placeholder: "lights.service", spellcheck: "false", autocapitalize: "none" } }),
    interval: keys.text("interval", { label: "Minimum time between two starts", optional: true, help: null }), limit: keys.text("time-limit", { label: "Time limit", optional: true, help: null }),
    folder: keys.text("folder", { optional: true, help: null, attributes: { spellcheck: "false", autocapitalize: "none" } }),
    environment: keys.text("environment", { label: "Environment variables that it inherits", optional: true, help: "Their names, separated by commas.", attributes: { spellcheck: "false", autocapitalize: "none" } }),
  };
  // Settings without a field in the form are kept, for example a second proximity, or regions of a past.
  let extra = [];
  const kept = { was: rule?.settings.who?.was, wasNot: rule?.settings.who?.["was-not"], unless: rule?.settings.unless };

  function fill(given) {
    const events = given.events || ["enter"];
    const simple = eventChoices.map(([word]) => word);
    const nears = events.filter((event) => !simple.includes(event));
    extra = nears.slice(1);
    const near = nears.length ? eventParts(nears[0]) : { word: "", stay: "" };
    const hours = (given.when?.hours || "-").split("-");
    const atMost = given["at-most"] || "";
    const isOffered = oftenChoices.some(([value]) => value === atMost);
    const values = {
      name: given.name, events: events.filter((event) => simple.includes(event)), near: near.word, stay: near.stay,
      regions: given.regions, beacons: given.beacons, places: given.places,
      users: (given.who?.users || []).join("\n"), installs: (given.who?.installs || []).join("\n"), attributes: given.who?.attributes,
      was: given.who?.was?.beacons, wasWithin: given.who?.was?.within, wasNot: given.who?.["was-not"]?.beacons, wasNotWithin: given.who?.["was-not"]?.within,
      unless: given.unless?.beacons, unlessWithin: given.unless?.within,
      from: given.when?.from, to: given.when?.to, days: given.when?.days, start: hours[0], end: hours[1], zone: given.when?.["time-zone"],
      often: isOffered ? atMost : "other", span: isOffered ? "" : atMost, late: given.late,
      doMessage: Boolean(given.message), title: given.message?.title, text: given.message?.text, url: given.message?.url,
      destinations: given.destinations, program: (given.program || []).join("\n"), unit: given.unit,
      interval: given.interval, limit: given["time-limit"], folder: given.folder, environment: (given.environment || []).join(", "),
    };
    for (const [key, value] of Object.entries(values)) fields[key].set(value);
  }

  /** Returns the rule in the form, without empty keys. */
  function read() {
    const value = Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.value()]));
    const events = [...value.events, ...(value.near ? [value.stay ? `${value.near} for ${value.stay}` : value.near] : []), ...extra];
    const given = (list) => (list.length ? list : undefined);
    const hasPlace = events.includes("place"), hasBeacons = events.some((event) => !["enter", "exit"].includes(event));
    const encounter = (key) => (value[key].length || value[`${key}Within`]
      ? tidy({ regions: kept[key]?.regions, proximity: kept[key]?.proximity, beacons: given(value[key]), within: value[`${key}Within`] }) : undefined);
    const who = tidy({ users: given(lines(value.users)), installs: given(lines(value.installs)), attributes: Object.keys(value.attributes).length ? value.attributes : undefined, was: encounter("was"), "was-not": encounter("wasNot") });
    const hours = value.start || value.end ? `${value.start}-${value.end}` : undefined;
    const when = tidy({ from: value.from || undefined, to: value.to || undefined, days: given(value.days), hours, "time-zone": value.zone || undefined });
    const message = value.doMessage ? tidy({ title: value.title || undefined, text: value.text, url: value.url || undefined }) || { text: "" } : undefined;
    const starts = mayStart && (value.program || value.unit);
    return Object.fromEntries(Object.entries({
      name: value.name, events, regions: given(value.regions), beacons: hasBeacons ? given(value.beacons) : undefined, places: hasPlace ? given(value.places) : undefined,
      who, unless: encounter("unless"), when, "at-most": (value.often === "other" ? value.span : value.often) || undefined, late: value.late || undefined, message, destinations: given(value.destinations),
      program: mayStart ? given(wholeLines(value.program)) : undefined, unit: (mayStart && value.unit) || undefined,
      interval: (starts && value.interval) || undefined, "time-limit": (starts && value.limit) || undefined, folder: (starts && value.folder) || undefined,
      environment: starts ? given(lines(value.environment)) : undefined,
    }).filter(([, one]) => one !== undefined));
  }

  const sentence = el("p.rule-sentence");
  const spoken = el("p.offscreen", { "aria-live": "polite" });
  const others = el("ul.chips", { "aria-label": "More events" });
  const insert = el("p.tokens", null, "Insert: ", ...tokens.map((token) => el("button.small", { type: "button", click: () => {
    const area = fields.text.input;
    area.setRangeText(token, area.selectionStart, area.selectionEnd, "end");
    area.focus();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  } }, token)));
  const row = (...some) => el("div.field-row", null, ...some.map((field) => field.node));
  const messageBox = el("div.indented", null, fields.title.node, fields.text.node, insert, fields.url.node);
  const more = el("details.json", null, el("summary", null, "Start options"), row(fields.interval, fields.limit), fields.folder.node, fields.environment.node);
  const inRange = el("p", null, el("button.small", { type: "button", click: addFromAir }, "When a beacon in range arrives…"));

  /** Adds a beacon that is on the air. A beacon without a name gets one first. */
  async function addFromAir() {
    const picked = await pickBeacon({ title: "Which beacon arrives?", mustBeNamed: true });
    if (!picked) return;
    if (!beacons.some((one) => one.name === picked.name)) beacons.push({ name: picked.name });
    fields.beacons.offer(named(beacons));
    fields.beacons.set([...new Set([...fields.beacons.value(), picked.name])]);
    if (fields.near.value() === "") fields.near.set("far");
    // The form begins with the entry of any region, which is another rule.
    if (!rule && fields.events.value().join() === "enter" && !fields.regions.value().length) fields.events.set([]);
    draw();
    fields.beacons.focus();
  }

  const part = (heading, ...nodes) => el("fieldset.part", null, el("legend", null, heading), ...nodes);
  const who = el("details.part-fold", null, el("summary", null, "Only some people", el("span.optional", null, " events of apps")), fields.users.node, fields.attributes.node, fields.installs.node, fields.was.node, fields.wasWithin.node, fields.wasNot.node, fields.wasNotWithin.node);
  const unless = el("details.part-fold", null, el("summary", null, "Only if they do not come near another beacon"), fields.unless.node, fields.unlessWithin.node);
  const when = el("details.part-fold", null, el("summary", null, "Only at some times"), row(fields.from, fields.to), fields.days.node, row(fields.start, fields.end), fields.zone.node, zones());
  const content = [
    fields.name.node,
    part("When", fields.events.node, row(fields.near, fields.stay), others, fields.regions.node, fields.beacons.node, inRange, fields.places.node),
    who, unless, when,
    part("How often", row(fields.often, fields.span), fields.late.node),
    part("Then", fields.doMessage.node, messageBox, destinations.length ? fields.destinations.node : null,
      mayStart ? fields.program.node : el("p.hint", null, "Rules of the console cannot start programs, since anyone who can open this console could then run anything on the machine. Rules of the file can."),
      ...(mayStart ? [fields.unit.node, more] : [])),
    el("div.rule-live", null, sentence, spoken),
  ].filter(Boolean);

  function draw() {
    const one = read();
    const hasBeacons = one.events.some((event) => !["enter", "exit"].includes(event));
    show(fields.beacons.node, hasBeacons && beacons.length > 0);
    for (const field of [fields.was, fields.wasWithin, fields.wasNot, fields.wasNotWithin, unless]) show(field.node || field, beacons.length > 0 || Boolean(kept.was || kept.wasNot || kept.unless));
    show(fields.places.node, one.events.includes("place") && places.length > 0);
    show(fields.regions.node, regions.length > 0);
    show(fields.stay.node, fields.near.value() !== "");
    show(fields.span.node, fields.often.value() === "other");
    show(messageBox, fields.doMessage.value());
    show(others, extra.length > 0);
    patch(others, extra, (event) => event, (event) => el("li.chip", null, `Or ${event}`, el("button.remove", { type: "button", "aria-label": `Remove ${event}`, title: "Remove", click: () => {
      extra = extra.filter((each) => each !== event);
      fields.near.focus();
      draw();
    } }, "×")));
    text(sentence, ruleWords(one));
    // Screen readers read it once typing pauses, not at each key.
    clearTimeout(reading);
    reading = setTimeout(() => text(spoken, sentence.textContent), 1200);
  }
  let reading = null;

  fill(rule?.settings || { events: ["enter"] });
  if (rule?.settings.who) who.open = true;
  if (rule?.settings.unless) unless.open = true;
  if (rule?.settings.when) when.open = true;
  if (rule?.settings.interval || rule?.settings["time-limit"] || rule?.settings.folder || rule?.settings.environment) more.open = true;
  const { form } = formDialog({
    title: rule ? `Rule ${rule.name}` : "A new rule", fields: Object.values(fields), content, wide: true, verb: rule ? "Save" : "Add the rule",
    check: () => ruleFaults(read()), other: { word: "Try on history", run: (invalid) => { if (!invalid()) tryRule(read()); } },
    send: async () => {
      const body = read();
      saved(rule ? await send("PUT", pathOf("v1/rules", rule.name), body) : await send("POST", "v1/rules", body));
    },
  });
  form.addEventListener("input", draw);
  form.addEventListener("change", draw);
  attribute(form, "data-form", "rule");
  draw();
}

/** Returns the object without empty keys, or undefined if none are left. */
function tidy(given) {
  const kept = Object.entries(given).filter(([, value]) => value !== undefined && value !== "");
  return kept.length ? Object.fromEntries(kept) : undefined;
}

function zones() {
  return el("datalist", { id: "time-zones" }, ...(Intl.supportedValuesOf?.("timeZone") || []).map((zone) => el("option", { value: zone })));
}
