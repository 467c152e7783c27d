// The start of the console: the router for the address's hash, and the header.

import { connection, now, on, onTokenNeeded, server, start, status, tryNow } from "./api.js";
import { announce, el, show, text, tick } from "./dom.js";
import { clock } from "./format.js";
import { askForToken, signInByCode, takeCode } from "./session.js";
import * as nowPage from "./page-now.js";
import * as range from "./page-range.js";
import * as configure from "./page-configure.js";
import * as events from "./page-events.js";
import * as history from "./page-history.js";
import * as rules from "./page-rules.js";
import * as people from "./page-people.js";
import * as settings from "./page-settings.js";
import * as receivers from "./page-receivers.js";
import * as fleet from "./page-fleet.js";
import * as deliveries from "./page-deliveries.js";
import * as health from "./page-health.js";
import * as setup from "./page-setup.js";

const pages = { "": nowPage, range, configure, events, history, rules, people, settings, receivers, fleet, deliveries, health };
const main = document.getElementById("main");
const navigation = document.getElementById("nav");
const more = document.getElementById("more");
let current = { name: null, leave: null };

/** Returns the page in the address's hash, the rest of the path, and the parameters: `#/settings/beacons`,
 *  `#/events?region=hall`. */
function route() {
  const [path, parameters] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  const known = Object.hasOwn(pages, name);
  return { name: known ? name : "", rest: known ? rest.map(decode) : [], parameters: new URLSearchParams(parameters || "") };
}

function decode(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

function open(byUser) {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const isSetup = Boolean(server.status?.setup);
  const { name, rest, parameters } = isSetup ? { name: "setup", rest: [], parameters: new URLSearchParams() } : route();
  const page = isSetup ? setup : pages[name];
  document.documentElement.toggleAttribute("data-setup", isSetup);
  for (const dialog of document.querySelectorAll("dialog.passing[open]")) dialog.close();
  mark(name);
  fold(false);
  if (isSetup && current.name === name) return;
  if (current.name === name && page.change) {
    page.change(parameters, rest);
    return;
  }
  current.leave?.();
  const root = el("div.page", { "data-page": name || "now" });
  document.getElementById("page").replaceChildren(root);
  current = { name, leave: page.open(root, parameters, rest) };
  document.title = `${page.title} · beacond`;
  if (byUser) {
    scrollTo(0, 0);
    const heading = root.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  }
}

function mark(name) {
  for (const link of navigation.querySelectorAll("a")) {
    if (link.getAttribute("href") === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  more.classList.toggle("current", Boolean(navigation.querySelector("#more-pages [aria-current]")));
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
  node.dataset.state = lost && connection.expected ? "expected" : connection.state;
  text(document.getElementById("connection-word"), lost && connection.expected ? "Restarting" : words[connection.state]);
  const banner = document.getElementById("banner");
  if (lost) {
    banner.dataset.expected = connection.expected ? "yes" : "no";
    text(document.getElementById("banner-text"), connection.expected || (connection.heard
      ? `Connection lost; this page shows the state at ${clock(now())}. Trying again…`
      : "beacond cannot be reached. Trying again…"));
  }
  if (!lost && !banner.hidden) announce("Connected again");
  if (!lost && banner.contains(document.activeElement)) main.focus({ preventScroll: true });
  show(banner, lost);
}
document.getElementById("try-now").addEventListener("click", tryNow);

/** The reason why a sign-in link was refused. It is shown only if the console asks for a token. */
let refused = null;
onTokenNeeded(() => askForToken(refused));
on("connection", showConnection);
on("status", (answer) => {
  text(document.getElementById("machine"), answer.machine);
  if (current.name !== null && answer.setup !== (current.name === "setup")) open(true);
});
/** Shows the Fleet entry only on machines in a fleet, since few are. */
async function showFleet() {
  try { show(document.getElementById("fleet-entry"), await fleet.isThere()); } catch { /* Unchanged until the connection is back. */ }
}
on("resumed", () => {
  status().catch(() => {});
  showFleet();
});
addEventListener("hashchange", () => open(true));
setInterval(() => { if (!document.hidden && connection.state !== "lost") tick(); }, 1000);

const code = takeCode();
if (code) refused = await signInByCode(code);
// Whether a configuration exists decides which page opens. Without a connection, the page itself reports that.
await status().catch(() => {});
start();
open(false);
showFleet();
