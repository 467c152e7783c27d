// The whereabouts at a point in time, derived from earlier events.

import { beaconName, identity } from "./format.js";

/** The kinds of events that report whereabouts. */
export const presenceKinds = ["enter", "exit", "state", "place"];

const states = { enter: "inside", exit: "outside" };

/** Returns the presence at a time from events, the newest first: `{ regions, beacons, people }`, each a list with
 *  `since`. */
export function presenceAt(events, time) {
  const regions = new Map(), beacons = new Map(), people = new Map();
  for (const event of events) {
    if (event.time > time) continue;
    if (event.kind === "place" && event.beacon) {
      const key = `${identity(event.beacon)} ${event.install || ""}`;
      if (!beacons.has(key)) beacons.set(key, { key, name: beaconName(event.beacon), place: event.place, since: event.time });
    } else if (event.region && presenceKinds.includes(event.kind)) {
      const state = states[event.kind] || event.detail?.state || "unknown";
      const person = event.install || event.user;
      if (person) {
        const key = `${person} ${event.region}`;
        if (!people.has(key)) people.set(key, { key, name: event.user || `install ${person.slice(0, 8)}`, region: event.region, state, since: event.time });
      } else if (!regions.has(event.region)) regions.set(event.region, { key: event.region, name: event.region, state, since: event.time });
    }
  }
  const byName = (one, other) => one.name.localeCompare(other.name);
  return {
    regions: [...regions.values()].sort(byName),
    beacons: [...beacons.values()].filter((beacon) => beacon.place).sort(byName),
    people: [...people.values()].filter((person) => person.state === "inside").sort(byName),
  };
}
