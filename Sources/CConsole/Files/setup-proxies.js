// The guided start, step 2 for Bluetooth proxies of ESPHome: those that announce themselves, with their keys.

import { attribute, el, patch, show, text } from "./dom.js";
import { textField } from "./form.js";
import { proxySources } from "./setup-choice.js";
import { searchFor } from "./setup-search.js";

/** Creates the list of proxies. `changed()` is called when the choice changes. */
export function proxyFields(state, keep, secrets, changed) {
  const list = el("ul.rows.proxies", { "aria-label": "Proxies" });
  const none = el("p.hint", { role: "status" }, "Looking for proxies…");
  const address = textField("esphome.hosts", "Another address", { optional: true, help: "A name or an address, with :PORT if it is not 6053.", attributes: { placeholder: "192.168.1.20", autocapitalize: "none", spellcheck: "false" } });
  const add = el("button.small", { type: "button", click: () => addHost() }, "Add");
  const fault = el("p.field-problem", { role: "alert" });
  const node = el("div.card.chosen", null, el("p.hint", null, `The key of a proxy stands under api: encryption: in the device’s file. It is written to ${secrets}, which only its owner can read.`), none, list, el("div.field-line", null, address.node, add), fault);
  address.input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); addHost(); } });

  function addHost() {
    const host = address.value();
    if (!host) { address.fault("Write an address."); address.focus(); return; }
    address.fault("");
    if (!state.proxies.some((one) => one.host === host)) state.proxies.push({ name: host, host, chosen: true, own: true });
    address.set("");
    keep();
    changed();
    draw();
  }

  /** Creates a row: the device, its key, and a choice if another program has its adverts. */
  function row(one) {
    const id = `proxy-${one.host.replace(/\W+/g, "-")}`;
    const box = el("input", { type: "checkbox", id });
    box.addEventListener("change", () => { item().chosen = box.checked; keep(); changed(); draw(); });
    const key = textField(`key.${one.host}`, "Key", { attributes: { type: "password", autocomplete: "new-password", spellcheck: "false", autocapitalize: "none", "aria-label": `Key of ${one.name}` } });
    key.set(state.keys.get(one.host));
    key.input.addEventListener("input", () => { state.keys.set(one.host, key.value()); item().hasKey = key.value() !== ""; keep(); });
    const item = () => state.proxies.find((each) => each.host === one.host) || one;
    const take = el("button.small", { type: "button" }, "Take it, and give Home Assistant ours");
    const leave = el("button.small", { type: "button" }, "Leave it to Home Assistant");
    take.addEventListener("click", () => { item().take = true; state.proxy = true; keep(); changed(); draw(); text(fault, "Press the button below to listen again."); });
    leave.addEventListener("click", () => { item().chosen = false; item().take = false; keep(); changed(); draw(); });
    const made = el("li.setting.proxy", null, el("div.check-line", null, box, el("label", { for: id }, el("span.name"), el("span.hint"))), key.node, el("p.warn-text"), el("p.notice.shared", { hidden: true }, "Home Assistant has this proxy’s adverts, or would lose them. Firmware before 2026.7 serves one client. ", leave, " ", take));
    made.key = key;
    return made;
  }
  function update(made, one) {
    made.querySelector("input[type=checkbox]").checked = Boolean(one.chosen);
    text(made.querySelector(".name"), one.name);
    text(made.querySelector("label .hint"), ` ${[one.address || (one.host === one.name ? null : one.host), one.encrypted ? "encrypted" : null, one.take ? "taken from Home Assistant" : null].filter(Boolean).join(", ")}`);
    show(made.key.node, Boolean(one.chosen) && (one.encrypted || one.own === true));
    text(made.querySelector(".warn-text"), one.problem && !one.shared ? `${one.problem[0].toUpperCase()}${one.problem.slice(1)}` : "");
    show(made.querySelector(".warn-text"), Boolean(one.problem) && !one.shared);
    show(made.querySelector(".shared"), one.shared === true && !one.take);
    attribute(made, "data-chosen", one.chosen ? "yes" : null);
  }
  function draw() {
    patch(list, state.proxies, (one) => one.host, row, update);
    show(list, state.proxies.length > 0);
  }

  const search = searchFor({ esphome: {} }, {
    found(report) {
      for (const device of report.devices) {
        const known = state.proxies.find((one) => one.host === device.host);
        if (known) Object.assign(known, { name: device.name, address: device.address, encrypted: device.encrypted });
        else state.proxies.push({ ...device, problem: null, chosen: true });
      }
      text(none, report.devices.length ? "" : report.hints[0]?.detail || "Looking for proxies…");
      show(none, none.textContent !== "");
      keep();
      draw();
    },
    failed(problem) { text(none, problem.message); },
  });
  draw();
  return {
    node, sources: () => proxySources(state), leave: () => search.end(),
    check() {
      const chosen = state.proxies.filter((one) => one.chosen);
      text(fault, chosen.length ? "" : "Choose a proxy, or enter an address.");
      let first = null;
      for (const made of list.children) made.key.fault("");
      for (const [index, one] of state.proxies.entries()) {
        if (!one.chosen || !(one.encrypted || one.hasKey) || state.keys.get(one.host)) continue;
        list.children[index].key.fault(one.hasKey ? "Enter the key again; the browser does not store it." : "Enter its key.");
        first ??= list.children[index].key;
      }
      first?.focus();
      return chosen.length > 0 && !first;
    },
    fault(key, words) {
      text(fault, words);
      return true;
    },
    /** Shows what the connections to the chosen proxies report. */
    update(reports) {
      for (const device of reports.flatMap((report) => report.devices)) {
        const one = state.proxies.find((each) => each.host === device.host || `${each.host}:6053` === device.host || each.name === device.name);
        if (one) Object.assign(one, { problem: device.problem, shared: device.shared });
      }
      draw();
    },
  };
}
