// The guided start, step 1: the source that beacond listens with.

import { el, patch, show } from "./dom.js";
import { listenWith } from "./setup-wait.js";

export const title = "Listen";
export const heading = "What should beacond listen with?";

export function open(root, { state, info, keep, ready }) {
  const radios = el("ul.options");
  const others = el("ul.options");
  const none = el("p.notice.warn", null, "No Bluetooth adapter was found. Plug one in and it appears here, or try beacond with a simulation.");
  const waiting = el("p.hint", { role: "status", hidden: true }, "beacond is starting to listen. This takes a few seconds.");
  root.append(el("fieldset.choice", null, el("legend.offscreen", null, heading), el("h3", null, "A radio in this machine"), none, radios,
    el("h3", null, "Or a simulation, to try beacond without a radio"), others), waiting);
  let known = info;
  let isEnded = false;

  function option(one) {
    const id = `source-${one.source.replace(/\W/g, "-")}`;
    const box = el("input", { type: "radio", name: "source", id, value: one.source, "aria-describedby": `${id}-why` });
    box.addEventListener("change", () => { state.source = one.source; keep(); ready(true); });
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
  function refresh(now) {
    known = now;
    show(none, !known.sources.some((one) => one.isRadio));
    patch(radios, known.sources.filter((one) => one.isRadio), (one) => one.source, option, update);
    patch(others, known.sources.filter((one) => !one.isRadio), (one) => one.source, option, update);
    ready(known.sources.some((one) => one.usable && one.source === state.source));
  }
  refresh(info);
  return {
    refresh,
    async next() {
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
