// The guided start: the beacons on the air, the strongest first. Beacons get names, and a region is derived from them.

import { announce, attribute, el, patch, show, text } from "./dom.js";
import { textField } from "./form.js";
import { identity, shortUUID } from "./format.js";
import { describe, heardList, heardParts } from "./heard-list.js";

export const title = "Name a beacon";
export const heading = "Which beacons are yours?";

export function open(root, { state, keep, ready }) {
  const air = el("div");
  const named = el("ul.rows.named", { "aria-label": "Named beacons" });
  const regionBox = el("fieldset.choice.region-choice", { hidden: true }, el("legend", null, "What should be monitored?"));
  const options = el("ul.options");
  const regionName = textField("regions.0.name", "The region’s name", { attributes: { maxlength: 100 } });
  regionBox.append(options);
  root.append(el("p", null, "Hold one close to a receiver: it moves to the top. Then give it a name."),
    el("div.two-columns.heard-columns", null, el("div.stack", null, air), el("div.stack.sticky", null, el("h3", null, "Named beacons"), el("p.hint.none-named", null, "None yet. You can also continue without names and add them later under Settings."), named, regionBox, regionName.node)));

  function row(beacon) {
    const input = el("input", { "aria-label": `Name of the beacon ${beacon.major} · ${beacon.minor}`, placeholder: "A name, such as Till 1", maxlength: 100, autocomplete: "off" });
    const button = el("button.small", null, "Name");
    const form = el("form.name-form", { novalidate: true }, input, button);
    const problem = el("p.field-problem", { id: `name-${beacon.uuid}-${beacon.major}-${beacon.minor}` });
    input.setAttribute("aria-describedby", problem.id);
    input.addEventListener("input", () => { text(problem, ""); attribute(input, "aria-invalid", null); });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = input.value.trim();
      const fault = !name ? "Write a name." : state.beacons.some((one) => one.name === name) ? "Another beacon has this name." : "";
      text(problem, fault);
      attribute(input, "aria-invalid", fault ? "true" : null);
      if (fault) { input.focus(); return; }
      state.beacons.push({ name, uuid: beacon.uuid.toUpperCase(), major: beacon.major, minor: beacon.minor });
      announce(`${name} is named`);
      changed();
      draw();
      focusItem(named.lastElementChild);
    });
    return el("li.air-row", null, ...heardParts(), form, problem);
  }

  function update(node, beacon) {
    const own = state.beacons.find((one) => identity(one) === identity(beacon));
    describe(node, { ...beacon, name: own?.name ?? null }, true);
    show(node.querySelector("form"), !own);
  }
  /** Shows new names at once. */
  function draw() {
    for (const node of air.querySelectorAll(".air-row")) if (node.beacon) update(node, node.beacon);
  }

  /** Focuses a named beacon, and not one of its buttons: Enter would press it. Without named beacons, focuses the first
   *  name to write. */
  function focusItem(item) {
    if (!item) { air.querySelector("input")?.focus(); return; }
    item.setAttribute("tabindex", "-1");
    item.focus();
  }

  /** Returns the default name of a region: the simulated place, or its beacons. Home Assistant already has a zone
   *  "home", and a region is something else than its beacon. */
  function regionNameOf(beacons) {
    const place = /^simulation:([^/.?]+)/.exec(state.source || "")?.[1]?.replaceAll("-", " ");
    if (place && beacons.length > 1 && !state.beacons.some((one) => one.name === place)) return place;
    return beacons.length > 1 ? `${beacons[0].name} and others` : nearby(beacons[0].name);
  }

  /** Creates a checkbox for beacons that people carry. */
  function trackerBox(beacon) {
    const box = el("input", { type: "checkbox", id: `tracker-${identity(beacon)}` });
    box.addEventListener("change", () => { if (box.checked) beacon.tracker = true; else delete beacon.tracker; keep(); });
    box.checked = beacon.tracker === true;
    return el("p.check-line", null, box, el("label", { for: box.id }, "A person carries it; Home Assistant may track that person"));
  }

  /** Suggests a region for the named beacons. */
  function changed() {
    const uuids = [...new Set(state.beacons.map((one) => one.uuid))];
    const one = state.beacons[0];
    const choices = uuids.map((uuid) => ({ key: uuid, uuid, words: `All beacons of ${shortUUID(uuid)}…`, help: "For one organization. It includes beacons that you add later." }));
    if (state.beacons.length === 1) choices.push({ key: "one", uuid: one.uuid, major: one.major, minor: one.minor, words: `Only ${one.name}`, help: "Entered when the beacon arrives, left when it leaves." });
    if (state.beacons.length > 1) choices.push({ key: "each", each: true, words: "Each beacon separately", help: `A region for each beacon, such as ${nearby(one.name)}.` });
    const was = state.regions[0];
    if (!state.regionChoice || !choices.some((choice) => choice.key === state.regionChoice)) state.regionChoice = choices[0]?.key ?? null;
    const choice = choices.find((each) => each.key === state.regionChoice);
    if (!choice) state.regions = [];
    else if (choice.each) state.regions = state.beacons.map(({ name, uuid, major, minor }) => ({ name: nearby(name), uuid, major, minor }));
    else state.regions = [{ name: state.regionName || regionNameOf(choice.key === "one" ? [one] : state.beacons.filter((each) => each.uuid === choice.uuid)), uuid: choice.uuid, ...(choice.major !== undefined ? { major: choice.major, minor: choice.minor } : {}) }];
    if (document.activeElement !== regionName.input) regionName.set(choice?.each ? "" : state.regions[0]?.name);
    if (state.rule.region === was?.name || !state.regions.some((region) => region.name === state.rule.region)) state.rule.region = state.regions[0]?.name || "";
    show(regionBox, state.beacons.length > 0);
    show(regionName.node, Boolean(choice) && !choice.each);
    show(root.querySelector(".none-named"), !state.beacons.length);
    show(named, state.beacons.length > 0);
    patch(named, state.beacons, (beacon) => beacon.name, (beacon) => el("li.setting", null, el("div.setting-text", null, el("p.name", null, beacon.name), el("p.identity", null, `${shortUUID(beacon.uuid)}, major ${beacon.major}, minor ${beacon.minor}`), trackerBox(beacon)),
      el("button.small", { type: "button", "aria-label": `Remove the name ${beacon.name}`, click: () => { state.beacons = state.beacons.filter((other) => other.name !== beacon.name); changed(); draw(); announce(`${beacon.name} is removed`); focusItem(named.lastElementChild); } }, "Remove")));
    patch(options, choices, (each) => each.key, (each) => {
      const box = el("input", { type: "radio", name: "region", id: `region-${each.key}`, value: each.key });
      box.addEventListener("change", () => { state.regionChoice = each.key; state.regionName = ""; changed(); });
      return el("li.option", null, box, el("label", { for: `region-${each.key}` }, el("b", null, each.words), el("span.hint", null, each.help)));
    }, (node, each) => {
      node.querySelector("input").checked = each.key === state.regionChoice;
      text(node.querySelector("b"), each.words);
    });
    keep();
    ready(true, state.beacons.length ? "Continue" : "Continue without a name");
  }
  regionName.input.addEventListener("input", () => {
    state.regionName = regionName.value();
    const before = state.regions[0].name;
    state.regions[0].name = regionName.value();
    if (state.rule.region === before) state.rule.region = regionName.value();
    keep();
  });

  changed();
  const end = heardList(air, { row, update: (node, beacon) => { node.beacon = beacon; update(node, beacon); } });
  return {
    async next() {
      if (!state.beacons.length) return true;
      const isNamed = state.regions.every((region) => region.name);
      regionName.fault(isNamed ? "" : "Write a name for the region.");
      if (!isNamed) regionName.focus();
      return isNamed;
    },
    leave() { end(); },
  };
}

/** Returns the name of the region of one beacon. */
const nearby = (name) => `${name.slice(0, 90)} nearby`;
