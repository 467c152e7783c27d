// Settings: named regions, places and beacons, sources, destinations, apps, secrets, the plan, and a backup, each with its own page.

import { isReadOnly, on, server } from "./api.js";
import { attribute, el, problemNode, show, text } from "./dom.js";
import { signOut } from "./session.js";
import * as regions from "./settings-regions.js";
import * as places from "./settings-places.js";
import * as beacons from "./settings-beacons.js";
import * as apps from "./settings-apps.js";
import * as plan from "./settings-plan.js";
import * as sources from "./settings-sources.js";
import * as destinations from "./settings-destinations.js";
import * as secrets from "./settings-secrets.js";

export const title = "Settings";

const sections = { regions, places, beacons, sources, destinations, apps, secrets, plan, backup: { title: "Backup", open: openBackup } };

export function open(root, parameters, rest) {
  const tabs = el("ul");
  const links = new Map(Object.entries(sections).map(([name, one]) => [name, el("a", { href: `#/settings/${name}` }, one.title)]));
  for (const link of links.values()) tabs.append(el("li", null, link));
  const locked = el("p.notice.warn", { hidden: true }, "beacond is read-only: you can see the settings here but not change them.");
  const body = el("div.settings-body");
  const fault = problemNode();
  const leaving = el("button.small", { type: "button" }, "Sign out");
  leaving.addEventListener("click", async () => {
    leaving.disabled = true;
    try { await signOut(); } catch (problem) {
      leaving.disabled = false;
      text(fault, problem.status === 0 ? "beacond cannot be reached; you are still signed in." : problem.message);
      show(fault, true);
    }
  });
  root.append(el("header.page-head.with-action", null, el("div", null, el("h1", null, "Settings")), leaving), fault, el("nav.tabs", { "aria-label": "Settings" }, tabs), locked, body);
  let leave = null;
  let current = null;

  function choose(name) {
    const wanted = Object.hasOwn(sections, name) ? name : "regions";
    leave?.();
    current = wanted;
    for (const [one, link] of links) attribute(link, "aria-current", one === wanted ? "page" : null);
    const inside = el("div.page", { "data-section": wanted });
    body.replaceChildren(inside);
    leave = sections[wanted].open(inside) || null;
    show(leaving, server.status?.token !== false);
    show(locked, isReadOnly() && server.status !== null);
    document.title = `${sections[wanted].title} · Settings · beacond`;
  }

  choose(rest[0]);
  links.get(current).scrollIntoView?.({ block: "nearest", inline: "center" });
  open.change = (given) => {
    if ((Object.hasOwn(sections, given[0]) ? given[0] : "regions") === current) return;
    choose(given[0]);
    const heading = body.querySelector("h2");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  };
  const end = on("status", () => choose(current));
  return () => { end(); leave?.(); };
}

/** Shows another section while the page is open. */
export function change(parameters, rest) { open.change?.(rest); }

function openBackup(root) {
  root.append(el("h2", null, "Backup"),
    el("div.card", null, el("p", null, "One file with the configuration, everything set in the console, installs with their messages, and the history. It contains people's whereabouts and the secrets in the configuration, so keep it safe. It has no sign-ins of browsers, and none of the secrets that were set in the console."),
      el("p", null, el("a.button", { href: "v1/backup", download: "" }, "Download the backup"))));
}
