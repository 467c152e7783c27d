// The guided start: a first action, which is Home Assistant, a web address, a rule, or nothing yet.

import { sendSlowly, server } from "./api.js";
import { el, show, text } from "./dom.js";
import { areaField, checkField, selectField, textField } from "./form.js";
import { ruleWords } from "./rule-words.js";
import { brokerOf, usesSameBroker } from "./setup-choice.js";

export const title = "Connect it";
export const heading = "What should beacond do?";

/** Returns the rule of the draft, or null without one. */
export function ruleOf(state) {
  if (state.kind !== "rule") return null;
  const { name, event, region, program, unit } = state.rule;
  return { name, events: [event], ...(region ? { regions: [region] } : {}), ...(program.trim() ? { program: program.split(/\r?\n/).map((line) => line.trim()).filter(Boolean) } : {}), ...(unit ? { unit } : {}) };
}

/** Checks whether the broker accepts beacond, unless that is known or the user chose to continue anyway. Returns the
 *  faults, or null if the input has changed since then. */
export async function tryBroker(state) {
  const entered = JSON.stringify(brokerOf(state));
  if (state.accepted === entered) return [];
  const { faults } = await sendSlowly("POST", "v1/setup/broker", brokerOf(state));
  if (JSON.stringify(brokerOf(state)) !== entered) return null;
  if (!faults.length) state.accepted = entered;
  return faults;
}

/** Returns the second button after the broker has refused: the user can also continue with it as it is. */
export const anyway = (state, word) => [word, () => { state.accepted = JSON.stringify(brokerOf(state)); }];

export function open(root, { state, info, keep, ready }) {
  const mayStart = server.status?.programs !== false;
  const address = textField("webhook", "Address", { help: "Each entry and exit is sent there as JSON. It waits on disk until it is delivered.", attributes: { type: "url", placeholder: "https://example.com/beacons", autocapitalize: "none", spellcheck: "false" } });
  const fields = {
    name: textField("rules.0.name", "Name of the rule"),
    event: selectField("rules.0.events", "When", [["enter", "the region is entered"], ["exit", "the region is left"], ["near", "one of its beacons comes near"]]),
    region: selectField("rules.0.regions", "Region", [["", "Any"], ...state.regions.map((region) => [region.name, region.name])]),
    program: areaField("rules.0.program", "start this program", { help: "The full path, then one argument per line. The program reads the event as JSON from its standard input.", attributes: { rows: 2, placeholder: "/usr/local/bin/lights", spellcheck: "false", autocapitalize: "none" } }),
    unit: textField("rules.0.unit", "or this systemd unit", { optional: true, attributes: { placeholder: "lights.service", spellcheck: "false", autocapitalize: "none" } }),
  };
  const broker = {
    host: textField("broker.host", "Broker", { help: "The name or address of the MQTT broker that Home Assistant uses. For your own certificate authority: mqtts://NAME?ca-file=FILE.", attributes: { placeholder: "homeassistant.local", autocapitalize: "none", spellcheck: "false" } }),
    port: textField("broker.port", "Port", { optional: true, attributes: { inputmode: "numeric", placeholder: "1883" } }),
    user: textField("broker.user", "User", { optional: true, attributes: { autocapitalize: "none", spellcheck: "false", autocomplete: "off" } }),
  };
  const password = textField("broker.password", "Password", { optional: true, help: `It is written to ${info.secrets}, which only its owner can read.`, attributes: { type: "password", autocomplete: "new-password" } });
  const tls = checkField("broker.tls", "Encrypted (TLS)");
  const same = checkField("same", "Use the same broker", { help: "Home Assistant and the receivers often share one." });
  const ownBroker = el("div", null, el("div.field-row", null, broker.host.node, broker.port.node), tls.node, el("div.field-row", null, broker.user.node, password.node));
  show(same.node, state.listen === "broker");
  const sentence = el("p.rule-sentence", { "aria-live": "polite" });
  const webhookBox = el("div.card.chosen", null, address.node);
  const brokerBox = el("div.card.chosen", null, same.node, ownBroker);
  const ruleBox = el("div.card.chosen", null, fields.name.node, el("div.field-row", null, fields.event.node, fields.region.node), fields.program.node, fields.unit.node, sentence);
  const kinds = [
    ["nothing", "Nothing yet", "The console shows who is where; you can add rules later, under Rules.", null],
    ["broker", "Connect Home Assistant", "Creates a device for each region and each named beacon, through its MQTT broker.", brokerBox],
    ["webhook", "Notify a web address", "Sends each entry and exit to your program or to a web service.", webhookBox],
    ["rule", "Start a program", mayStart ? "On this machine, for each entry or exit." : "Rules of the console cannot start programs, since anyone who can open this console could then run anything on the machine. You can add such a rule to the file later.", ruleBox],
  ];
  const options = el("ul.options");
  for (const [kind, words, help, box] of kinds) {
    const input = el("input", { type: "radio", name: "kind", id: `kind-${kind}`, value: kind, "aria-describedby": `kind-${kind}-help`, disabled: kind === "rule" && !mayStart });
    input.checked = state.kind === kind;
    input.addEventListener("change", () => { state.kind = kind; draw(); });
    options.append(el("li.option", null, input, el("label", { for: `kind-${kind}` }, el("b", null, words), el("span.hint", { id: `kind-${kind}-help` }, help))));
  }
  root.append(el("fieldset.choice", null, el("legend.offscreen", null, heading), options), brokerBox, webhookBox, ruleBox);
  address.set(state.webhook);
  password.set(state.password);
  tls.set(state.broker.tls);
  same.set(state.sameBroker);
  for (const [key, field] of Object.entries(broker)) field.set(state.broker[key]);
  for (const [key, field] of Object.entries(fields)) field.set(state.rule[key]);
  if (state.kind === "rule" && !mayStart) state.kind = "nothing";

  function draw() {
    state.webhook = address.value();
    // Keep blanks at the ends of a password.
    state.password = password.input.value;
    for (const [key, field] of Object.entries(broker)) state.broker[key] = field.value();
    state.broker.tls = tls.value();
    state.sameBroker = same.value();
    show(ownBroker, !usesSameBroker(state));
    show(brokerBox, state.kind === "broker");
    for (const [key, field] of Object.entries(fields)) state.rule[key] = field.value();
    show(webhookBox, state.kind === "webhook");
    show(ruleBox, state.kind === "rule");
    const rule = ruleOf(state);
    if (rule) text(sentence, ruleWords(rule));
    keep();
    if (!trying) ready(true);
  }
  password.input.addEventListener("input", () => { state.broker.hasPassword = password.input.value !== ""; });
  let trying = false;
  let isEnded = false;
  root.addEventListener("input", draw);
  draw();

  /** Checks the broker, and shows its faults beside their fields. */
  async function tryFields() {
    trying = true;
    ready(false, "Trying the broker…");
    const faults = await tryBroker(state).finally(() => { trying = false; if (!isEnded) ready(true); });
    if (isEnded || !faults) return false;
    if (!faults.length) return true;
    const fields = { ...broker, password };
    for (const { key, detail } of faults) (fields[key.split(".").pop()] || broker.host).fault(detail[0].toUpperCase() + detail.slice(1));
    Object.values(fields).find((field) => field.input.hasAttribute("aria-invalid"))?.focus();
    ready(true, "Try again", anyway(state, "Continue anyway"));
    return false;
  }

  return {
    async next() {
      const faults = [];
      if (state.kind === "broker" && !usesSameBroker(state)) {
        if (!broker.host.value()) faults.push([broker.host, "Write the broker's name or address."]);
        if (broker.port.value() && !/^[1-9][0-9]{0,4}$/.test(broker.port.value())) faults.push([broker.port, "Write a number from 1 to 65535."]);
        if (state.broker.hasPassword && !state.password) faults.push([password, "Enter the password again; the browser does not store it."]);
        if (state.password && !broker.user.value()) faults.push([broker.user, "A password needs a user."]);
      }
      if (state.kind === "webhook" && !/^https?:\/\/\S+/.test(address.value())) faults.push([address, "Write an address that begins with https:// or http://."]);
      if (state.kind === "rule") {
        if (!fields.name.value()) faults.push([fields.name, "Write a name."]);
        if (!fields.program.value() && !fields.unit.value()) faults.push([fields.program, "Write a program or a unit."]);
        if (fields.program.value() && fields.unit.value()) faults.push([fields.unit, "A rule starts either a program or a unit."]);
      }
      for (const field of [address, password, ...Object.values(broker), ...Object.values(fields)]) field.fault("");
      for (const [field, words] of faults) field.fault(words);
      faults[0]?.[0].focus();
      if (faults.length) return false;
      return state.kind === "broker" ? tryFields() : true;
    },
    leave() { isEnded = true; root.removeEventListener("input", draw); },
  };
}
