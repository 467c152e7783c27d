// The guided start, step 1: what listens.

import { el, patch, show } from "./dom.js";
import { listenWith } from "./setup-wait.js";

export const title = "Listen";
export const heading = "What should listen?";

const kinds = [
  ["broker", "Receivers that send to an MQTT broker", "ESP32 boards, Shelly, Ruuvi, another Raspberry Pi."],
  ["esphome", "ESPHome Bluetooth proxies", "They need no broker."],
  ["radio", "This machine’s Bluetooth", "One radio covers a few rooms."],
  ["simulation", "Nothing yet: a simulation", "To try beacond without a radio."],
];

export function open(root, { state, info, keep, ready, changed }) {
  const boxes = { radio: el("ul.options.inner"), simulation: el("ul.options.inner") };
  const none = el("p.notice.warn", null, "No Bluetooth adapter was found. Plug one in and it appears here, or choose another way to listen.");
  const radios = el("div", null, none, boxes.radio);
  const waiting = el("p.hint", { role: "status", hidden: true }, "beacond is starting to listen. This takes a few seconds.");
  const inner = { radio: radios, simulation: boxes.simulation };
  const list = el("ul.options", null, ...kinds.map(([kind, words, help]) => {
    const box = el("input", { type: "radio", name: "listen", id: `listen-${kind}`, value: kind, "aria-describedby": `listen-${kind}-help` });
    box.checked = state.listen === kind;
    box.addEventListener("change", () => { state.listen = kind; keep(); changed(); refresh(known); });
    return el("li.option", null, box, el("label", { for: `listen-${kind}` }, el("b", null, words), el("span.hint", { id: `listen-${kind}-help` }, help)));
  }));
  root.append(el("fieldset.choice", null, el("legend.offscreen", null, heading), list),
    el("fieldset.choice.sources", null, el("legend.offscreen", null, "Which one?"), radios, boxes.simulation), waiting);
  let known = info;
  let isEnded = false;

  function option(one) {
    const id = `source-${one.source.replace(/\W/g, "-")}`;
    const box = el("input", { type: "radio", name: "source", id, value: one.source, "aria-describedby": `${id}-why` });
    box.addEventListener("change", () => { state.source = one.source; keep(); refresh(known); });
    return el("li.option", null, box, el("label", { for: id }, el("b", null, one.title), el("span.hint", null, one.source)), el("p.warn-text", { id: `${id}-why` }));
  }
  function update(node, one) {
    const box = node.querySelector("input");
    box.disabled = !one.usable;
    box.checked = one.source === state.source;
    const why = node.querySelector(".warn-text");
    why.textContent = one.usable ? "" : one.reason || "It cannot be used.";
    show(why, !one.usable);
  }
  const ofKind = (kind) => known.sources.filter((one) => one.isRadio === (kind === "radio"));
  function refresh(now) {
    known = now;
    show(none, !ofKind("radio").length);
    for (const [kind, box] of Object.entries(boxes)) {
      show(inner[kind], state.listen === kind);
      // The first usable one is chosen until the user chooses another.
      const usable = ofKind(kind).filter((one) => one.usable);
      if (state.listen === kind && !usable.some((one) => one.source === state.source)) state.source = usable[0]?.source ?? null;
      patch(box, ofKind(kind), (one) => one.source, option, update);
    }
    const isOwn = state.listen === "radio" || state.listen === "simulation";
    ready(isOwn ? ofKind(state.listen).some((one) => one.usable && one.source === state.source) : Boolean(state.listen));
  }
  refresh(info);
  return {
    refresh,
    async next() {
      // Receivers in the network are searched in the next step.
      if (state.listen === "broker" || state.listen === "esphome") return true;
      state.listening = null;
      if (state.source === known.source) return true;
      show(waiting, true);
      // Adverts from another radio do not count for this one.
      try {
        const now = await listenWith(state.source, () => isEnded);
        if (now) refresh(now);
        return Boolean(now) && !isEnded;
      } finally { show(waiting, false); }
    },
    leave() { isEnded = true; },
  };
}
