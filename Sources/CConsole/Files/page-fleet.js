// Fleet: its machines, the owners of its partitions, and waiting changes.

import { get, on } from "./api.js";
import { announce, attribute, el, empty, patch, follow, problemNode, show, text } from "./dom.js";
import { count, counted } from "./format.js";

export const title = "Fleet";

/** The largest number of partitions with a name in each cell. More names would need a page. */
const maximumNamed = 64;
/** The number of fills and colors for owners in the stylesheet. */
const fills = 8;

const isAbsent = (problem) => problem.status === 404;

/** Returns true if the machine is in a fleet. Throws if that cannot be determined now. */
export async function isThere() {
  try {
    await get("v1/fleet");
    return true;
  } catch (problem) {
    if (isAbsent(problem)) return false;
    throw problem;
  }
}

export function open(root) {
  const fault = problemNode();
  const lede = el("p.lede");
  const sentences = el("div.sentences");
  const rows = el("tbody", { role: "rowgroup" });
  // On a phone the rows are cards, so the table loses its meaning. The roles keep it.
  const machines = el("section", { "aria-labelledby": "machines-heading", hidden: true }, el("h2", { id: "machines-heading" }, "Machines"),
    el("div.table-box", null, el("table.beacon-table.fleet-table", { role: "table", "aria-labelledby": "machines-heading" },
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...["Machine", "Does", "Partitions", "Receivers", "Behind"].map((name) => el(`th${name === "Partitions" ? ".right" : ""}`, { scope: "col", role: "columnheader" }, name)))), rows)));
  const strip = el("div.partitions", { role: "img" });
  const owners = el("ul.partition-owners", { "aria-label": "Owners" });
  const partitions = el("section", { "aria-labelledby": "partitions-heading", hidden: true }, el("h2", { id: "partitions-heading" }, "Partitions"),
    el("p.hint", null, "Each beacon belongs to one partition. The machine that owns the partition decides where its beacons are."),
    el("div.picture", null, strip, owners));
  const nothing = empty("This machine is not in a fleet", "Several machines can work together, and one takes over if another fails. A machine joins with its configuration:", "fleet: nats://HOST");
  nothing.hidden = true;
  root.append(el("header.page-head", null, el("h1", null, "Fleet"), lede, sentences), fault, nothing, machines, partitions);

  let before = null;
  let absent = false;
  const load = async () => {
    // A machine joins when beacond reads its configuration, which interrupts the connection. The page asks again then.
    if (absent) return;
    let fleet;
    try {
      fleet = await get("v1/fleet");
    } catch (problem) {
      if (!isAbsent(problem)) throw problem;
      absent = true;
    }
    show(nothing, absent);
    for (const node of [lede, sentences]) show(node, !absent);
    show(machines, !absent && fleet.members.length > 0);
    show(partitions, !absent && fleet.owners.length > 0);
    if (absent) return;

    text(lede, `This machine is “${fleet.node}” in the fleet “${fleet.name}”.`);
    const findings = condition(fleet);
    patch(sentences, findings, (finding) => finding.kind, () => el("p.headline"), (node, finding) => {
      attribute(node, "data-status", finding.status);
      text(node, finding.sentence);
    });
    if (before && before !== findings[0].kind) announce(findings[0].sentence);
    before = findings[0].kind;

    const marks = marksOf(fleet);
    patch(rows, fleet.members, (member) => `${member.node} ${member.worker}`, row, (node, member) => update(node, member, fleet));
    patch(owners, ownersOf(fleet), (owner) => owner.node ?? "", ownerItem, (node, owner) => {
      fill(node.querySelector(".owner-fill"), owner.node, marks);
      text(node.querySelector(".owned"), `${counted(owner.partitions.length, "partition")}: ${ranges(owner.partitions, owner.node === null ? 40 : 12)}`);
      text(node.querySelector(".owner-note"), noteOf(owner.node, fleet));
    });
    attribute(strip, "aria-label", ownersOf(fleet).map((owner) => `${owner.node ?? "no owner"}: ${counted(owner.partitions.length, "partition")}`).join(", "));
    attribute(strip, "data-small", fleet.owners.length > maximumNamed ? "" : null);
    patch(strip, fleet.owners.map((node, number) => ({ node, number })), (cell) => cell.number,
      (cell) => el("span.partition", null, el("span.owner-fill"), el("span.partition-number", null, String(cell.number)), el("span.partition-owner")),
      (node, cell) => {
        attribute(node, "title", cell.node === null ? `Partition ${cell.number}: no owner` : `Partition ${cell.number}: ${cell.node}`);
        attribute(node, "data-nobody", cell.node === null ? "" : null);
        fill(node.querySelector(".owner-fill"), cell.node, marks);
        text(node.querySelector(".partition-owner"), cell.node ?? "none");
      });
  };
  const ends = [on("resumed", () => { absent = false; }), follow(load, 3000, fault, ["receivers"])];
  return () => ends.forEach((end) => end());
}

/** Returns the condition of a fleet as sentences, the worst first. */
function condition(fleet) {
  if (!fleet.connected) return [{ kind: "lost", status: "failing", sentence: `Not connected to the fleet${fleet.reason ? `: ${fleet.reason}` : ""}. This machine cannot see the others.` }];
  if (!fleet.owners.length) return [{ kind: "unknown", status: "warning", sentence: "The owners of the partitions are not known yet." }];
  const found = [];
  const free = fleet.owners.filter((owner) => owner === null).length;
  if (free) found.push({ kind: "free", status: "failing", sentence: `${free === fleet.owners.length ? "No partition has an owner" : `${counted(free, "partition")} ${free === 1 ? "has" : "have"} no owner`}: no machine decides where ${free === 1 ? "its" : "their"} beacons are.` });
  const deaf = fleet.members.flatMap((member) => member.receivers.filter((receiver) => !receiver.hears).map((receiver) => `${receiver.name} on ${member.node}`));
  if (deaf.length) found.push({ kind: "deaf", status: "warning", sentence: `${counted(deaf.length, "receiver")} ${deaf.length === 1 ? "is" : "are"} deaf: ${few(deaf, 5)}.` });
  const waiting = waits(fleet);
  const wait = waiting ? `${counted(waiting, "change")} ${waiting === 1 ? "waits" : "wait"} for delivery` : null;
  if (!fleet.members.some((member) => member.delivers)) found.push({ kind: "held", status: "warning", sentence: wait ? `${wait}, and no machine delivers.` : "No machine delivers." });
  // Some changes always wait. That does not change the fleet's condition and is not announced.
  else if (wait) found.push({ kind: "calm", status: "note", sentence: `${wait}.` });
  return found.length ? found : [{ kind: "calm", status: "good", sentence: `All is well: every partition has an owner${waiting === 0 ? ", and every change is delivered" : ""}.` }];
}

/** Returns the number of changes that wait for delivery, or null if unknown. */
const waits = (fleet) => (fleet.log == null ? null : Math.max(0, fleet.log - (fleet.delivered ?? 0)));

/** Returns the first words of a list and the number of further ones. */
const few = (words, most) => (words.length <= most ? words.join(", ") : `${words.slice(0, most).join(", ")} and ${count(words.length - most)} more`);

/** Formats numbers in order as ranges: "0–3, 8". Of many ranges, only the first are shown. */
function ranges(numbers, most) {
  const found = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.slice(0, most).map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(", ") + (found.length > most ? ", …" : "");
}

/** Returns the owners with their partitions: the fleet's machines in order, other owners, and null for no owner. */
function ownersOf(fleet) {
  const owned = new Map(fleet.members.map((member) => [member.node, []]));
  fleet.owners.forEach((node, number) => {
    if (!owned.has(node)) owned.set(node, []);
    owned.get(node).push(number);
  });
  return [...owned].filter(([, numbers]) => numbers.length).sort(([one], [other]) => (one === null) - (other === null)).map(([node, numbers]) => ({ node, partitions: numbers }));
}

/** Returns a mark for each owner. It stays the same until a machine joins or leaves. */
function marksOf(fleet) {
  const nodes = [...fleet.members.filter((member) => member.works).map((member) => member.node), ...fleet.owners.filter((node) => node !== null)];
  return new Map([...new Set(nodes)].map((node, index) => [node, index % fills]));
}

function fill(node, owner, marks) {
  attribute(node, "data-fill", owner === null ? "none" : marks.get(owner));
}

function noteOf(node, fleet) {
  if (node === null) return "no machine decides";
  if (node === fleet.node) return "this machine";
  return fleet.members.some((member) => member.node === node) ? "" : "not among the machines";
}

function ownerItem(owner) {
  return el(`li${owner.node === null ? ".nobody" : ""}`, null, el("span.owner-fill", { "aria-hidden": "true" }),
    el("span.who", null, el("span", null, el("b.name", null, owner.node ?? "No owner"), " ", el("span.owner-note.hint")), el("span.owned.hint")));
}

function row(member) {
  const cell = (name, extra = "") => el(`td${extra}`, { role: "cell", "data-label": name });
  const node = el("tr", { role: "row" }, el("th", { scope: "row", role: "rowheader" }, member.node, " ", el("span.origin")),
    cell("Does"), cell("Partitions", ".right.tabular"), cell("Receivers"), cell("Behind"));
  node.children[3].append(el("div", null, el("ul.attributes"), el("span.hint")));
  node.children[4].append(el("div", null, el("span.lag"), el("span.warn-text.unwritten")));
  return node;
}

function update(node, member, fleet) {
  const [machine, does, partitions, receivers, behind] = node.children;
  text(machine.querySelector(".origin"), member.node === fleet.node ? "this machine" : "");
  const verbs = [member.receivers.length > 0 && "hears", member.works && "decides", member.delivers && "delivers"].filter(Boolean);
  text(does, verbs.length === 1 && !member.works && !member.delivers ? "only hears" : verbs.join(", ") || "nothing");
  // A machine that only hears never owns partitions.
  text(partitions, !member.works ? "–" : count(fleet.owners.length ? fleet.owners.filter((owner) => owner === member.node).length : member.partitions.length));
  const sorted = [...member.receivers].sort((one, other) => one.hears - other.hears);
  const deaf = sorted.filter((receiver) => !receiver.hears).length;
  const shown = sorted.slice(0, Math.max(deaf, 6));
  patch(receivers.querySelector("ul"), shown, (receiver) => receiver.name, (receiver) => el("li", null, receiver.name, el("b.bad-text")), (item, receiver) => {
    attribute(item, "data-hearing", receiver.hears ? "hearing" : "deaf");
    text(item.querySelector("b"), receiver.hears ? "" : " deaf");
  });
  const more = sorted.length - shown.length;
  text(receivers.querySelector(".hint"), !sorted.length ? "none" : more ? `and ${count(more)} more that ${more === 1 ? "hears" : "hear"}` : "");
  const lag = fleet.log == null || member.shown == null ? null : Math.max(0, fleet.log - member.shown);
  text(behind.querySelector(".lag"), lag === null ? "unknown" : lag ? counted(lag, "change") : "up to date");
  text(behind.querySelector(".unwritten"), member.unwritten ? `${counted(member.unwritten, "change")} not yet shared` : "");
}
