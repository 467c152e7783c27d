// Settings: the sources of adverts.

import { connectionForm, sourceKinds } from "./connection-fields.js";
import { settingRow, settingsList } from "./settings-list.js";

export const title = "Sources";

const titles = { ...Object.fromEntries(sourceKinds), file: "A recording" };

export function open(root) {
  const list = settingsList(root, {
    path: "v1/sources", key: "configured", word: "source", heading: "Sources", topics: ["receivers"],
    lede: "A source has receivers: a Bluetooth radio of this machine, or receivers in the network. The page Receivers shows what they hear.",
    nothing: ["There are no sources", "Add this machine’s Bluetooth, a broker that receivers send to, or Bluetooth proxies of ESPHome."],
    removal: "Its receivers no longer hear. Beacons that only they could hear are unknown.",
    row: (item) => {
      const node = settingRow(item);
      node.update = (now) => node.describe([titles[now.kind] || now.kind, now.settings.mqtt?.host || now.settings.from].filter(Boolean).join(": "));
      return node;
    },
    edit: (item) => connectionForm({ word: "source", path: "v1/sources", kinds: sourceKinds, item, kind: item?.kind, saved: list.saved }),
  });
  return list.end;
}
