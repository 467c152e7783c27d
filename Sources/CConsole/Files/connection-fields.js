// Forms of sources and destinations: fields for each kind, and a trial.

import { send } from "./api.js";
import { el, show, text } from "./dom.js";
import { areaField, checkField, formDialog, showFaults, textField } from "./form.js";

const hosts = { attributes: { autocapitalize: "none", spellcheck: "false" } };

/** Creates a field for a password or key. Its value is the entered text, or the former reference while nothing is
 *  entered. */
export function secretField(key, label, { help } = {}) {
  const field = textField(key, label, { help: help || "It is stored as a secret and never shown.", attributes: { type: "password", autocomplete: "new-password" } });
  let former;
  field.set = (given) => {
    former = typeof given === "object" && given !== null ? given : undefined;
    field.input.placeholder = former ? "Set; write a new one to replace it" : "";
  };
  // Blanks may be part of a password.
  field.entry = () => field.input.value || former;
  return field;
}

const words = (value) => value.split(/[\s,]+/).filter(Boolean);
const joined = (value) => (Array.isArray(value) ? value.join("\n") : value ?? "");

/** Creates a part of the form. `fields` are by the names of keys; `read(settings)` fills them, and `write()` returns the
 *  settings that they make. */
function part(fields, read, write, check = () => []) {
  return { fields, all: Object.values(fields), node: el("div.form-part", null, ...Object.values(fields).map((field) => field.node)), read, write, check };
}

/** The fields of a connection to a broker, at `path` in the settings. */
function brokerPart(prefix) {
  const fields = {
    host: textField(`${prefix}host`, "Address", { help: "The broker’s name or address.", attributes: { placeholder: "homeassistant.local", ...hosts.attributes } }),
    port: textField(`${prefix}port`, "Port", { optional: true, attributes: { inputmode: "numeric", placeholder: "1883, encrypted 8883" } }),
    tls: checkField(`${prefix}tls`, "Encrypted (TLS)"),
    user: textField(`${prefix}user`, "User", { optional: true, attributes: { ...hosts.attributes } }),
    password: secretField(`${prefix}password`, "Password"),
  };
  return part(fields, (given) => {
    for (const key of ["host", "port", "user", "password"]) fields[key].set(given[key]);
    fields.tls.set(given.tls);
    fields.tls.former = given.tls;
  }, () => ({
    host: fields.host.value(), port: fields.port.value() ? Number(fields.port.value()) : undefined, user: fields.user.value() || undefined, password: fields.password.entry(),
    // A mapping with files stays as it is.
    tls: fields.tls.value() ? (typeof fields.tls.former === "object" && fields.tls.former || true) : undefined,
  }), () => [
    ...(fields.host.value() ? [] : [{ key: `${prefix}host`, detail: "write the broker’s name or address" }]),
    ...(!fields.port.value() || /^[1-9][0-9]{0,4}$/.test(fields.port.value()) ? [] : [{ key: `${prefix}port`, detail: "a number from 1 to 65535" }]),
  ]);
}

/** The kinds of sources: word, title and part. */
export const sourceKinds = [
  ["radio", "This machine’s Bluetooth", () => {
    const fields = { from: textField("from", "Radio", { help: "auto is the first usable radio; hci:hci0 or bluez:hci1 is a certain one.", attributes: { ...hosts.attributes } }) };
    return part(fields, (given) => fields.from.set(given.from || "auto"), () => ({ from: fields.from.value() || "auto" }));
  }],
  ["mqtt", "Receivers at an MQTT broker", () => {
    const broker = brokerPart("mqtt.");
    const topics = areaField("topics", "Topics", { optional: true, help: "Separated by blanks. Without any, those of the known projects.", attributes: { rows: 2, ...hosts.attributes, placeholder: "attic/+/BTtoMQTT/#" } });
    let rest = {};
    return part({ ...broker.fields, topics }, (given) => {
      rest = given.mqtt || {};
      broker.read(rest);
      topics.set(joined(given.topics));
    }, () => ({ mqtt: { ...rest, ...broker.write() }, topics: words(topics.value()).length ? words(topics.value()) : undefined }), broker.check);
  }],
  ["esphome", "ESPHome Bluetooth proxies", () => {
    const fields = {
      hosts: areaField("esphome.hosts", "Proxies", { optional: true, help: "Names or addresses, one a line. Without any, all that announce themselves.", attributes: { rows: 2, ...hosts.attributes, placeholder: "hall-proxy.local" } }),
      key: secretField("esphome.key", "Key of their API", { help: "It stands under api: encryption: in the device’s file. It is stored as a secret and never shown." }),
      take: checkField("esphome.take", "Take their adverts even if another program loses them"),
    };
    return part(fields, ({ esphome = {} }) => {
      fields.hosts.set(joined(esphome.hosts));
      fields.key.set(esphome.key);
      fields.take.set(esphome.take);
    }, () => ({ esphome: { hosts: words(fields.hosts.value()).length ? words(fields.hosts.value()) : undefined, key: fields.key.entry(), take: fields.take.value() || undefined } }));
  }],
  ["http", "Gateways that post", () => {
    const fields = { token: secretField("http.token", "Token", { help: "At least 16 characters, which the gateways send. It is stored as a secret and never shown." }) };
    return part(fields, (given) => fields.token.set(given.http?.token), () => ({ http: { token: fields.token.entry() } }), () => (fields.token.entry() ? [] : [{ key: "http.token", detail: "write a token" }]));
  }],
  ["simulation", "A simulation", () => {
    const fields = { from: textField("from", "Simulation", { help: "simulation:museum?loop repeats the simulated museum; air is the air that the programs of this machine share.", attributes: { ...hosts.attributes } }) };
    return part(fields, (given) => fields.from.set(given.from || "simulation:museum?loop"), () => ({ from: fields.from.value() }));
  }],
];

/** The kinds of destinations. */
export const destinationKinds = [
  ["mqtt", "MQTT and Home Assistant", () => {
    const broker = brokerPart("");
    const assistant = checkField("home-assistant", "Announce everything to Home Assistant");
    const topic = textField("topic", "Prefix of the topics", { optional: true, help: "Two destinations at one broker need different ones.", attributes: { ...hosts.attributes, placeholder: "beacond/hall" } });
    let former;
    return part({ ...broker.fields, assistant, topic }, (given) => {
      broker.read(given);
      former = given["home-assistant"];
      assistant.set(former ?? !Object.keys(given).length);
      topic.set(given.topic);
    }, () => ({ ...broker.write(), topic: topic.value() || undefined, "home-assistant": assistant.value() ? (typeof former === "object" && former || true) : undefined }), broker.check);
  }],
  ["webhook", "A webhook", () => {
    const fields = {
      url: textField("url", "Address", { help: "It receives a request for each event.", attributes: { type: "url", placeholder: "https://example.com/beacons" } }),
      secret: secretField("secret", "Secret that signs the requests"),
    };
    let former;
    return part(fields, (given) => {
      // An address that is a secret is not shown.
      former = typeof given.url === "object" ? given.url : undefined;
      fields.url.set(former ? "" : given.url);
      if (former) fields.url.input.placeholder = "A secret; write an address to replace it";
      fields.secret.set(given.secret);
    }, () => ({ url: fields.url.value() || former, secret: fields.secret.entry() }), () => (fields.url.value() || former ? [] : [{ key: "url", detail: "write the address" }]));
  }],
  ["kumulos", "Kumulos", () => {
    const fields = { api: secretField("api-key", "API key"), secret: secretField("secret-key", "Secret key") };
    return part(fields, (given) => {
      fields.api.set(given["api-key"]);
      fields.secret.set(given["secret-key"]);
    }, () => ({ "api-key": fields.api.entry(), "secret-key": fields.secret.entry() }));
  }],
];

/** Opens the form of a source or a destination. `item` has the settings of an existing one; `own(kind)` are the keys that
 *  the form of a kind sets, so that all other keys stay. */
export function connectionForm({ word, path, kinds, item, kind: present, key, saved }) {
  const name = textField("name", "Name", { attributes: { maxlength: 100 } });
  const parts = new Map(kinds.map(([kind, , make]) => [kind, make()]));
  const id = `kind-${path.replaceAll("/", "-")}`;
  const choice = el("select", { id }, ...kinds.map(([kind, title]) => el("option", { value: kind }, title)));
  choice.value = present || kinds[0][0];
  // The kind of an existing one stays, since its other keys belong to it.
  choice.disabled = Boolean(item);
  const body = el("div.form-part");
  const result = el("p.hint", { role: "status" });
  const current = () => parts.get(choice.value);
  const settings = item?.settings || {};
  name.set(item?.name);
  for (const [kind, one] of parts) one.read(item && kind === choice.value ? settings : {});
  const fields = [name];
  function draw() {
    body.replaceChildren(current().node);
    fields.splice(1, fields.length, ...current().all);
    text(result, "");
  }
  const write = () => ({ ...settings, ...(key ? { [key]: choice.value } : {}), name: name.value(), ...current().write() });
  const check = () => [...(name.value() ? [] : [{ key: "name", detail: "write a name" }]), ...current().check()];
  choice.addEventListener("change", draw);
  draw();
  let isBusy = false;
  async function attempt(invalid) {
    if (isBusy || invalid()) return;
    isBusy = true;
    text(result, "Trying… This takes some seconds.");
    result.className = "hint";
    try {
      const answer = await send("POST", `${path}/try${item ? `?of=${encodeURIComponent(item.name)}` : ""}`, write());
      result.className = answer.works ? "notice" : "notice bad";
      text(result, answer.detail);
    } catch (problem) {
      const others = showFaults(fields, problem.errors || []);
      result.className = "notice bad";
      text(result, problem.errors?.length && !others.length ? "" : problem.message);
    }
    isBusy = false;
    show(result, result.textContent !== "");
    // The buttons cover the end of the dialog.
    result.scrollIntoView({ block: "center" });
  }
  formDialog({
    title: item ? `${word[0].toUpperCase()}${word.slice(1)} ${item.name}` : `A new ${word}`, fields, verb: item ? "Save" : `Add the ${word}`, check,
    content: [el("div.field", null, el("label", { for: id }, "Kind"), choice), name.node, body, result],
    other: { word: "Try", run: attempt },
    send: async () => {
      const body = write();
      if (item) await send("PUT", `${path}/${encodeURIComponent(item.name)}`, body);
      else await send("POST", path, body);
      saved(body.name);
    },
  });
}
