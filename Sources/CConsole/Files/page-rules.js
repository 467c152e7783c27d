// Rules: actions that beacond takes for events, from the file and from the console.

import { get, isReadOnly, on, pathOf, send, server } from "./api.js";
import { attribute, codeBlock, confirmed, el, empty, follow, patch, problemNode, setTime, show, showProblem, text, timeNode, toast } from "./dom.js";
import { count, counted } from "./format.js";
import { ruleForm } from "./rule-form.js";
import { showTrail, tryRule } from "./rule-history.js";
import { ruleWords } from "./rule-words.js";
import { takeOver, takeOverButton } from "./settings-list.js";

export const title = "Rules";

const example = `launch:
  rules:
    - name: lights
      regions: [hall]
      events: [enter, exit]
      program: [/usr/local/bin/lights, --room, hall]`;

export function open(root) {
  const fault = problemNode();
  const list = el("ul.cards.wide", { "aria-label": "Rules" });
  const nothing = empty("There are no rules", "A rule does something when a region is entered or left, or when a beacon comes near, stays, is gone, or is in another place: it sends a message to an app, notifies a destination, or starts a program. Add a rule here or in the configuration file:", example);
  nothing.hidden = true;
  const add = el("button.primary", { type: "button", click: () => edit(null) }, "Add a rule");
  const unused = el("section", { "aria-labelledby": "unused-rules", hidden: true }, el("h2", { id: "unused-rules" }, "Not in use"), el("ul.rows"));
  root.append(el("header.page-head.with-action", null, el("div", null, el("h1", null, "Rules"), el("p.lede")), add), fault, nothing, list, unused);
  const known = new Map();

  const load = async () => {
    const answer = await get("v1/rules");
    show(nothing, !answer.rules.length);
    for (const rule of answer.rules) known.set(rule.name, rule);
    patch(list, answer.rules, (rule) => `${rule.origin} ${rule.name}`, (rule) => card(rule.name, act), update);
    show(unused, answer.unused.length > 0);
    patch(unused.lastChild, answer.unused, (one) => `${one.name} ${one.reason}`, (one) => unusedRow(one, () => remove(one.name)));
    const origins = new Set(answer.rules.map((rule) => rule.origin));
    text(root.querySelector(".lede"), origins.has("file") ? `Edit rules of the file in ${server.status?.configuration || "the configuration"}${isReadOnly() ? "" : ", or take them over"}. Here you can switch them on or off and try them.` : "Actions that beacond takes for events.");
  };

  async function edit(rule) {
    try {
      await ruleForm({ rule, saved: async ({ name, fault }) => {
        toast(fault ? `The rule ${name} is saved, but it cannot run: ${fault}` : `The rule ${name} is saved`);
        await load().catch(() => {});
        if (document.activeElement === document.body) add.focus();
      } });
    } catch (problem) { report(problem); }
  }

  async function remove(name) {
    if (!await confirmed(`Remove the rule ${name}?`, "It no longer runs. Its past runs stay in the history.", "Remove")) return;
    try {
      await send("DELETE", pathOf("v1/rules", name));
      toast(`The rule ${name} is removed`);
      await load();
      add.focus();
    } catch (problem) { report(problem); }
  }

  async function take(name) {
    try {
      if (!await takeOver("rule", name)) return;
      showProblem(fault, null);
      await load();
      ([...list.children].find((node) => node.querySelector("h2").textContent === name)?.querySelector("button.changes") || add).focus();
    } catch (problem) { report(problem); }
  }

  async function enable(name, box) {
    box.disabled = true;
    try {
      await send("PUT", `${pathOf("v1/rules", name)}/enabled`, { enabled: box.checked });
      toast(`${name} is ${box.checked ? "on" : "off"}`);
      showProblem(fault, null);
      await load();
    } catch (problem) {
      box.checked = !box.checked;
      report(problem);
    }
    box.disabled = false;
    box.focus();
  }

  function report(problem) {
    if (problem.status === 0) toast("The connection is lost; nothing has changed.");
    showProblem(fault, problem);
  }

  const act = { edit: (name) => edit(known.get(name)), remove, take, enable, try: (name) => tryRule(known.get(name).settings), trail: (name) => showTrail(known.get(name)) };
  const standing = () => { show(add, !isReadOnly()); };
  standing();
  const ends = [follow(load, 5000, fault, ["rules"]), on("status", () => { standing(); load().catch(() => {}); })];
  return () => ends.forEach((end) => end());
}

function card(name, act) {
  const box = el("input.switch", { type: "checkbox", "aria-label": `${name} is enabled` });
  box.addEventListener("change", () => act.enable(name, box));
  const button = (word, label, action, extra = "") => el(`button.small${extra}`, { type: "button", "aria-label": `${label} ${name}`, click: action }, word);
  return el("li.card.rule", null,
    el("div.card-head", null, el("h2", null, name), el("span.rule-head", null, el("span.origin"), el("span.switch-word", { "aria-hidden": "true" }), box)),
    el("p.sentence"), el("div.runs"), el("p.fault.bad-text", { hidden: true }),
    el("p.tally", null, el("span.started"), el("span.withheld"), el("span.failed.bad-text", { hidden: true }), el("span.last", null, "last ", timeNode("ago"))),
    el("div.actions.start", null,
      button("Try on history", "Try on the history:", () => act.try(name)), button("Past runs", "Past runs of", () => act.trail(name)),
      button("Edit", "Edit", () => act.edit(name), ".changes"), button("Remove", "Remove", () => act.remove(name), ".changes"), takeOverButton(name, () => act.take(name))));
}

function update(node, rule) {
  const locked = isReadOnly();
  attribute(node, "data-enabled", String(rule.enabled));
  text(node.querySelector(".origin"), rule.origin === "file" ? "file" : "");
  const box = node.querySelector(".switch");
  if (!box.disabled) box.checked = rule.enabled;
  show(box, !locked);
  text(node.querySelector(".switch-word"), rule.enabled ? "" : "Off");
  text(node.querySelector(".sentence"), ruleWords(rule.settings));
  const runs = node.querySelector(".runs");
  const program = rule.settings.program || rule.settings.unit ? rule.runs : "";
  if (runs.dataset.text !== program) {
    runs.dataset.text = program;
    runs.replaceChildren(...(program ? [el("pre", null, el("code", null, program))] : []));
  }
  const fault = node.querySelector(".fault");
  text(fault, rule.fault ? `It fails: ${rule.fault}` : "");
  show(fault, Boolean(rule.fault) && rule.enabled);
  text(node.querySelector(".started"), rule.started ? `Ran ${counted(rule.started, "time")}` : "Has not run yet");
  text(node.querySelector(".withheld"), rule.withheld === 1 ? "withheld once" : `withheld ${count(rule.withheld)} times`);
  show(node.querySelector(".withheld"), rule.withheld > 0);
  const failed = node.querySelector(".failed");
  text(failed, counted(rule.failed, "failure"));
  show(failed, rule.failed > 0);
  setTime(node.querySelector("time"), rule.last);
  show(node.querySelector(".last"), rule.last !== null && rule.last !== undefined);
  for (const button of node.querySelectorAll(".changes")) show(button, !locked && rule.origin === "console");
  show(node.querySelector(".take-over"), !locked && rule.origin === "file");
}

function unusedRow(one, remove) {
  return el("li.setting", null, el("div.setting-text", null, el("p.name", null, one.name), el("p.warn-text", null, one.reason), el("details.json", null, el("summary", null, "Settings"), codeBlock(JSON.stringify(one.settings, null, 2)))),
    isReadOnly() ? null : el("div.setting-actions", null, el("button.small", { type: "button", "aria-label": `Remove ${one.name}`, click: remove }, "Remove")));
}
