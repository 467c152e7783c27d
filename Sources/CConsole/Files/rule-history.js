// A rule and the past: a trial on the history, and the list of its runs.

import { get, now, query, sendSlowly } from "./api.js";
import { attribute, el, patch, problemNode, show, showProblem, text } from "./dom.js";
import { count, counted, exact, machineTime, shortTime } from "./format.js";
import { refusalWords, selectField, showDialog } from "./form.js";
import { ruleWords } from "./rule-words.js";

const spans = [["86400", "The last day"], ["604800", "The last week"], ["2592000", "The last month"], ["", "All events"]];

const timeElement = (time) => el("time", { datetime: machineTime(time), title: exact(time) }, shortTime(time, now()));

/** Opens a dialog that shows how often a rule would have run. Nothing is started. */
export function tryRule(rule) {
  const span = selectField("span", "Events of", spans);
  span.input.value = "604800";
  const fault = problemNode();
  const verdict = el("p.verdict", { role: "status" });
  const runs = el("ol.trail");
  const withheld = el("ol.trail");
  const some = el("section", { hidden: true }, el("h3", null, "It would have run"), runs);
  const none = el("section", { hidden: true }, el("h3", null, "It would have been withheld"), withheld);
  const unknown = el("ul.trail");
  const open = el("section", { hidden: true }, el("h3", null, "Unknown"), unknown);
  let mine = 0;
  async function run() {
    const own = ++mine;
    text(verdict, "Trying…");
    showProblem(fault, null);
    show(some, false);
    show(none, false);
    show(open, false);
    try {
      const seconds = Number(span.value());
      const answer = await sendSlowly("POST", "v1/rules/try", { rule, ...(seconds ? { from: now() - seconds } : {}) });
      if (own !== mine) return;
      const more = (list) => (list.length >= 200 ? "at least " : "");
      const begin = answer.from ? ` since ${exact(answer.from)}` : "";
      text(verdict, !answer.events ? "There are no events in this time."
        : `Of ${counted(answer.events, "event")}${begin}, it would have run for ${more(answer.runs)}${count(answer.runs.length)}${answer.withheld.length ? ` and been withheld for ${more(answer.withheld)}${count(answer.withheld.length)}` : ""}. Nothing was started.`);
      show(some, answer.runs.length > 0);
      show(none, answer.withheld.length > 0);
      fill(runs, answer.runs);
      fill(withheld, answer.withheld);
      show(open, answer.unknown.length > 0);
      patch(unknown, answer.unknown, (entry) => entry.event, (entry) => el("li", null, el("b", null, entry.event), el("span.trail-what", null, entry.reason)));
    } catch (problem) {
      if (own !== mine) return;
      text(verdict, "");
      text(fault, problem.status === 0 ? "beacond cannot be reached. Try again once the connection is back." : refusalWords(problem, problem.errors || []));
      show(fault, true);
    }
  }
  span.input.addEventListener("change", run);
  showDialog({ title: `Try ${rule.name} on the history`, wide: true, content: [el("p.hint", null, ruleWords(rule)), span.node, fault, verdict, open, some, none] });
  run();
}

function fill(list, entries) {
  patch(list, entries, (entry) => entry.event, (entry) => el("li", null, timeElement(entry.time),
    el("span.trail-what", null, entry.summary, entry.person && !entry.summary.includes(entry.person) ? el("span.hint", null, ` ${entry.person}`) : null,
      entry.reason ? el("span.trail-detail", null, entry.reason) : null)));
}

const outcomes = { done: "Done", failed: "Failed", withheld: "Withheld" };

/** Opens a dialog with the runs of a rule, the newest first. */
export function showTrail(rule) {
  const list = el("ol.trail");
  const fault = problemNode();
  const none = el("p.hint", { hidden: true }, "This rule has not run yet.");
  const older = el("button", { type: "button", hidden: true }, "Older");
  let runs = [];
  let next = null;
  async function load() {
    older.disabled = true;
    try {
      const answer = await get(`v1/rules/runs${query({ rule: rule.name, before: next, limit: 50 })}`);
      const first = runs.length;
      runs = runs.concat(answer.runs);
      next = answer.next;
      showProblem(fault, null);
      patch(list, runs, (run) => run.id, entry);
      show(none, !runs.length);
      show(older, next !== null && next !== undefined);
      if (first) list.children[first]?.focus();
    } catch (problem) {
      text(fault, problem.status === 0 ? "beacond cannot be reached. Try again once the connection is back." : problem.message);
      show(fault, true);
      show(older, true);
    }
    older.disabled = false;
  }
  older.addEventListener("click", load);
  showDialog({ title: `Past runs of ${rule.name}`, wide: true, content: [el("p.hint", null, "Newest first, including withheld runs with their reasons."), fault, none, list, older] });
  load();
}

function entry(run) {
  const node = el("li", { tabindex: "-1" }, timeElement(run.time),
    el("span.trail-what", null, el("b.outcome", null, outcomes[run.outcome] || run.outcome), " ", run.summary, run.person && !run.summary.includes(run.person) ? el("span.hint", null, ` ${run.person}`) : null,
      run.action && run.outcome !== "withheld" ? el("span.trail-detail", null, run.action) : null,
      run.detail ? el("span.trail-detail", null, run.detail) : null));
  attribute(node, "data-outcome", run.outcome);
  return node;
}
