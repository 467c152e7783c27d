// The guided start, step 3: what happens with it at first: a web address that is told, a rule, or nothing so far.

import { server } from "./api.js";
import { el, show, text } from "./dom.js";
import { areaField, selectField, textField } from "./form.js";
import { ruleWords } from "./rule-words.js";

export const title = "A first rule";
export const heading = "What should happen then?";

/** The rule of the draft; null where none is wanted. */
export function ruleOf(state) {
  if (state.kind !== "rule") return null;
  const { name, event, region, program, unit } = state.rule;
  return { name, events: [event], ...(region ? { regions: [region] } : {}), ...(program.trim() ? { program: program.split(/\r?\n/).map((line) => line.trim()).filter(Boolean) } : {}), ...(unit ? { unit } : {}) };
}

export function open(root, { state, keep, ready }) {
  const mayStart = server.status?.programs !== false;
  const address = textField("webhook", "Address", { help: "Each entry and exit is sent there as JSON, and waits on the disk until it is taken.", attributes: { type: "url", placeholder: "https://example.com/beacons", autocapitalize: "none", spellcheck: "false" } });
  const fields = {
    name: textField("rules.0.name", "Name of the rule"),
    event: selectField("rules.0.events", "When", [["enter", "the region is entered"], ["exit", "the region is left"], ["near", "one of its beacons comes near"]]),
    region: selectField("rules.0.regions", "Region", [["", "Any"], ...state.regions.map((region) => [region.name, region.name])]),
    program: areaField("rules.0.program", "start this program", { help: "The whole path, then each argument in a line of its own. The event is its standard input, as JSON.", attributes: { rows: 2, placeholder: "/usr/local/bin/lights", spellcheck: "false", autocapitalize: "none" } }),
    unit: textField("rules.0.unit", "or this systemd unit", { optional: true, attributes: { placeholder: "lights.service", spellcheck: "false", autocapitalize: "none" } }),
  };
  const sentence = el("p.rule-sentence", { "aria-live": "polite" });
  const webhookBox = el("div.card.chosen", null, address.node);
  const ruleBox = el("div.card.chosen", null, fields.name.node, el("div.field-row", null, fields.event.node, fields.region.node), fields.program.node, fields.unit.node, sentence);
  const kinds = [
    ["nothing", "Nothing so far", "The console shows who is where; rules come later, under Rules.", null],
    ["webhook", "Tell a web address", "A program of yours, or a service on the web, is told of each entry and exit.", webhookBox],
    ["rule", "Start a program", mayStart ? "When somebody comes or goes, on this machine." : "Rules that are made here start no programs: whoever can open this console could then run anything on the machine. Write such a rule into the file later.", ruleBox],
  ];
  const options = el("ul.options");
  for (const [kind, words, help, box] of kinds) {
    const input = el("input", { type: "radio", name: "kind", id: `kind-${kind}`, value: kind, "aria-describedby": `kind-${kind}-help`, disabled: kind === "rule" && !mayStart });
    input.checked = state.kind === kind;
    input.addEventListener("change", () => { state.kind = kind; draw(); });
    options.append(el("li.option", null, input, el("label", { for: `kind-${kind}` }, el("b", null, words), el("span.hint", { id: `kind-${kind}-help` }, help))));
  }
  root.append(el("fieldset.choice", null, el("legend.offscreen", null, heading), options), webhookBox, ruleBox);
  address.set(state.webhook);
  for (const [key, field] of Object.entries(fields)) field.set(state.rule[key]);
  if (state.kind === "rule" && !mayStart) state.kind = "nothing";

  function draw() {
    state.webhook = address.value();
    for (const [key, field] of Object.entries(fields)) state.rule[key] = field.value();
    show(webhookBox, state.kind === "webhook");
    show(ruleBox, state.kind === "rule");
    const rule = ruleOf(state);
    if (rule) text(sentence, ruleWords(rule));
    keep();
    ready(true);
  }
  root.addEventListener("input", draw);
  draw();
  return {
    async next() {
      const faults = [];
      if (state.kind === "webhook" && !/^https?:\/\/\S+/.test(address.value())) faults.push([address, "Write an address that begins with https:// or http://."]);
      if (state.kind === "rule") {
        if (!fields.name.value()) faults.push([fields.name, "Write a name."]);
        if (!fields.program.value() && !fields.unit.value()) faults.push([fields.program, "Write a program or a unit."]);
        if (fields.program.value() && fields.unit.value()) faults.push([fields.unit, "A rule starts either a program or a unit."]);
      }
      for (const field of [address, ...Object.values(fields)]) field.fault("");
      for (const [field, words] of faults) field.fault(words);
      faults[0]?.[0].focus();
      return !faults.length;
    },
    leave() { root.removeEventListener("input", draw); },
  };
}
