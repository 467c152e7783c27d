// A plan: the picture of the floor, a scale, and marks at positions in meters. Callers decide what is drawn and how it
// moves.

import { attribute, el, patch, svg, text } from "./dom.js";

/** The marks' shapes, around their center. */
const shapes = {
  receiver: () => [svg("rect.shape", { x: -7, y: -7, width: 14, height: 14, rx: 4 }), svg("path.waves", { d: "M-3 0a3 3 0 0 1 6 0M-.01 2.5h.02" })],
  fixed: () => [svg("path.shape", { d: "M0 -7.5L7.5 0 0 7.5 -7.5 0z" })],
  trial: () => [svg("circle.shape", { r: 9 }), svg("path.waves", { d: "M-3.5 0h7M0 -3.5v7" })],
  door: () => [svg("path.shape", { d: "M-6 -6h12v12h-12z" }), svg("path.waves", { d: "M-2 -3.5v7M2 -3.5v7" })],
  corner: () => [svg("circle.shape", { r: 6 })],
  moving: () => [svg("circle.halo", { r: 12 }), svg("circle.shape", { r: 6.5 })],
};

/** The kinds of marks, in the order in which they get labels. */
const order = ["moving", "trial", "fixed", "receiver", "door", "corner"];

/** Creates a plan, which draws itself again when its width changes. `update` receives the server's plan, the marks `{
 *  key, kind, at: [x, y], label, state, offset }`, rings `{ key, at, meters, label }`, and areas `{ key, corners, label,
 *  state, selected }`. */
export function makePlan({ title, editable }) {
  const name = svg("title", {});
  const picture = svg("image.floor", { preserveAspectRatio: "none" });
  const floor = svg("rect.floor-edge", {});
  const scale = el("span.plan-scale", { "aria-hidden": "true" }, el("span.bar"), el("span"));
  const areas = svg("g", {}), rings = svg("g", {}), marks = svg("g", {});
  const node = svg("svg.plan", { role: editable ? "group" : "img", "aria-label": editable ? title : null }, floor, picture, areas, rings, marks);
  if (!editable) {
    name.id = "plan-title";
    node.prepend(name);
    attribute(node, "aria-labelledby", "plan-title");
  }
  let drawn = null;
  let width = 0;

  function draw() {
    if (!drawn || !width) return;
    const { plan } = drawn;
    const factor = width / plan.width;
    const height = Math.max(40, plan.height * factor);
    attribute(node, "viewBox", `0 0 ${width} ${height.toFixed(1)}`);
    for (const one of [picture, floor]) {
      attribute(one, "width", width);
      attribute(one, "height", height.toFixed(1));
    }
    attribute(picture, "href", plan.image);
    node.classList.toggle("pictured", Boolean(plan.image));
    drawScale(scale, factor, plan.width);
    patch(areas, drawn.areas || [], (area) => area.key, () => svg("g.room-area", {}, svg("polygon", {}), svg("text", { "text-anchor": "middle" })), (group, area) => {
      const [shape, label] = group.children;
      const corners = area.corners.map(([x, y]) => [x * factor, y * factor]);
      attribute(shape, "points", corners.map((corner) => corner.map((one) => one.toFixed(1)).join(",")).join(" "));
      attribute(group, "data-state", area.state);
      group.classList.toggle("selected", Boolean(area.selected));
      const across = corners.map((corner) => corner[0]), down = corners.map((corner) => corner[1]);
      const wide = Math.max(...across) - Math.min(...across);
      attribute(label, "x", ((Math.max(...across) + Math.min(...across)) / 2).toFixed(1));
      attribute(label, "y", (Math.max(...down) - 9).toFixed(1));
      text(label, area.label.length * 7 > wide - 10 ? `${area.label.slice(0, Math.max(1, Math.floor(wide / 7) - 3))}…` : area.label);
    });
    patch(rings, drawn.rings || [], (ring) => ring.key, () => svg("g.reach-ring", {}, svg("circle", {}), svg("text", { "text-anchor": "middle" })), (group, ring) => {
      const [circle, label] = group.children;
      const radius = Math.max(14, ring.meters * factor);
      group.style.transform = `translate(${ring.at[0] * factor}px, ${ring.at[1] * factor}px)`;
      circle.style.r = `${radius.toFixed(1)}px`;
      attribute(circle, "r", radius.toFixed(1));
      text(label, ring.label);
      const up = ring.at[1] * factor - radius < 16 ? 1 : -1;
      label.style.transform = `translateY(${(up * radius + (up > 0 ? -5 : 14)).toFixed(1)}px)`;
    });
    const labels = [];
    patch(marks, drawn.marks, (mark) => mark.key, (mark) => {
      const group = svg(`g.spot.${mark.kind}`, {}, svg("title", {}), ...shapes[mark.kind](), svg("text", {}));
      if (editable) attribute(group, "tabindex", "0");
      return group;
    }, (group, mark) => {
      const x = clamp(mark.at[0] * factor + (mark.offset?.[0] || 0), width), y = clamp(mark.at[1] * factor + (mark.offset?.[1] || 0), height);
      group.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
      attribute(group, "data-state", mark.state);
      attribute(group, "data-key", mark.key);
      if (editable) {
        attribute(group, "role", "button");
        attribute(group, "aria-label", mark.words);
      }
      text(group.firstChild, mark.words || mark.label);
      labels.push({ label: group.lastChild, words: mark.label, x, y, order: order.indexOf(mark.kind) });
    });
    // Moving marks get labels first. A mark without room has no label.
    const taken = labels.map(({ x, y }) => [x - 9, y - 9, x + 9, y + 9]);
    labels.map((one, index) => ({ ...one, own: taken[index] })).sort((one, other) => one.order - other.order).forEach((one) => place(one, width, height, taken));
  }

  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (!now || now === width) return;
    width = now;
    // Marks that move because the window changes must not be animated.
    node.classList.add("sudden");
    draw();
    requestAnimationFrame(() => node.classList.remove("sudden"));
  }).observe(node);

  return {
    node, scale,
    update(plan, all, some, rooms) { drawn = { plan, marks: all, rings: some, areas: rooms }; draw(); },
    describe: (words) => text(name, words),
    /** Returns the meters at a point of the window. */
    meters(clientX, clientY) {
      const box = node.getBoundingClientRect();
      return [(clientX - box.left) / box.width * drawn.plan.width, (clientY - box.top) / box.height * drawn.plan.height];
    },
  };
}

const clamp = (value, most) => Math.min(Math.max(value, 9), most - 9);

/** Draws a bar of a round length, with its meters. */
function drawScale(node, factor, meters) {
  // Of a tiny plan, a meter would be as wide as the page.
  const length = [50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1].find((one) => one <= meters / 4) || 0;
  node.hidden = !length;
  node.firstChild.style.width = `${(length * factor).toFixed(1)}px`;
  text(node.lastChild, `${length} m`);
}

/** Places a mark's label where it covers no other: beside, below or above the mark. */
function place({ label, words, x, y, own }, width, height, taken) {
  const short = words.length > 22 ? `${words.slice(0, 21)}…` : words;
  const length = short.length * 7 + 6;
  const tries = [
    { dx: 13, dy: 5, anchor: "start", box: [x + 11, y - 9, x + 13 + length, y + 9] }, { dx: -13, dy: 5, anchor: "end", box: [x - 13 - length, y - 9, x - 11, y + 9] },
    { dx: 0, dy: 24, anchor: "middle", box: [x - length / 2, y + 11, x + length / 2, y + 28] }, { dx: 0, dy: -14, anchor: "middle", box: [x - length / 2, y - 28, x + length / 2, y - 11] },
  ];
  const chosen = tries.find(({ box }) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height
    && taken.every((other) => other === own || other[0] > box[2] || other[2] < box[0] || other[1] > box[3] || other[3] < box[1]));
  text(label, chosen ? short : "");
  if (!chosen) return;
  taken.push(chosen.box);
  attribute(label, "x", chosen.dx);
  attribute(label, "y", chosen.dy);
  attribute(label, "text-anchor", chosen.anchor);
}
