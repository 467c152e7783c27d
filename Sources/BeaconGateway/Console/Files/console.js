// The start of the console: the router by the address's hash, the header, and the token.

import { connection, now, on, onTokenNeeded, openSession, start, status, tryNow } from "./api.js";
import { announce, el, show, text, tick } from "./dom.js";
import { clock } from "./format.js";
import * as nowPage from "./page-now.js";
import * as range from "./page-range.js";
import * as configure from "./page-configure.js";
import * as events from "./page-events.js";
import * as rules from "./page-rules.js";
import * as receivers from "./page-receivers.js";
import * as deliveries from "./page-deliveries.js";
import * as health from "./page-health.js";

const pages = { "": nowPage, range, configure, events, rules, receivers, deliveries, health };
const main = document.getElementById("main");
const navigation = document.getElementById("nav");
const more = document.getElementById("more");
let current = { name: null, leave: null };

/** The page and the parameters of the address's hash: `#/events?region=hall`. */
function route() {
  const [path, parameters] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: path in pages ? path : "", parameters: new URLSearchParams(parameters || "") };
}

function open(byUser) {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const { name, parameters } = route();
  const page = pages[name];
  if (current.name === name && page.change) {
    page.change(parameters);
    return;
  }
  current.leave?.();
  const root = el("div.page", { "data-page": name || "now" });
  for (const dialog of document.querySelectorAll("dialog.passing[open]")) dialog.close();
  document.getElementById("page").replaceChildren(root);
  current = { name, leave: page.open(root, parameters) };
  document.title = `${page.title} · beacond`;
  for (const link of navigation.querySelectorAll("a")) {
    if (link.getAttribute("href") === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  more.classList.toggle("current", Boolean(navigation.querySelector("#more-pages [aria-current]")));
  fold(false);
  if (byUser) {
    scrollTo(0, 0);
    const heading = root.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  }
}

function fold(open) {
  more.setAttribute("aria-expanded", String(open));
}

more.addEventListener("click", () => fold(more.getAttribute("aria-expanded") !== "true"));
document.addEventListener("click", (event) => { if (!more.parentElement.contains(event.target)) fold(false); });
navigation.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || more.getAttribute("aria-expanded") !== "true") return;
  fold(false);
  more.focus();
});
navigation.addEventListener("focusout", (event) => {
  if (event.relatedTarget && !more.parentElement.contains(event.relatedTarget)) fold(false);
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

const words = { connecting: "Connecting", live: "Live", lost: "Not connected" };
function showConnection() {
  const node = document.getElementById("connection");
  const lost = connection.state === "lost";
  node.dataset.state = connection.state;
  text(document.getElementById("connection-word"), words[connection.state]);
  if (lost) {
    text(document.getElementById("banner-text"), connection.heard
      ? `Connection lost; what you see is from ${clock(now())}. Trying again…`
      : "beacond cannot be reached. Trying again…");
  }
  const banner = document.getElementById("banner");
  if (!lost && !banner.hidden) announce("Connected again");
  if (!lost && banner.contains(document.activeElement)) main.focus({ preventScroll: true });
  show(banner, lost);
}
document.getElementById("try-now").addEventListener("click", tryNow);

function askForToken() {
  return new Promise((resolve) => {
    const field = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true, "aria-describedby": "token-help token-problem", autofocus: true });
    const fault = el("p.field-problem", { id: "token-problem", role: "alert" });
    const button = el("button.primary", null, "Sign in");
    const form = el("form", null,
      el("h2", { id: "token-title" }, "A token is needed"),
      el("p", { id: "token-help" }, "beacond wants to know who you are. Give the token of this console; the browser keeps a session, not the token."),
      el("div.field", null, el("label", { for: "token" }, "Token"), field, fault),
      el("div.actions", null, button));
    const dialog = el("dialog.dialog", { "aria-labelledby": "token-title" }, form);
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      text(fault, "");
      try {
        await openSession(field.value.trim());
        dialog.close();
        dialog.remove();
        resolve();
      } catch (problem) {
        text(fault, problem.status === 401 || problem.status === 403 ? "This token is not accepted." : problem.message);
        field.select();
      }
      button.disabled = false;
    });
    document.getElementById("dialogs").append(dialog);
    dialog.showModal();
  });
}

onTokenNeeded(askForToken);
on("connection", showConnection);
const greet = () => status().then((answer) => { text(document.getElementById("machine"), answer.machine); }).catch(() => {});
on("resumed", greet);
addEventListener("hashchange", () => open(true));
setInterval(() => { if (!document.hidden && connection.state !== "lost") tick(); }, 1000);
start();
greet();
open(false);
