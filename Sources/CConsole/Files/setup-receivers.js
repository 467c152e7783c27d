// The guided start, step 2 for receivers in the network: their broker or their keys, and a live list of the receivers found.

import { send } from "./api.js";
import { announce, el, patch, show, text } from "./dom.js";
import { areaField, checkField, textField } from "./form.js";
import { counted } from "./format.js";
import { brokerSource, isNetwork, lacksSecret, proxySources, roomOf, sourcesOf } from "./setup-choice.js";
import { searchFor } from "./setup-search.js";
import { listenWith } from "./setup-wait.js";
import { proxyFields } from "./setup-proxies.js";

export const title = "Receivers";
export const heading = "Which receivers are yours?";
/** Returns whether the choice needs this step. */
export const applies = isNetwork;

/** Creates the fields of the broker. `sources()` are the searches; `fault(key, words)` shows a fault and returns whether
 *  there is a field for it; `check()` returns whether the input is complete. */
function brokerFields(state, keep, secrets) {
  const fields = {
    host: textField("broker.host", "Address", { help: "The broker’s name or address. For your own certificate authority: mqtts://NAME?ca-file=FILE.", attributes: { placeholder: "homeassistant.local", autocapitalize: "none", spellcheck: "false" } }),
    port: textField("broker.port", "Port", { optional: true, attributes: { inputmode: "numeric", placeholder: "1883" } }),
    user: textField("broker.user", "User", { optional: true, attributes: { autocapitalize: "none", spellcheck: "false", autocomplete: "off" } }),
    password: textField("broker.password", "Password", { optional: true, help: `It is written to ${secrets}, which only its owner can read.`, attributes: { type: "password", autocomplete: "new-password" } }),
    tls: checkField("broker.tls", "Encrypted (TLS)"),
    topics: areaField("topics", "Topics", { optional: true, help: "Separated by blanks. Without any, those of the known projects.", attributes: { rows: 2, autocapitalize: "none", spellcheck: "false", placeholder: "attic/+/BTtoMQTT/#" } }),
  };
  const more = el("details.json", null, el("summary", null, "Receivers with other topics"), fields.topics.node);
  const node = el("div.card.chosen", null, el("div.field-row", null, fields.host.node, fields.port.node), fields.tls.node, el("div.field-row", null, fields.user.node, fields.password.node), more);
  for (const key of ["host", "port", "user", "tls"]) fields[key].set(state.receiverBroker[key]);
  fields.password.set(state.receiverPassword);
  fields.topics.set(state.topics);
  more.open = state.topics !== "";
  node.addEventListener("input", () => {
    for (const key of ["host", "port", "user", "tls"]) state.receiverBroker[key] = fields[key].value();
    // Keep blanks at the ends of a password.
    state.receiverPassword = fields.password.input.value;
    state.receiverBroker.hasPassword = state.receiverPassword !== "";
    state.topics = fields.topics.value();
    keep();
  });
  return {
    node, sources: () => [brokerSource(state)], update: () => {},
    check() {
      const faults = [];
      if (!fields.host.value()) faults.push([fields.host, "Write the broker’s name or address."]);
      if (fields.port.value() && !/^[1-9][0-9]{0,4}$/.test(fields.port.value())) faults.push([fields.port, "Write a number from 1 to 65535."]);
      if (lacksSecret(state)) faults.push([fields.password, "Enter the password again; the browser does not store it."]);
      if (state.receiverPassword && !fields.user.value()) faults.push([fields.user, "A password needs a user."]);
      for (const field of Object.values(fields)) field.fault("");
      for (const [field, words] of faults) field.fault(words);
      faults[0]?.[0].focus();
      return !faults.length;
    },
    fault(key, words) {
      const field = fields[key.split(".").pop()];
      if (!field) return false;
      field.fault(words);
      field.focus();
      return true;
    },
  };
}

export function open(root, { state, info, keep, fail, ready }) {
  const isBroker = state.listen === "broker";
  const own = isBroker ? brokerFields(state, keep, info.secrets) : proxyFields(state, keep, info.secrets, () => stop());
  const connect = el("button.primary", null, "Connect");
  const form = el("form.search-form", { novalidate: true }, own.node, el("div.actions", null, connect));
  const status = el("p.hint", { role: "status" });
  const hints = el("ul.line-hints", { "aria-label": "Notes" });
  const fix = el("button", { type: "button", hidden: true }, "Let OpenMQTTGateway scan without pauses");
  const list = el("ul.rows.receivers-found", { "aria-label": "Receivers found" });
  const also = checkField("also", "Listen with this machine’s Bluetooth, too");
  const found = el("section", { "aria-label": "Receivers found", hidden: true }, el("h3", null, "Receivers found"), el("p.hint", null, "Name each one and write the room that it is in. Rooms show where a beacon is."), status, hints, fix, list);
  const waiting = el("p.hint", { role: "status", hidden: true }, "beacond is starting to listen. This takes a few seconds.");
  also.set(state.alsoRadio);
  also.input.addEventListener("change", () => { state.alsoRadio = also.value(); keep(); });
  show(also.node, info.sources.some((one) => one.source === "auto" && one.usable));
  root.append(form, found, also.node, waiting);
  let searches = [];
  let reports = [];
  let isEnded = false;
  let told = 0;

  function stop() {
    for (const search of searches) search.end();
    searches = [];
    text(connect, isBroker ? "Connect" : "Listen to the chosen ones");
    ready(Object.keys(state.receivers).length > 0);
  }

  function start() {
    stop();
    reports = [];
    if (!own.check()) return;
    state.receivers = {};
    show(found, true);
    text(status, "Connecting…");
    text(connect, "Connect again");
    ready(false);
    searches = own.sources().map((source, index) => searchFor(source, {
      found: (report) => { reports[index] = report; draw(); },
      failed: (problem) => {
        const error = problem.errors?.[0];
        if (!error || !own.fault(error.key, sentence(error.detail))) fail(problem);
        text(status, "");
        show(found, false);
      },
      ended: () => { if (reports[index]?.state === "connecting") text(status, "The connection ended."); },
    }));
  }

  function draw() {
    if (isEnded) return;
    const all = reports.filter(Boolean);
    const receivers = all.flatMap((report) => report.receivers);
    const faults = all.flatMap((report) => report.faults);
    const isFailed = all.some((report) => report.state === "failed");
    own.update(all);
    for (const fault of faults) if (isFailed) own.fault(fault.key, sentence(fault.detail));
    show(found, !isFailed);
    text(status, faults.length && !isFailed ? sentence(faults[0].detail) : receivers.length ? "" : all.some((report) => report.state === "connecting") ? "Connecting…" : "Connected. Waiting for the first receiver…");
    const notes = all.flatMap((report) => report.hints);
    patch(hints, notes, (one) => one.kind, () => el("li"), (node, one) => text(node, one.detail));
    show(hints, notes.length > 0);
    const gateways = [...new Set(all.flatMap((report) => report.gateways))];
    fix.gateways = gateways;
    show(fix, gateways.length > 0);
    for (const one of receivers) state.receivers[one.key] ??= { own: one.name, name: one.name, room: roomOf(one.name) };
    patch(list, receivers, (one) => one.key, row, update);
    if (receivers.length > told) announce(`${counted(receivers.length, "receiver")} found`);
    told = receivers.length;
    keep();
    // Receivers may appear later, and beacond accepts them then, too.
    ready(!isFailed && all.length > 0 && all.every((report) => report.state === "listening"), receivers.length ? "Continue" : "Continue without a receiver");
  }

  function row(one) {
    const chosen = state.receivers[one.key];
    const name = textField(`receiver.${one.key}`, "Name", { attributes: { maxlength: 64, autocapitalize: "none" } });
    const room = textField(`room.${one.key}`, "Room", { optional: true, attributes: { maxlength: 100, list: "setup-rooms", placeholder: "Living room" } });
    name.set(chosen.name);
    room.set(chosen.room);
    name.input.addEventListener("input", () => { chosen.name = name.value() || one.name; keep(); });
    room.input.addEventListener("input", () => { chosen.room = room.value(); keep(); });
    name.input.setAttribute("aria-label", `Name of ${one.name}`);
    room.input.setAttribute("aria-label", `Room of ${one.name}`);
    return el("li.setting.receiver-found", null, el("div.setting-text", null, el("p.name", null, one.name), el("p.identity.numbers"), el("p.identity.beacons")), el("div.field-row", null, name.node, room.node));
  }
  function update(node, one) {
    text(node.querySelector(".numbers"), `${one.kind}${one.topic ? `, ${one.topic}` : ""}, ${counted(one.advertsPerMinute, "advert")} a minute, hears ${counted(one.beacons.length, "beacon")}`);
    text(node.querySelector(".beacons"), one.beacons.slice(0, 3).map((beacon) => `${beacon.major} · ${beacon.minor}${beacon.level === null ? "" : ` at ${beacon.level} dBm`.replace("-", "−")}`).join(", ") + (one.beacons.length > 3 ? ", …" : ""));
  }

  fix.addEventListener("click", async () => {
    fix.disabled = true;
    try {
      await send("POST", "v1/setup/scan", { broker: brokerSource(state).broker, gateways: fix.gateways });
      text(status, `${fix.gateways.join(", ")}: told to scan without pauses, also after a restart.`);
      announce(status.textContent);
    } catch (problem) { fail(problem); }
    fix.disabled = false;
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); start(); });
  stop();
  ready(false);
  return {
    async next() {
      if (lacksSecret(state)) { own.check(); return false; }
      const sources = sourcesOf(state);
      const wanted = JSON.stringify(sources);
      if (state.listening === wanted) return true;
      stop();
      show(waiting, true);
      try {
        const now = await listenWith(sources, () => isEnded);
        if (now) state.listening = wanted;
        return Boolean(now) && !isEnded;
      } finally { show(waiting, false); }
    },
    leave() { isEnded = true; stop(); own.leave?.(); },
  };
}

const sentence = (words) => words[0].toUpperCase() + words.slice(1);
