// The guided start, before a configuration exists: steps that end with a file. Input survives a reload and a
// restart of beacond.

import { expectAbsence, get, isReadOnly, offerToken, on, server } from "./api.js";
import { announce, attribute, el, patch, problemNode, show, showProblem, text } from "./dom.js";
import { isNetwork, lacksSecret } from "./setup-choice.js";
import * as source from "./setup-source.js";
import * as receivers from "./setup-receivers.js";
import * as heard from "./setup-heard.js";
import * as first from "./setup-first.js";
import * as review from "./setup-review.js";
import { waitFor } from "./setup-wait.js";

export const title = "Guided start";

const storeKey = "beacond.setup";
const everyStep = [source, receivers, heard, first, review];

/** The initial input. */
const fresh = () => ({ step: 0, listen: null, source: null, receiverBroker: { host: "", port: "", user: "", tls: false, hasPassword: false }, topics: "", proxies: [], proxy: false, receivers: {}, alsoRadio: false, sameBroker: true, beacons: [], regions: [], kind: "nothing", webhook: "", broker: { host: "", port: "", user: "", tls: false, hasPassword: false }, rule: { name: "first rule", event: "enter", region: "", program: "", unit: "" } });

function stored() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storeKey) || "null");
    return kept && typeof kept === "object" && Array.isArray(kept.beacons) && Array.isArray(kept.regions) ? { ...fresh(), ...kept, broker: { ...fresh().broker, ...kept.broker }, rule: { ...fresh().rule, ...kept.rule }, receiverBroker: { ...fresh().receiverBroker, ...kept.receiverBroker } } : fresh();
  } catch { return fresh(); }
}

export function open(root) {
  const state = stored();
  const steps = () => everyStep.filter((step) => step.applies?.(state) ?? true);
  // The browser never stores them: after a reload, their steps ask for them again.
  for (const [key, value] of [["password", ""], ["receiverPassword", ""], ["keys", new Map()]]) Object.defineProperty(state, key, { value, writable: true, enumerable: false });
  // The sources in the network that beacond listens with.
  Object.defineProperty(state, "listening", { value: null, writable: true, enumerable: false });
  // The broker settings that accepted beacond, or that the user chose to continue with anyway.
  Object.defineProperty(state, "accepted", { value: null, writable: true, enumerable: false });
  // The token of the written configuration, so that this page can sign in.
  Object.defineProperty(state, "token", { value: null, writable: true, enumerable: false });
  if (state.kind === "broker" && state.broker.hasPassword) state.step = Math.min(state.step, steps().indexOf(first));
  if (lacksSecret(state)) state.step = Math.min(state.step, steps().indexOf(receivers));
  state.step = Math.min(state.step, steps().length - 1);
  const keep = () => { try { sessionStorage.setItem(storeKey, JSON.stringify(state)); } catch { /* The browser stores nothing. */ } };
  const fault = problemNode();
  const list = el("ol.steps", { "aria-label": "Steps" });
  const body = el("div.setup-body");
  const back = el("button", { type: "button", click: () => go(state.step - 1) }, "Back");
  const next = el("button.primary", { type: "button" });
  // A second way to continue, with its action before that.
  const other = el("button", { type: "button", hidden: true });
  let beforeOther = null;
  const foot = el("div.actions.setup-actions", null, back, other, next);
  const locked = el("p.notice.warn", { hidden: !isReadOnly() }, "beacond is read-only and has no configuration. Write a configuration file yourself, or start beacond without --read-only.");
  root.append(el("header.page-head", null, el("h1", null, "Welcome to beacond"), el("p.lede", null, "A few steps, and it shows who is where. Nothing is written before the last step.")), list, locked, fault, body, foot);

  let info = null;
  let current = null;
  let ended = false;

  function showStep() {
    current?.leave?.();
    const step = steps()[state.step];
    body.replaceChildren();
    drawSteps();
    const heading = el("h2", { tabindex: "-1" }, step.heading);
    body.append(heading);
    current = step.open(body, { state, info, keep, fail, changed: drawSteps, ready: (isReady, word, [otherWord, run] = []) => {
      next.disabled = !isReady;
      text(next, word || (state.step === steps().length - 1 ? "Write the configuration" : "Continue"));
      text(other, otherWord || "");
      show(other, Boolean(otherWord));
      beforeOther = run;
    } });
    show(back, state.step > 0);
    return heading;
  }

  /** Shows the steps of the choice, and where the user is. */
  function drawSteps() {
    patch(list, steps(), (step) => step.title, (step) => el("li", null, el("span.step-number", { "aria-hidden": "true" }), el("span", null, step.title), el("span.offscreen.step-state")));
    for (const [index, item] of [...list.children].entries()) {
      text(item.querySelector(".step-number"), String(index + 1));
      attribute(item, "aria-current", index === state.step ? "step" : null);
      attribute(item, "data-done", index < state.step ? "yes" : null);
      text(item.querySelector(".step-state"), index < state.step ? ", done" : "");
    }
  }

  function go(index) {
    state.step = Math.min(Math.max(index, 0), steps().length - 1);
    keep();
    showProblem(fault, null);
    const heading = showStep();
    scrollTo(0, 0);
    heading.focus({ preventScroll: true });
    announce(`Step ${state.step + 1} of ${steps().length}`);
  }

  function fail(problem) {
    text(fault, problem.status === 0 ? "beacond cannot be reached. Your input is kept; try again once beacond is back." : problem.message);
    show(fault, true);
  }

  other.addEventListener("click", () => { beforeOther(); next.click(); });
  next.addEventListener("click", async () => {
    if (next.disabled) return;
    show(other, false);
    next.disabled = true;
    showProblem(fault, null);
    const own = current;
    try {
      const isDone = await own.next();
      // The user may have gone back in the meantime.
      if (ended || current !== own) return;
      if (isDone && state.step < steps().length - 1) { go(state.step + 1); return; }
      if (isDone) { await finish(); return; }
    } catch (problem) { if (!ended && current === own) fail(problem); }
    if (current === own) next.disabled = false;
  });

  /** Waits until beacond runs with its configuration. The router then opens Now. */
  async function finish() {
    try { sessionStorage.removeItem(storeKey); } catch { /* The browser stores nothing. */ }
    expectAbsence("beacond is starting with its configuration. This page continues by itself.");
    offerToken(state.token);
    current.leave?.();
    const heading = el("h2", { tabindex: "-1" }, "The configuration is written");
    body.replaceChildren(heading, el("p", null, "The configuration is in ", el("code", null, info.path), ". beacond is starting with it. This page then shows who is where."));
    show(foot, false);
    heading.focus({ preventScroll: true });
    history.replaceState(null, "", "#/");
    const isBack = await waitFor(() => !server.status.setup, () => ended);
    offerToken(null);
    expectAbsence(null);
    if (isBack || ended) return;
    text(fault, "The configuration is written, but beacond did not come back. See its log: journalctl -u beacond");
    show(fault, true);
  }

  const load = async () => {
    info = await get("v1/setup");
    // A radio that works is the shortest way. Without one, the user chooses.
    if (!state.listen && info.sources.some((one) => one.isRadio && one.usable)) state.listen = "radio";
    if (!isNetwork(state)) state.source ??= info.sources.find((one) => one.usable && one.isRadio === (state.listen === "radio"))?.source ?? null;
    if (!current) { const heading = showStep(); if (document.activeElement === document.body) heading.focus({ preventScroll: true }); } else current.refresh?.(info);
  };
  show(foot, false);
  const begin = () => load().then(() => { show(foot, !isReadOnly()); showProblem(fault, null); }).catch((problem) => { if (!ended && problem.status !== 0) showProblem(fault, problem); });
  begin();
  const ends = [on("resumed", begin)];
  return () => {
    ended = true;
    expectAbsence(null);
    current?.leave?.();
    ends.forEach((end) => end());
  };
}
