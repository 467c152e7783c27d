// The rooms of the plan editor: polygons with corners that move like other marks, and doors in their walls.

import { attribute, el, patch, show, text } from "./dom.js";

/** How close a dragged corner or door has to be to snap, in meters. */
const reach = 0.3;
const doorReach = 1;

/** Creates the editor of rooms and doors. `plan` returns the plan, `size` its meters, `changed` draws it again, and
 *  `focus` focuses a mark. */
export function roomsEditor({ plan, size, changed, announce, focus, locked }) {
  let selected = -1;
  let places = [];
  const list = el("ul.plan-rooms", { "aria-label": "Rooms" });
  const doors = el("ul.plan-things", { "aria-label": "Doors" });
  const names = el("datalist", { id: "plan-place-names" });
  const addRoom = el("button.small", { type: "button", click: () => insertRoom() }, "+ Room");
  const addDoor = el("button.small", { type: "button", click: () => insertDoor() }, "+ Door");
  const node = el("section", { "aria-labelledby": "rooms-heading" }, el("h3", { id: "rooms-heading" }, "Rooms"),
    el("p.hint", null, "With rooms, the plan can predict what will be told where. Give each the name of its place. Its edges are walls; put a door where people walk through."),
    names, list, doors, locked ? null : el("div.actions.start", null, addRoom, addDoor));

  const polygon = () => plan().rooms[selected]?.polygon || [];
  const group = (kind) => (kind === "corners" ? polygon() : plan().doors);

  function insertRoom() {
    const [width, height] = size();
    const [x, y] = [width / 2, height / 2], [w, h] = [Math.min(2, width / 4), Math.min(1.5, height / 4)];
    const taken = plan().rooms.map((room) => room.name);
    const name = places.find((one) => !taken.includes(one)) || `Room ${plan().rooms.length + 1}`;
    plan().rooms.push({ name, polygon: [[x - w, y - h], [x + w, y - h], [x + w, y + h], [x - w, y + h]].map((corner) => corner.map(meters)) });
    select(plan().rooms.length - 1);
    announce(`${name} is in the middle of the plan; move its four corners`);
    focus("corners 0");
  }
  function insertDoor() {
    const middle = polygon().length ? between(polygon()[0], polygon()[1]) : size().map((side) => side / 2);
    plan().doors.push(middle.map(meters));
    changed();
    announce("A door is added; move it to a wall");
    focus(`doors ${plan().doors.length - 1}`);
  }
  /** Splits the longest edge of the selected room. */
  function insertCorner() {
    const corners = polygon();
    const lengths = corners.map((corner, index) => distance(corner, corners[(index + 1) % corners.length]));
    const index = lengths.indexOf(Math.max(...lengths));
    corners.splice(index + 1, 0, between(corners[index], corners[(index + 1) % corners.length]).map(meters));
    changed();
    announce("A corner is added in the longest wall");
    focus(`corners ${index + 1}`);
  }
  function select(index) {
    if (selected === index) return changed();
    selected = index;
    return changed();
  }

  const fields = (kind, label, index) => [0, 1].map((axis) => {
    const input = el("input", { type: "number", step: "0.1", min: "0", "aria-label": `${"xy"[axis]} of ${label} in meters` });
    input.readOnly = locked;
    input.addEventListener("input", () => {
      if (input.value === "" || !group(kind)[index]) return;
      group(kind)[index][axis] = meters(Number(input.value));
      changed();
    });
    return el("label.axis-field", null, el("span", { "aria-hidden": "true" }, "xy"[axis]), input);
  });
  const row = (kind, label, index) => el("li", null, el("span.name", null, label), ...fields(kind, label, index),
    locked ? null : el("button.remove", { type: "button", "aria-label": `Remove ${label}`, title: "Remove", click: () => own.take(kind, index) }, "×"));
  const fill = (line, point) => line.querySelectorAll("input").forEach((input, axis) => { if (document.activeElement !== input) input.value = String(point[axis]); });

  function roomRow(room) {
    const name = el("input.room-name", { list: "plan-place-names", maxlength: "200", "aria-label": `Name of room ${room.index + 1}`, autocomplete: "off" });
    name.readOnly = locked;
    name.addEventListener("focus", () => { if (selected !== room.index) select(room.index); });
    name.addEventListener("input", () => { plan().rooms[room.index].name = name.value; changed(); });
    const corners = el("ul.plan-things", { "aria-label": "Corners" });
    const more = el("button.small", { type: "button", click: insertCorner }, "+ Corner");
    return el("li", null, el("div.room-line", null, name,
      locked ? null : el("button.remove", { type: "button", "aria-label": `Remove room ${room.index + 1}`, title: "Remove the room", click: () => {
        plan().rooms.splice(room.index, 1);
        selected = -1;
        changed();
        announce("The room is off the plan");
        addRoom.focus();
      } }, "×")), corners, locked ? null : more);
  }

  const own = {
    node,
    /** Offers the names of places. */
    offer(all) { places = all; patch(names, all, (one) => one, (one) => el("option", { value: one })); },
    holds: (kind) => kind === "corners" || kind === "doors",
    at: (kind, index) => group(kind)[index],
    /** Moves a corner or a door. A dragged one snaps to other rooms and walls. */
    move(kind, index, [x, y], isDragged) {
      let point = [x, y];
      if (isDragged) point = kind === "corners" ? snapped(point, otherCorners(index)) : onWall(point, plan().rooms);
      group(kind)[index] = point.map(meters);
      changed();
    },
    take(kind, index) {
      if (kind === "corners" && polygon().length <= 3) return announce("A room has at least three corners");
      group(kind).splice(index, 1);
      changed();
      announce(kind === "corners" ? "The corner is removed" : "The door is removed");
      return (kind === "corners" ? focus(`corners ${Math.min(index, polygon().length - 1)}`) : addDoor.focus());
    },
    /** Selects the room at a point, if there is one. */
    choose(point) {
      const index = plan().rooms.findIndex((room) => inside(point, room.polygon));
      if (index >= 0) select(index);
    },
    marks: () => [
      ...plan().doors.map((at, index) => ({ key: `doors ${index}`, kind: "door", at, label: "", words: `Door ${index + 1}, x ${at[0]} meters, y ${at[1]} meters` })),
      ...(locked ? [] : polygon()).map((at, index) => ({ key: `corners ${index}`, kind: "corner", at, label: "", words: `Corner ${index + 1} of ${plan().rooms[selected].name}, x ${at[0]} meters, y ${at[1]} meters` })),
    ],
    areas: (states) => plan().rooms.map((room, index) => ({ key: String(index), corners: room.polygon, label: room.name, state: states?.get(room.name) || "", selected: index === selected && !locked })),
    draw() {
      if (selected >= plan().rooms.length) selected = -1;
      patch(list, plan().rooms.map((room, index) => ({ ...room, index })), (room) => room.index, roomRow, (line, room) => {
        const name = line.querySelector("input");
        if (document.activeElement !== name) name.value = room.name;
        const isSelected = room.index === selected;
        attribute(line, "aria-current", isSelected ? "true" : null);
        const corners = line.querySelector("ul");
        show(corners, isSelected);
        if (line.lastChild !== corners) show(line.lastChild, isSelected);
        patch(corners, isSelected ? room.polygon.map((at, index) => ({ at, index })) : [], (one) => one.index, (one) => row("corners", `Corner ${one.index + 1}`, one.index), (node, one) => fill(node, one.at));
      });
      patch(doors, plan().doors.map((at, index) => ({ at, index })), (one) => one.index, (one) => row("doors", `Door ${one.index + 1}`, one.index), (node, one) => fill(node, one.at));
      show(addDoor, plan().rooms.length > 0);
      text(addRoom, plan().rooms.length ? "+ Room" : "+ First room");
    },
  };
  const otherCorners = (moved) => plan().rooms.flatMap((room, index) => room.polygon.filter((_, corner) => index !== selected || corner !== moved));
  return own;
}

const meters = (value) => Math.round(value * 10) / 10;
const distance = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);
const between = (one, other) => [(one[0] + other[0]) / 2, (one[1] + other[1]) / 2];

/** Returns a point at the nearest of other corners, or in line with them. */
function snapped(point, corners) {
  const nearest = corners.reduce((best, corner) => (distance(corner, point) < distance(best, point) ? corner : best), [Infinity, Infinity]);
  if (distance(nearest, point) <= reach) return [...nearest];
  return point.map((value, axis) => corners.map((corner) => corner[axis]).find((one) => Math.abs(one - value) <= reach / 2) ?? value);
}

/** Returns a point on the nearest wall. */
function onWall(point, rooms) {
  let best = point, least = doorReach;
  for (const { polygon } of rooms) {
    polygon.forEach((start, index) => {
      const end = polygon[(index + 1) % polygon.length];
      const square = (end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2;
      if (!square) return;
      const part = Math.min(1, Math.max(0, ((point[0] - start[0]) * (end[0] - start[0]) + (point[1] - start[1]) * (end[1] - start[1])) / square));
      const at = [start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])];
      if (distance(at, point) < least) [best, least] = [at, distance(at, point)];
    });
  }
  return best;
}

function inside([x, y], polygon) {
  return polygon.reduce((isInside, [x1, y1], index) => {
    const [x2, y2] = polygon[(index + 1) % polygon.length];
    return (y1 > y) !== (y2 > y) && x < x1 + (y - y1) / (y2 - y1) * (x2 - x1) ? !isInside : isInside;
  }, false);
}
