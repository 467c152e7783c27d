// Settings: places and their receivers.

import { get, isReadOnly, pathOf, send } from "./api.js";
import { el, show } from "./dom.js";
import { formDialog } from "./form.js";
import { settingFields } from "./settings-keys.js";
import { settingRow, settingsList } from "./settings-list.js";
import { taughtSection, teachDialog } from "./settings-teach.js";

export const title = "Places";

export function open(root) {
  const list = settingsList(root, {
    path: "v1/places", key: "places", word: "place", heading: "Places", topics: ["places"],
    lede: "A place is a room or a corner with its own receivers. A beacon is in the place whose receivers hear it best.",
    nothing: ["There are no places", "With receivers in different rooms, beacond shows which room a beacon is in."],
    removal: "beacond no longer locates beacons in it. Its events stay in the history.",
    row: (item) => {
      const node = settingRow(item);
      const teach = isReadOnly() ? null : el("button.small", { type: "button", "aria-label": `Teach ${item.name}`, click: () => teachDialog(item.name) }, "Teach this room");
      if (teach) node.querySelector(".setting-actions").append(teach);
      node.update = (now) => {
        const [isTaught, actions] = [!now.receivers.length, node.querySelector(".setting-actions")];
        // A room that was only taught is changed by teaching.
        for (const button of actions.children) show(button, !isTaught || button === teach);
        node.describe(isTaught ? "Only taught, without a receiver" : `${now.receivers.length === 1 ? "Receiver" : "Receivers"}: ${now.receivers.join(", ")}${now.dark ? "; none of them hears right now" : ""}`);
      };
      return node;
    },
    edit: (item) => placeForm(item, list.saved),
  });
  const endTaught = taughtSection(root);
  return () => { list.end(); endTaught(); };
}

async function placeForm(item, saved) {
  const [{ receivers }, keys] = await Promise.all([get("v1/receivers"), settingFields("places")]);
  const name = keys.text("name", { attributes: { maxlength: 100 } });
  const chosen = keys.chips("receivers", receivers.map((receiver) => [receiver.name, receiver.name]), {
    ...(receivers.length ? {} : { help: "There are no receivers yet. They belong to the sources." }), missing: " (not connected)",
  });
  name.set(item?.name);
  chosen.set(item?.settings.receivers);
  formDialog({
    title: item ? `Place ${item.name}` : "A new place", fields: [name, chosen], verb: item ? "Save" : "Add the place",
    check: () => [
      ...(name.value() ? [] : [{ key: "name", detail: "write a name" }]),
      ...(chosen.value().length ? [] : [{ key: "receivers", detail: "choose at least one receiver" }]),
    ],
    send: async () => {
      // The first receiver is a place's key, so the former order stays.
      const former = (item?.settings.receivers || []).filter((receiver) => chosen.value().includes(receiver));
      const body = { name: name.value(), receivers: [...new Set([...former, ...chosen.value()])], id: item?.settings.id };
      if (item) await send("PUT", pathOf("v1/places", item.name), body);
      else await send("POST", "v1/places", body);
      saved(body.name);
    },
  });
}
