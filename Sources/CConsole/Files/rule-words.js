// A rule in plain English: one sentence with when it runs, for whom, and its actions.

import { counted } from "./format.js";

export const dayWords = { mon: "Monday", tue: "Tuesday", wed: "Wednesday", thu: "Thursday", fri: "Friday", sat: "Saturday", sun: "Sunday" };
const days = Object.keys(dayWords);

/** Joins names: "a, b or c". */
const listed = (names, word = "and") => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${word} ${names[names.length - 1]}`);

const units = { s: "second", m: "minute", h: "hour", d: "day" };

/** Formats a duration of the configuration: "1h30m" is "1 hour 30 minutes". Invalid text is returned unchanged. */
export function spanWords(span) {
  const text = String(span || "").trim();
  if (!/^(\d+[smhd])+$/.test(text)) return text;
  return [...text.matchAll(/(\d+)([smhd])/g)].map(([, number, unit]) => counted(Number(number), units[unit])).join(" ");
}

const often = { "1h": "an hour", "1d": "a day", "24h": "a day", "7d": "a week" };

/** Formats how often a rule runs at most. */
const atMostWords = (span) => (often[span] ? `once ${often[span]}` : `once in ${spanWords(span)}`);

/** Splits an event of the configuration: `{ word, stay }`. */
export function eventParts(event) {
  const [word, , stay] = event.split(" ");
  return { word, stay: stay || "" };
}

const some = (names, one, many) => `${names.length === 1 ? one : many} ${listed(names, "or")}`;

function eventWords(rule) {
  const regions = rule.regions?.length ? some(rule.regions, "the region", "one of the regions") : "any region";
  const beacons = rule.beacons?.length ? listed(rule.beacons, "or") : rule.regions?.length ? `a beacon of ${listed(rule.regions, "or")}` : "any beacon";
  const places = rule.places?.length ? `enters ${listed(rule.places, "or")}` : "enters another place or leaves all places";
  const parts = [];
  const crossed = ["enter", "exit"].filter((word) => (rule.events || []).includes(word)).map((word) => ({ enter: "entered", exit: "left" })[word]);
  if (crossed.length) parts.push(`${regions} is ${listed(crossed, "or")}`);
  for (const event of rule.events || []) {
    const { word, stay } = eventParts(event);
    const whole = stay ? ` and stays so for ${spanWords(stay)}` : "";
    if (word === "place") parts.push(`${beacons} ${places}`);
    else if (word === "gone") parts.push(`${beacons} is no longer heard`);
    else if (word === "suspicious") parts.push(`${beacons} may have been cloned`);
    else if (word === "immediate") parts.push(`${beacons} is immediate (within half a meter)${whole}`);
    else if (word === "near") parts.push(`${beacons} is near (within about three meters)${whole}`);
    else if (word === "far") parts.push(`${beacons} is heard at any distance${whole}`);
  }
  return parts;
}

function whoWords(who) {
  if (!who) return null;
  const parts = [];
  if (who.users?.length) parts.push(listed(who.users, "or"));
  if (who.installs?.length) parts.push(who.installs.length === 1 ? `the install ${who.installs[0]}` : `one of ${counted(who.installs.length, "install")}`);
  let words = parts.join(" or ");
  const attributes = Object.entries(who.attributes || {}).map(([name, value]) => `${name} is ${value || "…"}`);
  if (attributes.length) words = `${words || "a person"} whose ${listed(attributes)}`;
  const past = [who.was ? `was near ${encounterWords(who.was)} in the ${spanWords(who.was.within)} before` : null,
    who["was-not"] ? `was not near ${encounterWords(who["was-not"])} in the ${spanWords(who["was-not"].within)} before` : null].filter(Boolean);
  return [words ? `and it is ${words}` : null, past.length ? `and the person ${listed(past)}` : null].filter(Boolean).join(", ") || null;
}

/** Formats the beacons of a condition on nearness. */
function encounterWords({ beacons, regions, proximity }) {
  const where = beacons?.length ? listed(beacons, "or") : regions?.length ? `a beacon of ${listed(regions, "or")}` : "…";
  return proximity && proximity !== "near" ? `${where} (${proximity})` : where;
}

function dayRange(chosen) {
  const known = days.filter((day) => chosen.includes(day));
  if (known.length === 7) return "every day";
  const first = days.indexOf(known[0]);
  const isRow = known.length > 2 && known.every((day, index) => days[first + index] === day);
  return isRow ? `${dayWords[known[0]]} to ${dayWords[known[known.length - 1]]}` : `on ${listed(known.map((day) => dayWords[day]))}`;
}

const dateFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const dateWords = (day) => (/^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)) ? dateFormat.format(Date.parse(day)) : day);

/** Formats the time conditions of a rule, or returns null without any. */
function whenWords(when) {
  if (!when) return null;
  const parts = [];
  if (when.from && when.to) parts.push(`from ${dateWords(when.from)} to ${dateWords(when.to)}`);
  else if (when.from) parts.push(`from ${dateWords(when.from)} on`);
  else if (when.to) parts.push(`until ${dateWords(when.to)}`);
  if (when.days?.length) parts.push(dayRange(when.days));
  if (when.hours) parts.push(`between ${when.hours.replace("-", " and ")}`);
  if (when["time-zone"] && parts.length) parts[parts.length - 1] += ` (${when["time-zone"]})`;
  return parts.length ? parts.join(", ") : null;
}

function actionWords(rule) {
  const parts = [];
  if (rule.message) parts.push(`send “${rule.message.title ? `${rule.message.title}: ` : ""}${rule.message.text || "…"}” to the app that sent the event`);
  if (rule.destinations?.length) parts.push(`notify ${listed(rule.destinations)}`);
  if (rule.program?.length) parts.push(`start ${rule.program[0]}`);
  if (rule.unit) parts.push(`start the unit ${rule.unit}`);
  return parts;
}

/** Formats the rule as a sentence. Missing parts are an ellipsis, so that it is readable while the rule is written. */
export function ruleWords(rule) {
  const perPerson = rule.message || rule.who ? "person" : rule.beacons?.length || (rule.events || []).some((event) => !["enter", "exit"].includes(event)) ? "beacon" : "region";
  const conditions = [
    whoWords(rule.who), rule.unless ? `and the same ${perPerson} is not near ${encounterWords(rule.unless)} in the next ${spanWords(rule.unless.within)}` : null, whenWords(rule.when), rule["at-most"] ? `at most ${atMostWords(rule["at-most"])} for each ${perPerson}` : null,
  ].filter(Boolean);
  const events = eventWords(rule);
  const head = `When ${events.length ? listed(events, "or when") : "…"}`;
  const does = actionWords(rule).length ? `${listed(actionWords(rule))}.` : "…";
  const late = rule.late ? " Late events count too." : "";
  return `${[head, ...conditions].join(", ")}: ${does}${late}`;
}

/** Returns missing or contradictory parts of a rule as errors by key, before the server checks it. */
export function ruleFaults(rule) {
  const faults = [];
  if (!rule.name) faults.push({ key: "name", detail: "write a name for the rule" });
  if (!rule.events.length) faults.push({ key: "events", detail: "choose at least one event" });
  if (rule.message && !rule.message.text) faults.push({ key: "message.text", detail: "write the text of the message" });
  if (!rule.message && !rule.destinations && !rule.program && !rule.unit) faults.push({ key: "action", detail: "choose an action: a message, a destination, or a program" });
  for (const [key, one] of [["who.was", rule.who?.was], ["who.was-not", rule.who?.["was-not"]], ["unless", rule.unless]]) {
    if (one && !one.within) faults.push({ key: `${key}.within`, detail: "write a time, such as 10m or 7d" });
    if (one && !one.beacons && !one.regions) faults.push({ key: `${key}.beacons`, detail: "choose a beacon" });
  }
  if (rule.program && rule.unit) faults.push({ key: "unit", detail: "a rule starts either a program or a unit" });
  if (rule.when?.from && rule.when?.to && rule.when.to < rule.when.from) faults.push({ key: "when.to", detail: "the last day is before the first" });
  const half = (rule.when?.hours || "-").split("-");
  if (Boolean(half[0]) !== Boolean(half[1])) faults.push({ key: "when.hours", detail: "set both hours or neither" });
  return faults;
}
