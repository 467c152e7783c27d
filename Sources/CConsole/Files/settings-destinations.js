// Settings: the destinations of notifications.

import { connectionForm, destinationKinds } from "./connection-fields.js";
import { settingRow, settingsList } from "./settings-list.js";

export const title = "Destinations";

const titles = Object.fromEntries(destinationKinds);

export function open(root) {
  const list = settingsList(root, {
    path: "v1/destinations", key: "destinations", word: "destination", heading: "Destinations", topics: ["outbox"],
    lede: "Destinations receive events: a broker with Home Assistant, a webhook, or Kumulos. The page Deliveries shows what waits for them.",
    nothing: ["There are no destinations", "Add the broker of Home Assistant, or a webhook."],
    removal: "It gets no more events. Events that wait for it are lost.",
    row: (item) => {
      const node = settingRow(item);
      node.update = (now) => node.describe([titles[now.kind] || now.kind, now.settings.host || (typeof now.settings.url === "string" ? now.settings.url : null)].filter(Boolean).join(": "));
      return node;
    },
    edit: (item) => connectionForm({ word: "destination", path: "v1/destinations", kinds: destinationKinds, key: "type", item, kind: item?.kind, saved: list.saved }),
  });
  return list.end;
}
