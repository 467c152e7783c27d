// Settings: the plan with its size, its picture, and the positions of receivers, beacons and rooms, by pointer, keys or
// numbers; and what it predicts.

import { get, isReadOnly, on, send, upload } from "./api.js";
import { announce, confirmed, el, empty, patch, problemNode, show, showProblem, text, toast } from "./dom.js";
import { refusalWords, showFaults, textField } from "./form.js";
import { identity } from "./format.js";
import { forecastSection } from "./plan-forecast.js";
import { roomsEditor } from "./plan-rooms.js";
import { makePlan } from "./plan.js";

export const title = "Plan";

/** The unsaved changes when the page was last left. */
let unsaved = null;

const types = ["image/png", "image/jpeg", "image/webp", "image/svg+xml"];
const largest = 4 * 1024 * 1024;
const meters = (value) => Math.round(value * 10) / 10;

export function open(root) {
  const locked = isReadOnly();
  const fault = problemNode();
  const width = textField("width", "Width in meters", { attributes: { inputmode: "decimal" } });
  const height = textField("height", "Height in meters", { attributes: { inputmode: "decimal" } });
  const scene = makePlan({ title: "Plan editor", editable: !locked });
  const things = el("ul.plan-things", { "aria-label": "On the plan" });
  const bench = el("ul.chips", { "aria-label": "Not on the plan" });
  const benchBox = el("section", { "aria-labelledby": "bench-heading" }, el("h3", { id: "bench-heading" }, "Not on the plan"), bench, el("p.hint", null, "Choose one to put it in the middle, then move it."));
  const focus = (key) => scene.node.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  const shared = { plan: () => plan, content: () => content(), size: () => [number(width.value()) || 20, number(height.value()) || 12], changed: () => draw(), announce, focus, locked };
  const rooms = roomsEditor(shared);
  const forecast = locked ? null : forecastSection(shared);
  const file = el("input.offscreen", { type: "file", accept: types.join(","), id: "plan-image" });
  const drop = el("button.small", { type: "button" }, "Remove the picture");
  const fit = el("button.small", { type: "button" }, "Height from the picture");
  const picture = el("div.picture-tools", null, file, el("label.button.small", { for: "plan-image" }, "Choose a picture"), fit, drop);
  const save = el("button.primary", null, "Save the plan");
  const revert = el("button", { type: "button" }, "Revert");
  const none = empty("There is no plan", "A plan shows who is where on the page Now. Set the size of the floor and the positions of its receivers. You can add a picture of the floor.");
  const state = el("p.hint", { role: "status" });
  const form = el("form.plan-editor", { novalidate: true },
    el("div.plan-controls.card", null, el("div.field-row", null, width.node, height.node), locked ? null : el("div.field", null, el("p.legend", null, "Picture of the floor"), picture, el("p.hint", null, "PNG, JPEG, WebP or SVG, up to 4 MiB. It is stretched to the floor’s size.")), things, benchBox, rooms.node,
      locked ? null : el("div.actions.start", null, save, revert), state),
    el("div.plan-side", null, el("figure.picture.plan-figure", null, scene.node, el("figcaption", null, scene.scale, el("span", null, "Drag the marks, or focus a mark and use the arrow keys: 10 cm each, or 1 m with Shift. Delete removes it from the plan. From the upper left corner, x goes right and y goes down."))), forecast?.node));
  root.append(el("div.section-head", null, el("div", null, el("h2", null, "Plan"), el("p.hint", null, "The positions of receivers and beacons, shown live on the page Now."))), fault, none, form);

  let plan = null;
  let saved = null;
  let names = { receivers: [], beacons: new Map() };
  const items = () => [
    ...Object.entries(plan.receivers).map(([name, at]) => ({ group: "receivers", name, at, label: name })),
    ...Object.entries(plan.beacons).map(([name, at]) => ({ group: "beacons", name, at, label: names.beacons.get(name.toUpperCase()) || name.split("/").slice(1).join(" · ") })),
  ];
  const dirty = () => saved && JSON.stringify(content()) !== JSON.stringify(contentOf({ ...saved, width: saved.width || 20, height: saved.height || 12 }));
  const content = () => ({ ...contentOf(plan), width: number(width.value()), height: number(height.value()) });

  function draw() {
    const size = { ...plan, width: number(width.value()) || plan.width || 20, height: number(height.value()) || plan.height || 12 };
    const all = items();
    const trial = forecast?.trial;
    scene.update(size, [...rooms.marks(), ...all.map(({ group, name, at, label }) => ({
      key: `${group} ${name}`, kind: group === "receivers" ? "receiver" : "fixed", at, label, state: "hearing", words: `${label}, x ${at[0]} meters, y ${at[1]} meters`,
    })), ...(trial ? [{ key: "trial 0", kind: "trial", at: trial, label: "new", words: `One receiver more, x ${trial[0]} meters, y ${trial[1]} meters` }] : [])], [], rooms.areas(forecast?.states));
    rooms.draw();
    forecast?.draw();
    patch(things, all, (one) => `${one.group} ${one.name}`, thing, (node, one) => {
      text(node.querySelector(".name"), one.label);
      node.querySelectorAll("input").forEach((input, axis) => { if (document.activeElement !== input) input.value = String(one.at[axis] ?? ""); });
    });
    const rest = [
      ...names.receivers.filter((name) => !plan.receivers[name]).map((name) => ({ group: "receivers", name, label: name })),
      ...[...names.beacons].filter(([key]) => !Object.keys(plan.beacons).some((one) => one.toUpperCase() === key)).map(([name, label]) => ({ group: "beacons", name, label })),
    ];
    show(benchBox, rest.length > 0 && !locked);
    patch(bench, rest, (one) => `${one.group} ${one.name}`, (one) => el("li", null, el("button.small", { type: "button", "aria-label": `Put ${one.label} on the plan`, click: () => put(one) }, `+ ${one.label}`, el("span.number", null, one.group === "receivers" ? " receiver" : ""))));
    show(none, !plan.width && !dirty());
    show(drop, Boolean(plan.image));
    show(fit, Boolean(plan.image));
    save.disabled = !dirty() && plan.width > 0;
    revert.disabled = !dirty();
    text(state, dirty() ? "Not saved yet." : "");
  }

  function thing(one) {
    const field = (axis, word, meaning = word) => {
      const input = el("input", { type: "number", step: "0.1", min: "0", placeholder: axis > 1 ? "1" : null, title: axis > 1 ? "Height above the floor" : null, "aria-label": `${meaning} of ${one.label} in meters` });
      input.readOnly = locked;
      input.addEventListener("input", () => {
        const at = plan[one.group][one.name];
        if (axis > 1) plan[one.group][one.name] = input.value === "" ? at.slice(0, 2) : [at[0], at[1], meters(Number(input.value))];
        if (axis > 1) draw();
        else if (input.value !== "") move(one.group, one.name, axis ? [at[0], Number(input.value)] : [Number(input.value), at[1]], false);
      });
      return el("label.axis-field", null, el("span", { "aria-hidden": "true" }, word), input);
    };
    return el("li", { "data-group": one.group }, el("span.name"), field(0, "x"), field(1, "y"), one.group === "receivers" ? field(2, "h", "height") : null,
      locked ? null : el("button.remove", { type: "button", "aria-label": `Remove ${one.label} from the plan`, title: "Remove from the plan", click: () => { take(one); (things.querySelector("input") || width.input).focus(); } }, "×"));
  }

  function move(group, name, [x, y], isClamped = true, isDragged = false) {
    const limit = (value, most) => (isClamped ? Math.min(Math.max(value, 0), most) : value);
    const to = [limit(x, number(width.value()) || 20), limit(y, number(height.value()) || 12)];
    if (rooms.holds(group)) return rooms.move(group, Number(name), to, isDragged);
    if (group === "trial") forecast.trial = to.map(meters);
    else plan[group][name] = [...to.map(meters), ...(plan[group][name] || []).slice(2)];
    return draw();
  }
  const at = (group, name) => (rooms.holds(group) ? rooms.at(group, Number(name)) : group === "trial" ? forecast.trial : plan[group][name]);
  function put({ group, name, label }) {
    move(group, name, [(number(width.value()) || 20) / 2, (number(height.value()) || 12) / 2]);
    announce(`${label} is in the middle of the plan`);
    focus(`${group} ${name}`);
  }
  function take({ group, name, label }) {
    if (rooms.holds(group)) return rooms.take(group, Number(name));
    if (group === "trial") return undefined;
    delete plan[group][name];
    draw();
    announce(`${label || name} is off the plan`);
    return (scene.node.querySelector(".spot") || width.input).focus();
  }
  const split = (key) => ({ group: key.slice(0, key.indexOf(" ")), name: key.slice(key.indexOf(" ") + 1) });

  let held = null;
  scene.node.addEventListener("pointerdown", (event) => {
    const mark = event.target.closest(".spot");
    if (locked || event.button) return;
    const grip = scene.meters(event.clientX, event.clientY);
    if (!mark) return rooms.choose(grip);
    event.preventDefault();
    mark.focus();
    held = split(mark.dataset.key);
    const from = at(held.group, held.name);
    held.shift = [from[0] - grip[0], from[1] - grip[1]];
    scene.node.setPointerCapture(event.pointerId);
    return scene.node.classList.add("sudden");
  });
  scene.node.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [x, y] = scene.meters(event.clientX, event.clientY);
    move(held.group, held.name, [x + held.shift[0], y + held.shift[1]], true, true);
  });
  const release = () => { held = null; scene.node.classList.remove("sudden"); };
  scene.node.addEventListener("pointerup", release);
  scene.node.addEventListener("pointercancel", release);
  scene.node.addEventListener("keydown", (event) => {
    const mark = event.target.closest(".spot");
    if (!mark || locked) return;
    const { group, name } = split(mark.dataset.key);
    const step = event.shiftKey ? 1 : 0.1;
    const [x, y] = at(group, name);
    const to = { ArrowLeft: [x - step, y], ArrowRight: [x + step, y], ArrowUp: [x, y - step], ArrowDown: [x, y + step] }[event.key];
    if (to) {
      event.preventDefault();
      move(group, name, to);
      announce(`x ${at(group, name)[0]}, y ${at(group, name)[1]}`);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      take({ group, name });
    }
  });
  for (const field of [width, height]) {
    field.input.readOnly = locked;
    field.input.addEventListener("input", draw);
  }

  async function attempt(action, done) {
    try {
      const answer = await action();
      showProblem(fault, null);
      toast(done);
      return answer;
    } catch (problem) {
      const others = showFaults([width, height], problem.errors || []);
      if (problem.status === 0 || !problem.errors?.length || others.length) {
        text(fault, refusalWords(problem, others, (problem.errors || []).length > others.length));
        show(fault, true);
        fault.scrollIntoView({ block: "nearest" });
      }
      return null;
    }
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wrong = [width, height].filter((field) => !(number(field.value()) > 0)).map((field) => ({ key: field.key, detail: "a number of meters, more than 0" }));
    showFaults([width, height], wrong);
    if (wrong.length || save.disabled) return;
    save.disabled = true;
    const answer = await attempt(() => send("PUT", "v1/plan", content()), "The plan is saved");
    if (answer) accept(answer);
    else draw();
  });
  revert.addEventListener("click", () => accept(saved));
  file.addEventListener("change", async () => {
    const chosen = file.files[0];
    file.value = "";
    if (!chosen) return;
    const problem = !types.includes(chosen.type) ? `${chosen.name} is not a PNG, JPEG, WebP or SVG file.` : chosen.size > largest ? `${chosen.name} is larger than 4 MiB.` : null;
    text(fault, problem || "");
    show(fault, Boolean(problem));
    if (problem) return;
    const answer = await attempt(() => upload("PUT", "v1/plan/image", chosen, chosen.type), "The picture is saved");
    if (answer) { plan.image = saved.image = answer.image; draw(); }
  });
  drop.addEventListener("click", async () => {
    if (!await confirmed("Remove the picture?", "The receivers and beacons keep their positions.", "Remove")) return;
    const answer = await attempt(() => send("DELETE", "v1/plan/image"), "The picture is removed");
    if (answer) { plan.image = saved.image = answer.image; draw(); file.focus(); }
  });
  fit.addEventListener("click", () => {
    const image = new Image();
    image.addEventListener("load", () => {
      if (!image.naturalWidth) return;
      height.set(String(meters((number(width.value()) || 20) * image.naturalHeight / image.naturalWidth)));
      draw();
      announce(`The height is ${height.value()} meters`);
    });
    image.src = plan.image;
  });

  /** Applies the server's plan. */
  function accept(answer) {
    saved = answer;
    plan = structuredClone(answer);
    width.set(answer.width || 20);
    height.set(answer.height || 12);
    draw();
  }
  const load = async () => {
    const [answer, receivers, named, places] = await Promise.all([get("v1/plan"), get("v1/receivers"), get("v1/registered-beacons"), get("v1/places")]);
    rooms.offer(places.places.map((one) => one.name));
    names = { receivers: receivers.receivers.map((one) => one.name), beacons: new Map(named.beacons.map((one) => [identity(one), one.name])) };
    showProblem(fault, null);
    if (!saved && unsaved) {
      accept(answer);
      plan = { ...plan, receivers: unsaved.receivers, beacons: unsaved.beacons, rooms: unsaved.rooms, doors: unsaved.doors };
      width.set(unsaved.width || "");
      height.set(unsaved.height || "");
      draw();
    } else if (!saved || !dirty()) accept(answer);
    else draw();
  };
  show(form, false);
  const first = () => load().then(() => show(form, true)).catch((problem) => showProblem(fault, problem));
  first();
  // Unsaved changes survive a visit to another page.
  const warn = (event) => { if (dirty()) event.preventDefault(); };
  addEventListener("beforeunload", warn);
  const ends = [on("resumed", first), on("state", (changed) => { if (changed.plan) load().catch(() => {}); }), () => removeEventListener("beforeunload", warn)];
  return () => {
    unsaved = dirty() ? content() : null;
    forecast?.end();
    ends.forEach((end) => end());
  };
}

const number = (value) => Number(String(value).replace(",", ".")) || 0;
const contentOf = ({ width, height, receivers, beacons, rooms, doors }) => ({ width, height, receivers, beacons, rooms, doors });
