// A rule in plain English: one sentence that says when it runs, for whom, and what it does.

import { counted } from "./format.js";

export const dayWords = { mon: "Monday", tue: "Tuesday", wed: "Wednesday", thu: "Thursday", fri: "Friday", sat: "Saturday", sun: "Sunday" };
const days = Object.keys(dayWords);

/** Names in a row: "a, b or c". */
const listed = (names, word = "and") => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${word} ${names[names.length - 1]}`);

const units = { s: "second", m: "minute", h: "hour", d: "day" };

/** A span of the configuration in words: "1h30m" is "1 hour 30 minutes"; text that is none is returned as it is. */
export function spanWords(span) {
  const text = String(span || "").trim();
  if (!/^(\d+[smhd])+$/.test(text)) return text;
  return [...text.matchAll(/(\d+)([smhd])/g)].map(([, number, unit]) => counted(Number(number), units[unit])).join(" ");
}

const often = { "1h": "an hour", "1d": "a day", "24h": "a day", "7d": "a week" };

/** How often at most, in words. */
const atMostWords = (span) => (often[span] ? `once ${often[span]}` : `once in ${spanWords(span)}`);

/** An event of the grammar taken apart: `{ word, stay }`. */
export function eventParts(event) {
  const [word, , stay] = event.split(" ");
  return { word, stay: stay || "" };
}

const some = (names, one, many) => `${names.length === 1 ? one : many} ${listed(names, "or")}`;

function eventWords(rule) {
  const regions = rule.regions?.length ? some(rule.regions, "the region", "one of the regions") : "any region";
  const beacons = rule.beacons?.length ? listed(rule.beacons, "or") : rule.regions?.length ? `a beacon of ${listed(rule.regions, "or")}` : "any beacon";
  const places = rule.places?.length ? `comes into ${listed(rule.places, "or")}` : "comes into another place, or leaves all of them";
  const parts = [];
  const crossed = ["enter", "exit"].filter((word) => (rule.events || []).includes(word)).map((word) => ({ enter: "entered", exit: "left" })[word]);
  if (crossed.length) parts.push(`${regions} is ${listed(crossed, "or")}`);
  for (const event of rule.events || []) {
    const { word, stay } = eventParts(event);
    const whole = stay ? ` and stays so for ${spanWords(stay)}` : "";
    if (word === "place") parts.push(`${beacons} ${places}`);
    else if (word === "gone") parts.push(`${beacons} is no longer heard`);
    else if (word === "suspicious") parts.push(`${beacons} may have been cloned`);
    else if (word === "immediate") parts.push(`${beacons} comes immediately close (half a metre)${whole}`);
    else if (word === "near") parts.push(`${beacons} comes near (some three metres)${whole}`);
    else if (word === "far") parts.push(`${beacons} is heard, however far${whole}`);
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
  if (attributes.length) words = `${words || "somebody"} whose ${listed(attributes)}`;
  return words ? `and it is ${words}` : null;
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

/** When a rule runs, in words; null where it always does. */
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
  if (rule.message) parts.push(`send “${rule.message.title ? `${rule.message.title}: ` : ""}${rule.message.text || "…"}” to the app whose event it is`);
  if (rule.destinations?.length) parts.push(`notify ${listed(rule.destinations)}`);
  if (rule.program?.length) parts.push(`start ${rule.program[0]}`);
  if (rule.unit) parts.push(`start the unit ${rule.unit}`);
  return parts;
}

/** The rule in a sentence. What is missing is an ellipsis, so that it can be read while the rule is being written. */
export function ruleWords(rule) {
  const perPerson = rule.message || rule.who ? "person" : rule.beacons?.length || (rule.events || []).some((event) => !["enter", "exit"].includes(event)) ? "beacon" : "region";
  const conditions = [
    whoWords(rule.who), whenWords(rule.when), rule["at-most"] ? `at most ${atMostWords(rule["at-most"])} for each ${perPerson}` : null,
  ].filter(Boolean);
  const events = eventWords(rule);
  const head = `When ${events.length ? listed(events, "or when") : "…"}`;
  const does = actionWords(rule).length ? `${listed(actionWords(rule))}.` : "…";
  const late = rule.late ? " Events that arrive late count as well." : "";
  return `${[head, ...conditions].join(", ")}: ${does}${late}`;
}

/** What is missing or contradictory in a rule, as errors by key, before the server is asked. */
export function ruleFaults(rule) {
  const faults = [];
  if (!rule.name) faults.push({ key: "name", detail: "write a name, by which you find the rule again" });
  if (!rule.events.length) faults.push({ key: "events", detail: "choose at least one event" });
  if (rule.message && !rule.message.text) faults.push({ key: "message.text", detail: "write what the message says" });
  if (!rule.message && !rule.destinations && !rule.program && !rule.unit) faults.push({ key: "action", detail: "choose what happens: a message, a destination, or a program" });
  if (rule.program && rule.unit) faults.push({ key: "unit", detail: "a rule starts either a program or a unit" });
  if (rule.when?.from && rule.when?.to && rule.when.to < rule.when.from) faults.push({ key: "when.to", detail: "the last day is before the first" });
  const half = (rule.when?.hours || "-").split("-");
  if (Boolean(half[0]) !== Boolean(half[1])) faults.push({ key: "when.hours", detail: "give both hours, or neither" });
  return faults;
}
