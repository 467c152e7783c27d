// Nodes: created from text only, never from markup, and patched in place.

import { now, on } from "./api.js";
import { exact, machineTime, relative } from "./format.js";

/** Creates an element: `el("p.muted", { id: "a" }, "text", child)`. Functions become listeners; null is left out. */
export function el(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  fill(node, attributes);
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Creates an SVG element. */
export function svg(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  fill(node, attributes);
  node.append(...children);
  return node;
}

function fill(node, attributes) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(key, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
}

/** Sets the text of a node if it differs. */
export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

/** Sets or removes an attribute if it differs. */
export function attribute(node, name, value) {
  if (value === null || value === undefined || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Shows or hides a node. */
export function show(node, shown) {
  if (node.hidden === shown) node.hidden = !shown;
}

const keyedNodes = new WeakMap();

/** Makes the parent's children match the items in order. Nodes with known keys are updated and kept. */
export function patch(parent, items, keyOf, create, update) {
  let known = keyedNodes.get(parent);
  if (!known) keyedNodes.set(parent, known = new Map());
  const seen = new Set();
  let position = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    if (seen.has(key)) continue;
    seen.add(key);
    let node = known.get(key);
    if (!node) {
      node = create(item);
      known.set(key, node);
    }
    update?.(node, item);
    if (node === position) position = position.nextElementSibling;
    else move(parent, node, position);
  }
  for (const [key, node] of known) {
    if (seen.has(key)) continue;
    known.delete(key);
    node.remove();
  }
}

function move(parent, node, before) {
  const focused = node.isConnected && node.contains(document.activeElement) ? document.activeElement : null;
  if (node.parentNode === parent && parent.moveBefore) parent.moveBefore(node, before);
  else parent.insertBefore(node, before);
  if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Runs the change, and animates children from their earlier positions to the new ones. */
export function glide(parent, change) {
  if (calm.matches || document.hidden || parent.childElementCount > 60) return change();
  const before = new Map([...parent.children].map((child) => [child, child.getBoundingClientRect().top]));
  const origin = parent.getBoundingClientRect().top;
  change();
  const shift = parent.getBoundingClientRect().top - origin;
  for (const child of parent.children) {
    const top = before.get(child);
    if (top === undefined) continue;
    const distance = top - child.getBoundingClientRect().top + shift;
    if (Math.abs(distance) > 1) child.animate([{ transform: `translateY(${distance}px)` }, { transform: "none" }], { duration: 240, easing: "ease-out" });
  }
}

/** Returns the items ordered by distance. Neighbors change places only if the difference is clear. */
export function steadyOrder(items, keyOf, valueOf, previous) {
  const places = new Map(previous.map((key, index) => [key, index]));
  const sorted = [...items].sort((one, other) => {
    const first = places.get(keyOf(one)), second = places.get(keyOf(other));
    return first === undefined || second === undefined ? valueOf(one) - valueOf(other) : first - second;
  });
  for (let pass = 0; pass < sorted.length; pass += 1) {
    let changed = false;
    for (let index = 1; index < sorted.length; index += 1) {
      if (valueOf(sorted[index]) * 1.3 < valueOf(sorted[index - 1])) {
        [sorted[index - 1], sorted[index]] = [sorted[index], sorted[index - 1]];
        changed = true;
      }
    }
    if (!changed) break;
  }
  return sorted;
}

/** Creates a node for a time relative to now in the style "for", "ago" or "in". `tick` keeps it up to date. */
export function timeNode(style) {
  return el("time", { "data-style": style });
}

/** Sets the time of a node, or clears it. */
export function setTime(node, seconds) {
  if (seconds === null || seconds === undefined) {
    delete node.dataset.at;
    text(node, "");
    attribute(node, "title", null);
    attribute(node, "datetime", null);
    return;
  }
  if (node.dataset.at !== String(seconds)) {
    node.dataset.at = seconds;
    node.dateTime = machineTime(seconds);
    node.title = exact(seconds);
  }
  text(node, relative(seconds, node.dataset.style, now()));
}

/** Updates all relative times. */
export function tick() {
  const time = now();
  for (const node of document.querySelectorAll("time[data-at]")) text(node, relative(Number(node.dataset.at), node.dataset.style, time));
}

/** Creates the glyph of a state: a filled disc, a ring, or a broken ring. */
export function stateGlyph() {
  return svg("svg.state-glyph", { viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("circle.outer", { cx: 8, cy: 8, r: 6.25 }), svg("circle.inner", { cx: 8, cy: 8, r: 3.25 }));
}

/** Creates the glyph of a proximity: three bars, more of them filled for nearer beacons. */
export function proximityGlyph() {
  return svg("svg.proximity-glyph", { viewBox: "0 0 16 12", "aria-hidden": "true" },
    svg("rect", { x: 0.5, y: 8, width: 4, height: 4, rx: 1 }),
    svg("rect", { x: 6, y: 4, width: 4, height: 8, rx: 1 }),
    svg("rect", { x: 11.5, y: 0, width: 4, height: 12, rx: 1 }));
}

/** Creates a list of labels and values. */
export function facts(pairs) {
  const list = el("dl.facts");
  patchFacts(list, pairs);
  return list;
}

/** Updates a list of labels and values: `[label, value]`, with text or a node as the value. */
export function patchFacts(list, pairs) {
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  patch(list, given.flatMap(([label, value]) => [["dt", label, label], ["dd", label, value]]), ([tag, label]) => tag + label,
    ([tag]) => el(tag), (node, [, , value]) => {
      if (!(value instanceof Node)) text(node, String(value));
      else if (node.firstChild !== value) node.replaceChildren(value);
    });
}

/** Creates an empty state: what is missing, what to do, and optionally lines of configuration. */
export function empty(title, advice, code) {
  return el("div.empty", null, el("p.empty-title", null, title), el("p", null, advice), code ? codeBlock(code) : null);
}

/** Creates a block of text as in a file, with a button that copies it. */
export function codeBlock(code) {
  const button = el("button.small", { type: "button" }, "Copy");
  button.addEventListener("click", () => copy(code, button));
  return el("div.code", null, el("pre", null, el("code", null, code)), button);
}

async function copy(value, button) {
  try {
    await navigator.clipboard.writeText(value);
  } catch {
    // Without TLS, browsers do not give scripts the clipboard API. Copying a selection still works.
    const area = el("textarea.offscreen", { "aria-hidden": "true", tabindex: "-1" });
    area.value = value;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  announce("Copied");
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

let announcement = [];
let announcing = null;
let announced = 0;
/** Announces a message to users of screen readers. Messages within three seconds are combined. */
export function announce(message) {
  announcement.push(message);
  announcing ??= setTimeout(() => {
    // While a dialog is open, the rest of the page is inert, and screen readers ignore its announcements.
    const node = [...document.querySelectorAll("dialog[open] .announcer")].pop() || document.getElementById("announcer");
    const more = announcement.length - 3;
    node.textContent = announcement.slice(0, 3).join(". ") + (more > 0 ? `. And ${more} more changes.` : "");
    announcement = [];
    announcing = null;
    announced = Date.now();
  }, Math.max(300, announced + 3000 - Date.now()));
}

/** Shows a short message at the bottom for a few seconds, and announces it. */
export function toast(message) {
  const node = document.getElementById("toast");
  text(node, message);
  node.hidden = false;
  announce(message);
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { node.hidden = true; }, 5000);
}

/** Asks for confirmation in a dialog. Resolves to true if the user confirms. */
export function confirmed(question, explanation, verb, look = "danger") {
  return new Promise((resolve) => {
    const heading = el("h2", { id: "confirm-title" }, question);
    const dialog = el("dialog.dialog.passing", { "aria-labelledby": "confirm-title" },
      el("form", { method: "dialog" }, heading, el("p", null, explanation),
        el("div.actions", null,
          el("button", { value: "no", autofocus: true }, "Cancel"),
          el(`button.${look}`, { value: "yes" }, verb))));
    dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue === "yes"); });
    document.getElementById("dialogs").append(dialog);
    dialog.showModal();
  });
}

/** Creates a place for a page's error, which is hidden without one. */
export const problemNode = () => el("p.notice.bad", { role: "alert", hidden: true });

/** Shows an error that the server reported. The banner shows connection errors. */
export function showProblem(node, problem) {
  if (problem && problem.status === 0) return;
  if (problem) text(node, problem.title && problem.title !== problem.message ? `${problem.title}: ${problem.message}` : problem.message);
  show(node, Boolean(problem));
}

/** Calls the function now and at the interval while the page is visible, and shows its error in the node. Waits for an
 *  earlier call first. Returns a function that ends this. */
export function poll(action, milliseconds, node) {
  let ended = false;
  let running = false;
  const run = async () => {
    if (ended || running || document.hidden) return;
    running = true;
    let problem = null;
    try { await action(); } catch (error) { problem = error; }
    if (!ended && node) showProblem(node, problem);
    running = false;
  };
  run();
  const timer = setInterval(run, milliseconds);
  return () => { ended = true; clearInterval(timer); };
}

/** Polls, and also loads when one of the named lists changes and when the connection is back. Returns a function that
 *  ends this. */
export function follow(load, milliseconds, node, names) {
  const quietly = () => { load().catch(() => {}); };
  const ends = [
    poll(load, milliseconds, node),
    on("state", (changed) => { if (names.some((name) => changed[name])) quietly(); }),
    on("resumed", quietly),
  ];
  return () => ends.forEach((end) => end());
}
