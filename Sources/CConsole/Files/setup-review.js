// The guided start, last step: a preview of the configuration with its faults, and the button that writes it.

import { on, send } from "./api.js";
import { codeBlock, el, patch, show, text } from "./dom.js";
import { textField } from "./form.js";
import { brokerOf, placesOf, sourcesOf, usesSameBroker } from "./setup-choice.js";
import { anyway, ruleOf, tryBroker } from "./setup-first.js";

export const title = "Write it";
export const heading = "Is this right?";

/** Returns the body of requests for the draft and for writing it. */
const bodyOf = (state) => {
  const rule = ruleOf(state);
  return { source: sourcesOf(state), places: placesOf(state), proxy: state.listen === "esphome" && state.proxy, beacons: state.beacons, regions: state.regions, rules: rule ? [rule] : [], webhook: state.kind === "webhook" ? state.webhook : null, broker: brokerOf(state) };
};

/** Splits a fault's key at full stops and brackets. */
const partsOf = (key) => key.split(/[.[\]]+/).filter(Boolean);

export function open(root, { state, info, keep, fail, ready }) {
  const where = el("p", null, "beacond writes this to ", el("code", null, info.path), " and continues with it. You can edit the file at any time. Everything that you add in the console later is stored separately.");
  const names = el("div.name-fields");
  const faults = el("ul.line-faults", { "aria-label": "Faults" });
  const yaml = el("div.yaml");
  root.append(where, el("div", { role: "alert" }, faults), names, yaml);
  let isEnded = false;
  let mine = 0;
  let fields = [];

  /** Creates a field for each name, so that faults can be fixed where they are shown. */
  function makeFields() {
    const rules = state.kind === "rule" ? [state.rule] : [];
    const all = [["beacons", "Beacon", state.beacons], ["regions", "Region", state.regions], ["rules", "Rule", rules]];
    fields = all.flatMap(([list, word, items]) => items.map((item, index) => {
      const field = textField(`${list}.${index}.name`, word, { attributes: { maxlength: 100 } });
      field.set(item.name);
      field.input.addEventListener("input", () => {
        const before = item.name;
        item.name = field.value();
        if (list === "regions" && state.rule.region === before) state.rule.region = item.name;
        keep();
        later();
      });
      return field;
    }));
    if (state.kind === "webhook") {
      const field = textField("webhook", "Web address", { attributes: { type: "url" } });
      field.set(state.webhook);
      field.input.addEventListener("input", () => { state.webhook = field.value(); keep(); later(); });
      fields.push(field);
    }
    if (state.kind === "broker" && !usesSameBroker(state)) {
      for (const [key, word] of [["host", "Broker"], ["user", "User"]]) {
        const field = textField(`broker.${key}`, word, { attributes: { autocapitalize: "none", spellcheck: "false" } });
        field.set(state.broker[key]);
        field.input.addEventListener("input", () => { state.broker[key] = field.value(); keep(); later(); });
        fields.push(field);
      }
    }
    names.replaceChildren(...fields.map((field) => field.node));
  }

  let waiting = null;
  const later = () => { ready(false); clearTimeout(waiting); waiting = setTimeout(draft, 400); };

  function showDraftFaults(list) {
    const others = [];
    for (const field of fields) field.fault("");
    for (const fault of list) {
      const parts = partsOf(fault.key);
      const field = fieldOf(parts, fault.detail);
      if (field) field.fault(`${parts[parts.length - 1] === "name" || field.key === fault.key ? "" : `${parts[parts.length - 1]}: `}${fault.detail[0].toUpperCase()}${fault.detail.slice(1)}`);
      else others.push(fault);
    }
    patch(faults, others, (fault) => fault.key + fault.detail, (fault) => el("li", null, el("b", null, fault.key), ` ${fault.detail}`));
    show(faults, others.length > 0);
  }

  /** Returns the field of a fault: by its full path, or by its key and the name in its text. */
  function fieldOf(parts, detail) {
    if (!parts.length) return null;
    if (parts.length > 1) return fields.find((one) => partsOf(one.key).join() === parts.join()) || fields.find((one) => partsOf(one.key).slice(0, 2).join() === parts.slice(0, 2).join());
    const same = fields.filter((one) => partsOf(one.key).pop() === parts[0]);
    return same.length === 1 ? same[0] : fields.find((one) => one.key !== "webhook" && detail.includes(`"${one.value()}"`)) || null;
  }

  async function draft() {
    const own = ++mine;
    try {
      const answer = await send("POST", "v1/setup/draft", bodyOf(state));
      if (own !== mine || isEnded) return;
      if (yaml.dataset.text !== answer.yaml) {
        yaml.dataset.text = answer.yaml;
        yaml.replaceChildren(codeBlock(answer.yaml));
      }
      showDraftFaults(answer.faults);
      ready(!answer.faults.length);
    } catch (problem) { if (own === mine && !isEnded) fail(problem); }
  }

  makeFields();
  ready(false);
  draft();
  const end = on("resumed", draft);
  return {
    async next() {
      try {
        if (state.kind === "broker") {
          const found = await tryBroker(state);
          if (isEnded || !found) return false;
          if (found.length) { showDraftFaults(found); ready(true, "Try again", anyway(state, "Write it anyway")); return false; }
        }
        const written = await send("POST", "v1/setup", bodyOf(state));
        state.token = written.token;
        return true;
      } catch (problem) {
        if (!problem.errors.length) throw problem;
        showDraftFaults(problem.errors);
        (fields.find((field) => field.input.hasAttribute("aria-invalid")) || fields[0])?.focus();
        return false;
      }
    },
    leave() { isEnded = true; clearTimeout(waiting); end(); text(yaml, ""); },
  };
}
