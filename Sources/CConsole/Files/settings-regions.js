// Settings: the regions that are monitored.

import { pathOf, send } from "./api.js";
import { el } from "./dom.js";
import { formDialog, selectField } from "./form.js";
import { parseUUID, parseWhole, regionIdentity } from "./format.js";
import { settingFields } from "./settings-keys.js";
import { settingRow, settingsList } from "./settings-list.js";
import { spanWords } from "./rule-words.js";

export const title = "Regions";

export function open(root) {
  const list = settingsList(root, {
    path: "v1/regions", key: "regions", word: "region", heading: "Regions", topics: ["regions"],
    lede: "A region is entered when one of its beacons is heard, and left when none has been heard for a while.",
    nothing: ["There are no regions", "A region is a UUID, and optionally a major and a minor: all your beacons, those of one site, or a single one."],
    removal: "It is no longer monitored. Its events stay in the history. Rules for it do not run.",
    row: (item) => {
      const node = settingRow(item);
      node.update = (now) => node.describe(describe(now));
      return node;
    },
    edit: (item) => regionForm(item, list.saved),
  });
  return list.end;
}

function describe({ settings, ...region }) {
  const parts = [regionIdentity(region)];
  const minimum = settings["minimum-rssi"];
  if (minimum === "auto") parts.push("learns the signal of its beacons here");
  else if (minimum !== undefined && minimum !== null) parts.push(`entered from ${minimum} dBm`.replace("-", "−"));
  if (settings["exit-timeout"]) parts.push(`left after ${spanWords(settings["exit-timeout"])}`);
  if (settings["adaptive-exit"]) parts.push("learns how long its beacons are usually silent");
  return parts.join("; ");
}

const anyNumber = { optional: true, attributes: { inputmode: "numeric", placeholder: "any" } };

/** Creates the fields that identify beacons: `{ uuid, major, minor }`. */
export function identityFields(keys, whole) {
  const number = whole ? { attributes: { inputmode: "numeric" }, help: null } : { ...anyNumber, help: null };
  return {
    uuid: keys.text("uuid", { attributes: { spellcheck: "false", autocapitalize: "characters", maxlength: 40, class: "mono" } }),
    major: keys.text("major", number), minor: keys.text("minor", number),
  };
}

/** Returns the faults of an identity, before the server checks it. */
export function identityFaults(keys, { uuid, major, minor }, whole) {
  const faults = [];
  if (!parseUUID(uuid.value())) faults.push({ key: "uuid", detail: "a UUID has 32 hexadecimal digits, such as E2C56DB5-DFFB-48D2-B060-D0F5A71096E0" });
  for (const field of [major, minor]) {
    const given = field.value();
    if (given === "" ? whole : parseWhole(given, ...keys.range(field.key)) === null) faults.push({ key: field.key, detail: keys.rangeFault(field.key) });
  }
  if (!whole && minor.value() !== "" && major.value() === "") faults.push({ key: "major", detail: "a minor needs a major" });
  return faults;
}

/** Returns the identity in the fields. */
export function identityOf({ uuid, major, minor }) {
  const number = (field) => (field.value() === "" ? undefined : parseWhole(field.value(), 0, 65535));
  return { uuid: parseUUID(uuid.value()), major: number(major), minor: number(minor) };
}

const signals = [["", "As soon as it is heard"], ["auto", "Nearby: learn the signal strength here"], ["own", "From a signal of…"]];

async function regionForm(item, saved) {
  const keys = await settingFields("regions");
  const identity = identityFields(keys, false);
  const fields = {
    name: keys.text("name", { attributes: { maxlength: 100 } }), ...identity,
    signal: selectField("signal", "Entered", signals),
    minimum: keys.text("minimum-rssi", { help: "−59 is about a meter away, −75 in the room, −90 far away.", attributes: { inputmode: "text" } }), exit: keys.text("exit-rssi", { optional: true }),
    timeout: keys.text("exit-timeout", { optional: true, attributes: { autocapitalize: "none" } }), adaptive: keys.check("adaptive-exit"),
  };
  const own = el("div.field-row", null, fields.minimum.node, fields.exit.node);
  const given = item?.settings || {};
  const minimum = given["minimum-rssi"];
  fields.name.set(given.name);
  identity.uuid.set(given.uuid?.toUpperCase());
  identity.major.set(given.major ?? "");
  identity.minor.set(given.minor ?? "");
  fields.signal.set(minimum === "auto" ? "auto" : minimum === undefined || minimum === null ? "" : "own");
  fields.minimum.set(typeof minimum === "number" ? minimum : "");
  fields.exit.set(given["exit-rssi"] ?? "");
  fields.timeout.set(given["exit-timeout"] ?? "");
  fields.adaptive.set(given["adaptive-exit"]);
  const dbm = (field) => parseWhole(field.value(), ...keys.range("exit-rssi"));
  const { form } = formDialog({
    title: item ? `Region ${item.name}` : "A new region", fields: Object.values(fields), verb: item ? "Save" : "Add the region",
    content: [fields.name.node, identity.uuid.node, el("div.field-row", null, identity.major.node, identity.minor.node), fields.signal.node, own, fields.timeout.node, fields.adaptive.node],
    check: () => {
      const faults = identityFaults(keys, identity, false);
      if (!fields.name.value()) faults.unshift({ key: "name", detail: "write a name" });
      if (fields.signal.value() === "own") {
        if (dbm(fields.minimum) === null) faults.push({ key: "minimum-rssi", detail: keys.rangeFault("exit-rssi") });
        if (fields.exit.value() && dbm(fields.exit) === null) faults.push({ key: "exit-rssi", detail: keys.rangeFault("exit-rssi") });
      }
      return faults;
    },
    send: async () => {
      const isOwn = fields.signal.value() === "own";
      const body = {
        name: fields.name.value(), ...identityOf(identity),
        "minimum-rssi": isOwn ? dbm(fields.minimum) : fields.signal.value() || undefined,
        "exit-rssi": isOwn && fields.exit.value() ? dbm(fields.exit) : undefined,
        "exit-timeout": fields.timeout.value() || undefined, "adaptive-exit": fields.adaptive.value() || undefined,
        id: given.id,
      };
      if (item) await send("PUT", pathOf("v1/regions", item.name), body);
      else await send("POST", "v1/regions", body);
      saved(body.name);
    },
  });
  const draw = () => { own.hidden = fields.signal.value() !== "own"; };
  form.addEventListener("change", draw);
  draw();
}
