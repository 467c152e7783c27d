// Deliveries: the destinations' queues, with their waiting and refused notifications.

import { get, query, send, status } from "./api.js";
import { attribute, confirmed, el, empty, patch, follow, problemNode, setTime, show, showProblem, stateGlyph, text, timeNode, toast } from "./dom.js";
import { clock, count, counted, exact, machineTime } from "./format.js";

export const title = "Deliveries";

export function open(root) {
  const fault = problemNode();
  const path = el("p.lede");
  const list = el("ul.cards.wide", { "aria-label": "Destinations" });
  const nothing = empty("There are no destinations", "Notifications go to webhooks, Kumulos, MQTT and Home Assistant. Add one under Settings, Destinations.");
  nothing.hidden = true;
  const locked = el("p.notice.warn", { hidden: true }, "beacond is read-only: you can see the queues here but not change them.");
  root.append(el("header.page-head", null, el("h1", null, "Deliveries"), path), fault, locked, nothing, list);
  let readOnly = false;

  const load = async () => {
    const answer = await get("v1/outbox");
    text(path, answer.destinations.length ? `Notifications wait on the disk until they are delivered: ${answer.path}` : "");
    show(nothing, !answer.destinations.length);
    patch(list, answer.destinations, (one) => one.name, (one) => card(one.name, act), (node, one) => update(node, one, readOnly));
  };

  async function act(verb, destination, dead) {
    if (verb === "drop" && !await confirmed(`Drop ${counted(dead, "notification")}?`, `${destination} refused ${dead === 1 ? "it" : "them"}. Once dropped, ${dead === 1 ? "it is" : "they are"} permanently lost.`, "Drop")) return;
    try {
      const answer = await send("POST", `v1/outbox/${verb}`, verb === "drop" ? { destination, state: "dead" } : { destination });
      toast(verb === "drop" ? `${counted(answer.dropped, "notification")} dropped` : `${counted(answer.retried, "notification")} will be sent again`);
      showProblem(fault, null);
      await load();
      for (const table of list.querySelectorAll("details[open]")) table.dispatchEvent(new Event("toggle"));
    } catch (problem) {
      if (problem.status === 0) toast("The connection is lost; nothing has changed.");
      showProblem(fault, problem);
    }
  }

  status().then((answer) => { readOnly = answer.readOnly; show(locked, readOnly); return load(); }).catch(() => {});
  return follow(load, 3000, fault, ["outbox"]);
}

function card(name, act) {
  const node = el("li.card.destination", null,
    el("div.card-head", null, el("h2", null, name), el("span.source")),
    el("p.state", null, stateGlyph(), el("b.word"), el("span.state-time", null, " ", timeNode("for"))),
    el("p.bad-text.error", { hidden: true }),
    el("dl.facts.tallies", null,
      el("dt", null, "Waiting"), el("dd", null, el("span.waiting"), el("span.oldest", { hidden: true }, ", the oldest ", timeNode("for"))),
      el("dt", null, "Refused"), el("dd.dead"),
      el("dt.next", { hidden: true }, "Next attempt"), el("dd.next", { hidden: true }, timeNode("in"))),
    el("div.actions.start", null,
      el("button.small.retry", { type: "button", "aria-label": `Retry ${name}`, click: () => act("retry", name) }, "Retry"),
      el("button.small.drop", { type: "button", "aria-label": `Drop the refused notifications of ${name}`, click: () => act("drop", name, Number(node.dataset.dead)) }, "Drop refused…")),
    entries(name, "waiting", "Waiting notifications"), entries(name, "dead", "Refused notifications"));
  return node;
}

/** Creates a list that is fetched when it is opened. */
function entries(destination, state, word) {
  const list = el("ol.entries");
  const hint = el("p.hint", null, "Loading…");
  const details = el(`details.queue.${state}-queue`, null, el("summary", null, word), hint, list);
  details.addEventListener("toggle", async () => {
    if (!details.open) return;
    try {
      const answer = await get(`v1/outbox/entries${query({ destination, state })}`);
      text(hint, "None");
      show(hint, !answer.entries.length);
      patch(list, answer.entries, (entry) => entry.id, (entry) => el("li", null,
        el("time", { datetime: machineTime(entry.time), title: exact(entry.time) }, clock(entry.time)), el("span.summary", null, entry.summary), el("span.hint.tries")),
      (node, entry) => text(node.querySelector(".tries"), [counted(entry.attempts, "attempt"), entry.reason].filter(Boolean).join("; ")));
    } catch (problem) { text(hint, problem.message); show(hint, true); }
  });
  return details;
}

function update(node, one, readOnly) {
  const failing = one.failingSince !== null && one.failingSince !== undefined;
  attribute(node, "data-state", failing ? "unknown" : "inside");
  attribute(node, "data-hearing", failing ? "deaf" : null);
  attribute(node, "data-dead", one.dead);
  text(node.querySelector(".source"), one.type);
  text(node.querySelector(".word"), failing ? "Failing" : one.waiting ? "Delivering" : "All delivered");
  setTime(node.querySelector(".state time"), one.failingSince);
  const error = node.querySelector(".error");
  text(error, one.lastError || "");
  show(error, Boolean(one.lastError));
  text(node.querySelector(".waiting"), count(one.waiting));
  setTime(node.querySelector(".oldest time"), one.oldest);
  show(node.querySelector(".oldest"), one.oldest !== null && one.oldest !== undefined);
  text(node.querySelector(".dead"), count(one.dead));
  setTime(node.querySelector(".next time"), one.nextAttempt);
  for (const part of node.querySelectorAll(".next")) show(part, one.nextAttempt !== null && one.nextAttempt !== undefined);
  const retry = node.querySelector(".retry");
  retry.disabled = !one.dead && !failing;
  node.querySelector(".drop").disabled = !one.dead;
  show(retry.parentElement, !readOnly);
  show(node.querySelector(".waiting-queue"), one.waiting > 0);
  show(node.querySelector(".dead-queue"), one.dead > 0);
}
