// Configure a Beacon: this machine advertises as a beacon.

import { get, isReadOnly, on, send, server } from "./api.js";
import { announce, attribute, el, follow, problemNode, show, showProblem, stateGlyph, text, toast } from "./dom.js";
import { parseUUID, parseWhole } from "./format.js";

export const title = "Configure";

const start = { uuid: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", major: 0, minor: 0, measuredPower: -59, enabled: false };
const stateWords = { on: "On the air", starting: "Starting…", failed: "Not on the air", off: "Off" };

export function open(root) {
  const fault = problemNode();
  const impossible = el("p.notice.warn", { hidden: true });
  const readOnly = el("p.notice.warn", { hidden: true }, "beacond is read-only: you can see the beacon here but not change it.");

  const fields = {
    uuid: field("uuid", "UUID", "32 hexadecimal digits; all beacons of an organization share it.", { spellcheck: "false", autocapitalize: "characters", maxlength: 40 },
      parseUUID, "A UUID has 32 hexadecimal digits, as in E2C56DB5-DFFB-48D2-B060-D0F5A71096E0."),
    major: field("major", "Major", "0 to 65535, often a site.", { inputmode: "numeric" }, (value) => parseWhole(value, 0, 65535), "A whole number from 0 to 65535."),
    minor: field("minor", "Minor", "0 to 65535, often a spot in it.", { inputmode: "numeric" }, (value) => parseWhole(value, 0, 65535), "A whole number from 0 to 65535."),
    measuredPower: field("measuredPower", "Measured power", "dBm at 1 m, −127 to −1; −59 is usual.", {}, (value) => parseWhole(value, -127, -1), "A whole number from −127 to −1."),
  };
  const random = el("button.small", { type: "button" }, "New UUID");
  fields.uuid.node.querySelector(".field-line").append(random);
  const enabled = el("input", { id: "enabled", type: "checkbox", class: "switch", "aria-describedby": "enabled-help" });
  const apply = el("button.primary", null, "Apply");
  const revert = el("button", { type: "button" }, "Revert");
  const actions = el("div.actions.start", null, apply, revert);
  const form = el("form.card.configure-form", { novalidate: true },
    el("div.switch-line", null, el("label", { for: "enabled" }, "Enabled"), enabled, el("p.hint", { id: "enabled-help" }, "The switch takes effect at once.")),
    fields.uuid.node, el("div.field-row", null, fields.major.node, fields.minor.node, fields.measuredPower.node), actions);

  const word = el("b.word");
  const state = el("p.state", null, stateGlyph(), word);
  const reason = el("p.warn-text", { hidden: true });
  const frame = el("dl.frame");
  const sent = el("section.card.sent", { "aria-labelledby": "sent-heading" }, el("h2", { id: "sent-heading" }, "Advert"), state, reason, frame,
    el("p.hint", null, "The 30 bytes of an iBeacon advert, sent about ten times per second. Any iPhone that ranges this UUID sees them."));
  root.append(el("header.page-head", null, el("h1", null, "Configure a Beacon"), el("p.lede", null, "This machine can be a beacon itself.")),
    fault, impossible, readOnly, el("div.two-columns", null, form, sent));

  let saved = null;
  let possible = true;
  let locked = false;
  let busy = false;

  const values = () => Object.fromEntries(Object.entries(fields).map(([key, one]) => [key, one.value()]));
  const valid = () => Object.values(values()).every((value) => value !== null);
  const dirty = () => { const now = values(); return !saved || Object.keys(now).some((key) => now[key] !== (key === "uuid" ? saved.uuid.toUpperCase() : saved[key])); };

  function fillIn(beacon) {
    fields.uuid.set(beacon.uuid.toUpperCase());
    for (const key of ["major", "minor", "measuredPower"]) fields[key].set(String(beacon[key]));
    enabled.checked = beacon.enabled;
  }

  function draw() {
    const changed = dirty();
    apply.disabled = locked || busy || !possible || !valid() || (!changed && Boolean(saved));
    revert.disabled = busy || !saved || !changed;
    enabled.disabled = locked || busy || !possible || !valid();
    show(random, !locked);
    show(actions, !locked);
    show(enabled.parentElement, !locked);
    for (const one of Object.values(fields)) one.input.readOnly = locked;
    const now = values();
    drawFrame(frame, now);
    const stateName = saved?.state || "off";
    const enabledNow = saved?.enabled;
    attribute(sent, "data-state", stateName === "on" ? "inside" : stateName === "off" ? "outside" : "unknown");
    const words = (stateWords[stateName] || stateName) + (changed && enabledNow && stateName === "on" ? ", with the earlier values until you apply the changes" : "");
    if (word.textContent && word.textContent !== words) announce(words);
    text(word, words);
    text(reason, saved?.reason || "");
    show(reason, Boolean(saved?.reason));
  }

  function take(answer, keepFields) {
    const first = !saved;
    possible = answer.possible;
    text(impossible, answer.possible ? "" : `This machine cannot advertise: ${answer.reason || "no source can advertise."}`);
    show(impossible, !answer.possible);
    const clean = first || !dirty();
    saved = answer.beacon;
    if (!keepFields && clean) fillIn(answer.beacon || start);
    else if (saved && !busy) enabled.checked = saved.enabled;
    draw();
  }

  async function put(on) {
    const body = { ...values(), enabled: on };
    if (!valid()) return;
    busy = true;
    draw();
    try {
      const answer = await send("PUT", "v1/advertising", body);
      showProblem(fault, null);
      busy = false;
      saved = answer.beacon;
      fillIn(answer.beacon || { ...body });
      take(answer, true);
      toast(on ? "The changes are applied" : "The beacon is off");
    } catch (problem) {
      busy = false;
      enabled.checked = saved ? saved.enabled : false;
      let shown = false;
      for (const error of problem.errors) {
        const one = fields[error.key];
        if (!one) continue;
        one.fault(error.detail);
        if (!shown) one.input.focus();
        shown = true;
      }
      if (!shown) {
        showProblem(fault, problem);
        if (problem.status === 0) toast("The connection is lost; nothing has changed.");
      }
      draw();
    }
  }

  form.addEventListener("input", (event) => { if (event.target !== enabled) draw(); });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wrong = Object.values(fields).find((one) => !one.check(true));
    if (wrong) wrong.input.focus();
    else if (!apply.disabled) put(enabled.checked);
  });
  enabled.addEventListener("change", () => put(enabled.checked));
  revert.addEventListener("click", () => {
    fillIn(saved);
    draw();
    fields.uuid.input.focus();
  });
  random.addEventListener("click", () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    fields.uuid.set(parseUUID([...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")));
    draw();
    announce("A new UUID");
  });

  const load = async () => { if (!busy) take(await get("v1/advertising")); };
  const standing = () => { locked = isReadOnly(); show(readOnly, locked && server.status !== null); draw(); };
  standing();
  const ends = [follow(load, 3000, fault, ["advertising"]), on("status", standing)];
  return () => ends.forEach((end) => end());
}

function field(id, label, help, attributes, parse, wrong) {
  const input = el("input", { id: `field-${id}`, autocomplete: "off", "aria-describedby": `field-${id}-help field-${id}-fault`, ...attributes });
  const fault = el("p.field-problem", { id: `field-${id}-fault` });
  const node = el(`div.field.field-${id}`, null, el("label", { for: `field-${id}` }, label), el("div.field-line", null, input), fault, el("p.hint", { id: `field-${id}-help` }, help));
  const show = (message) => { text(fault, message); attribute(input, "aria-invalid", message ? "true" : null); };
  const one = {
    node, input, fault: show,
    value: () => parse(input.value),
    set(value) { input.value = value; show(""); },
    check(strict) {
      const good = parse(input.value) !== null;
      show(good || (!strict && input.value === "") ? "" : wrong);
      return good;
    },
  };
  input.addEventListener("input", () => one.check(false));
  input.addEventListener("blur", () => { if (parse(input.value) === null) one.check(true); });
  return one;
}

const hex = (number, digits) => number.toString(16).toUpperCase().padStart(digits, "0").replace(/(..)(?=.)/g, "$1 ");

function drawFrame(list, { uuid, major, minor, measuredPower }) {
  const parts = [
    ["Flags, company and type", "02 01 06 1A FF 4C 00 02 15"],
    ["UUID", uuid === null ? "–" : hex(BigInt(`0x${uuid.replace(/-/g, "")}`), 32)],
    ["Major", major === null ? "–" : hex(major, 4)],
    ["Minor", minor === null ? "–" : hex(minor, 4)],
    ["Measured power", measuredPower === null ? "–" : hex(measuredPower & 0xff, 2)],
  ];
  if (!list.childElementCount) for (const [label] of parts) list.append(el("dt", null, label), el("dd"));
  parts.forEach(([, bytes], index) => text(list.children[index * 2 + 1], bytes));
}
