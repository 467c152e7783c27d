// Rules: the programs that events start.

import { get } from "./api.js";
import { el, empty, patch, follow, problemNode, setTime, show, text, timeNode } from "./dom.js";
import { counted } from "./format.js";

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
  const nothing = empty("There are no rules", "A rule starts a program when a region is entered or left, or one of its beacons comes near, stays, is gone, or is in another place. Write it into the configuration:", example);
  nothing.hidden = true;
  root.append(el("header.page-head", null, el("h1", null, "Rules"), el("p.lede", null, "Rules come from the configuration, and are read only here.")), fault, nothing, list);
  const load = async () => {
    const { rules } = await get("v1/rules");
    show(nothing, !rules.length);
    patch(list, rules, (rule) => rule.name, card, update);
  };
  return follow(load, 5000, fault, ["rules"]);
}

function card() {
  return el("li.card.rule", null, el("h2"), el("p.sentence"), el("pre", null, el("code")),
    el("p.tally", null, el("span.started"), el("span.failed.bad-text", { hidden: true }), el("span.last", null, "last ", timeNode("ago"))));
}

const listed = (names, word) => (names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} ${word} ${names[names.length - 1]}`);

function update(node, rule) {
  text(node.querySelector("h2"), rule.name);
  const parts = [`On ${listed(rule.events, "or")}`];
  if (rule.beacons?.length) parts.push(`of ${listed(rule.beacons, "or")}`);
  if (rule.regions?.length) parts.push(`in the ${rule.regions.length === 1 ? "region" : "regions"} ${listed(rule.regions, "or")}`);
  if (rule.places?.length) parts.push(`in the ${rule.places.length === 1 ? "place" : "places"} ${listed(rule.places, "or")}`);
  if (parts.length === 1) parts.push("in any region");
  text(node.querySelector(".sentence"), `${parts.join(" ")}, start`);
  text(node.querySelector("code"), rule.runs);
  text(node.querySelector(".started"), rule.started ? `Started ${counted(rule.started, "time")}` : "Not started yet");
  const failed = node.querySelector(".failed");
  text(failed, `${counted(rule.failed, "failure")}`);
  show(failed, rule.failed > 0);
  setTime(node.querySelector("time"), rule.last);
  show(node.querySelector(".last"), rule.last !== null && rule.last !== undefined);
}
