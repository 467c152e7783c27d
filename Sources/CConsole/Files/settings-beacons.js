// Settings: named beacons with their places and attributes, and tables of them.

import { get, isReadOnly, pathOf, send, upload } from "./api.js";
import { attribute, el, patch, show, text, toast } from "./dom.js";
import { checkField, formDialog } from "./form.js";
import { pickBeacon } from "./heard-list.js";
import { counted, shortUUID } from "./format.js";
import { identityFaults, identityFields, identityOf } from "./settings-regions.js";
import { settingFields } from "./settings-keys.js";
import { originBadge, settingsList } from "./settings-list.js";

export const title = "Beacons";

// The order of the bytes of a phone's key.
const orders = { usual: "recognized, bytes in the usual order", reversed: "recognized, bytes in reverse order", unknown: "not recognized yet" };

const columns = ["Name", "UUID", "Major", "Minor", "Place", "Attributes"];

export function open(root) {
  // On a phone the rows are cards, so the table loses its meaning. The roles keep it.
  const table = el("table.beacon-table", { role: "table", "aria-label": "Named beacons" },
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...columns.map((name) => el(`th${name === "Major" || name === "Minor" ? ".right" : ""}`, { scope: "col", role: "columnheader" }, name)), el("th", { scope: "col", role: "columnheader" }, el("span.offscreen", null, "Actions")))),
    el("tbody", { role: "rowgroup" }));
  const filter = el("input", { type: "search", "aria-label": "Filter the beacons", placeholder: "Filter" });
  const tools = el("div.tools", null, filter, el("span.tool-links", null,
    isReadOnly() ? null : el("button.small", { type: "button", click: () => importForm(null, list) }, "Import a table…"),
    el("a.button.small", { href: "v1/registered-beacons/export", download: "" }, "Export (CSV)")));
  const list = settingsList(root, {
    path: "v1/registered-beacons", key: "beacons", word: "beacon", heading: "Named beacons", topics: ["registered-beacons", "beacons"],
    lede: "A named beacon appears with its name everywhere. Its events include its attributes.",
    nothing: ["No beacon has a name", "Give the beacons names, one at a time or from a table (CSV) with the columns name, uuid, major and minor."],
    removal: "It appears with its numbers again. Rules for it do not run.", container: table, extra: [tools], row,
    edit: async (item) => {
      const picked = item ? null : await pickBeacon({ title: "Add a beacon" });
      if (item || picked) await beaconForm(item, list.saved, picked);
    },
    loaded: (items) => { show(filter, items.length > 5 || filter.value !== ""); setTimeout(narrow); },
  });
  function narrow() {
    const wanted = filter.value.trim().toLowerCase();
    for (const node of table.tBodies[0].rows) show(node, node.textContent.toLowerCase().includes(wanted) || (node.item?.uuid || "").toLowerCase().includes(wanted));
  }
  filter.addEventListener("input", narrow);
  if (!isReadOnly()) dropZone(root, (file) => importForm(file, list));
  return list.end;
}

function row(item) {
  const cell = (name, extra = "") => el(`td${extra}`, { role: "cell", "data-label": name });
  const node = el("tr", { role: "row" }, el("th", { scope: "row", role: "rowheader" }, item.name, " ", originBadge(item)),
    cell("UUID", ".mono"), cell("Major", ".right.tabular"), cell("Minor", ".right.tabular"), cell("Place", ".where"), cell("Attributes"), el("td", { role: "cell" }, el("div.setting-actions")));
  const attributes = el("ul.attributes");
  node.children[5].append(attributes);
  node.update = (now) => {
    const [, uuid, major, minor, place] = node.children;
    text(uuid, shortUUID(now.uuid));
    attribute(uuid, "title", now.uuid.toUpperCase());
    text(major, String(now.major));
    text(minor, String(now.minor));
    text(place, now.place || "");
    patch(attributes, [...(now.keys || []).map((order, index) => [now.keys.length > 1 ? `Key ${index + 1}` : "Key", orders[order]]), ...Object.entries(now.attributes)], ([name, value]) => `${name}=${value}`, ([name, value]) => el("li", null, el("span", null, `${name}: `), value));
  };
  return node;
}

/** Opens the form of a beacon; without an item, of a new one with the picked identity. */
async function beaconForm(item, saved, picked) {
  const [places, keys] = await Promise.all([get("v1/places").then((answer) => answer.places.map((place) => place.name)), settingFields("beacons")]);
  const identity = identityFields(keys, true);
  const fields = {
    name: keys.text("name", { attributes: { maxlength: 100 } }), ...identity, place: keys.text("place", { label: "It stays in", optional: true, attributes: { list: "beacon-places" } }),
    tracker: keys.check("tracker", { label: "A person carries it" }), occupies: keys.check("occupies"), attributes: keys.pairs("attributes", { help: "For instance shelf = 12. The beacon’s events include them." }),
  };
  const given = item?.settings || picked || {};
  fields.name.set(given.name);
  identity.uuid.set(given.uuid?.toUpperCase());
  identity.major.set(given.major ?? "");
  identity.minor.set(given.minor ?? "");
  fields.place.set(given.place);
  fields.tracker.set(given.tracker);
  fields.occupies.set(given.occupies ?? given.tracker);
  // Whether a beacon counts follows whether a person carries it, until the user decides otherwise.
  let follows = given.occupies === undefined;
  fields.occupies.input.addEventListener("change", () => { follows = false; });
  fields.tracker.input.addEventListener("change", () => { if (follows) fields.occupies.set(fields.tracker.value()); });
  fields.attributes.set(given.attributes);
  formDialog({
    title: item ? `Beacon ${item.name}` : "A new beacon", fields: Object.values(fields), verb: item ? "Save" : "Add the beacon",
    content: [fields.name.node, identity.uuid.node, el("div.field-row", null, identity.major.node, identity.minor.node), fields.place.node, el("datalist", { id: "beacon-places" }, ...places.map((name) => el("option", { value: name }))), fields.tracker.node, fields.occupies.node, fields.attributes.node],
    check: () => [...(fields.name.value() ? [] : [{ key: "name", detail: "write a name" }]), ...identityFaults(keys, identity, true)],
    send: async () => {
      const body = { name: fields.name.value(), ...identityOf(identity), place: fields.place.value() || undefined, tracker: fields.tracker.value() || undefined, occupies: fields.occupies.value() === fields.tracker.value() ? undefined : fields.occupies.value(), attributes: fields.attributes.value() };
      if (item) await send("PUT", pathOf("v1/registered-beacons", item.name), body);
      else await send("POST", "v1/registered-beacons", body);
      saved(body.name);
    },
  });
}

/** Opens the import, optionally with a chosen or dropped file. */
function importForm(file, list) {
  let chosen = null;
  const input = el("input.offscreen", { type: "file", accept: ".csv,text/csv,text/plain", id: "csv-file" });
  const name = el("p.drop-name", null, "Drop a table here, or choose one");
  const preview = el("pre.preview", { hidden: true, tabindex: "0", role: "region", "aria-label": "The first lines of the table" }, el("code"));
  const zone = el("div.drop", null, name, input, el("label.button.small", { for: "csv-file" }, "Choose a file"));
  const problems = el("ul.line-faults", { "aria-label": "Errors in the table" });
  const table = {
    key: "file", node: el("div.field", { "data-key": "file" }, zone, preview, problems), value: () => chosen?.name || "", focus: () => input.focus(),
    takes: (line) => /^line \d+$/.test(line),
    faults(errors) {
      problems.replaceChildren(...errors.slice(0, 20).map((error) => el("li", null, error.key === "file" ? "" : el("b", null, `${error.key}: `), error.detail)));
      if (errors.length > 20) problems.append(el("li", null, `and ${errors.length - 20} more`));
    },
  };
  const replace = checkField("replace", "Remove beacons that are not in the table", { help: "Removes only beacons of the console, not those of the file." });
  async function take(given) {
    if (!given) return;
    chosen = given;
    problems.replaceChildren();
    text(name, `${given.name} (${counted(Math.max(1, Math.round(given.size / 1024)), "kilobyte")})`);
    const lines = (await given.slice(0, 2000).text()).split(/\r?\n/).slice(0, 6);
    text(preview.firstChild, lines.join("\n"));
    show(preview, true);
  }
  input.addEventListener("change", () => take(input.files[0]));
  const { form } = formDialog({
    title: "Import beacons from a table", verb: "Import", fields: [table, replace],
    lede: "CSV with the header name,uuid,major,minor,place and a column for each attribute, as in an export. A row with the name of an existing beacon changes that beacon.",
    check: () => (chosen ? [] : [{ key: "file", detail: "choose a table" }]),
    send: async () => {
      const answer = await upload("POST", `v1/registered-beacons/import${replace.value() ? "?replace=true" : ""}`, await chosen.text(), "text/csv");
      toast(`${counted(answer.added, "beacon")} added, ${answer.changed} changed, ${answer.removed} removed, ${answer.unchanged} unchanged`);
      list.load().catch(() => {});
    },
  });
  dropZone(form, take);
  take(file);
}

/** Accepts files that are dropped on a node. */
function dropZone(node, take) {
  const over = (isOver) => attribute(node, "data-drop", isOver ? "yes" : null);
  node.addEventListener("dragover", (event) => {
    if (![...(event.dataTransfer?.types || [])].includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  node.addEventListener("dragleave", (event) => { if (!node.contains(event.relatedTarget)) over(false); });
  node.addEventListener("drop", (event) => {
    over(false);
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
}
