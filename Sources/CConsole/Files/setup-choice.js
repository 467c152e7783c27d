// The guided start: the user's choices, in the server's form.

/** Returns the parts of an address such as mqtts://USER@HOST:PORT?ca-file=FILE. Any other text is a host. */
function partsOf(text) {
  const address = /^(mqtts?):\/\/(?:([^@:/?%]+)@)?\[?((?<=\[)[^\]]*(?=\])|[^@:/?[\]]+)\]?(?::([0-9]+))?\/?(?:\?(.*))?$/i.exec(text.trim());
  if (!address) return { host: text };
  const [, scheme, user, host, port, query] = address;
  const options = Object.fromEntries([...new URLSearchParams((query || "").replaceAll("+", "%2B"))]);
  return { host, ...(scheme.toLowerCase() === "mqtts" ? { tls: true } : {}), ...(port ? { port: Number(port) } : {}), ...(user ? { user } : {}), ...(query ? { options } : {}) };
}

/** Returns a broker from the values of its fields. */
const brokerFrom = ({ host, port, user, tls }, password) => ({ ...partsOf(host), ...(tls ? { tls } : {}), ...(port ? { port: Number(port) } : {}), ...(user ? { user } : {}), ...(password ? { password } : {}) });

/** Returns the broker that receivers publish to. */
export const receiverBrokerOf = (state) => brokerFrom(state.receiverBroker, state.receiverPassword);

/** Returns the broker of Home Assistant, or null without it. */
export function brokerOf(state) {
  if (state.kind !== "broker") return null;
  return usesSameBroker(state) ? receiverBrokerOf(state) : brokerFrom(state.broker, state.password);
}

/** Returns whether Home Assistant uses the broker of the receivers. */
export const usesSameBroker = (state) => state.listen === "broker" && state.sameBroker;

/** Returns whether a password or key is missing, because the browser does not store it. */
export const lacksSecret = (state) => (state.listen === "broker" && state.receiverBroker.hasPassword && !state.receiverPassword)
  || (state.listen === "esphome" && state.proxies.some((one) => one.chosen && one.hasKey && !state.keys.get(one.host)));

/** Returns the topics to listen to, or none for those of the known projects. */
export const topicsOf = (state) => state.topics.split(/[\s,]+/).filter(Boolean);

/** Returns the chosen names of receivers. */
const namesOf = (state) => Object.fromEntries(Object.entries(state.receivers).filter(([, one]) => one.name && one.name !== one.own).map(([key, one]) => [key, one.name]));

/** Returns the sources of the chosen proxies: one for each key, and for those that are taken from others. */
export function proxySources(state) {
  const groups = new Map();
  for (const one of state.proxies.filter((each) => each.chosen)) {
    const key = state.keys.get(one.host) || "";
    const place = JSON.stringify([key, Boolean(one.take)]);
    if (!groups.has(place)) groups.set(place, { hosts: [], ...(key ? { key } : {}), ...(one.take ? { take: true } : {}) });
    groups.get(place).hosts.push(one.host);
  }
  return [...groups.values()].map((esphome) => ({ esphome }));
}

/** Returns the source of the receivers at a broker. */
export function brokerSource(state) {
  const topics = topicsOf(state);
  return { broker: receiverBrokerOf(state), ...(topics.length ? { topics } : {}) };
}

/** Returns the sources of the choice. */
export function sourcesOf(state) {
  if (!isNetwork(state)) return state.source;
  const receivers = namesOf(state);
  const named = Object.keys(receivers).length ? { receivers } : {};
  const own = state.listen === "broker" ? [{ ...brokerSource(state), ...named }] : proxySources(state).map((one) => ({ ...one, ...named }));
  return [...own, ...(state.alsoRadio ? ["auto"] : [])];
}

/** Returns whether the choice has receivers in the network. */
export const isNetwork = (state) => state.listen === "broker" || state.listen === "esphome";

/** Returns the places of the choice: the rooms of the receivers. */
export function placesOf(state) {
  if (!isNetwork(state)) return [];
  const rooms = new Map();
  for (const [key, one] of Object.entries(state.receivers)) {
    if (!one.room) continue;
    if (!rooms.has(one.room)) rooms.set(one.room, []);
    rooms.get(one.room).push(one.name || one.own || key);
  }
  return [...rooms].map(([name, receivers]) => ({ name, receivers }));
}

const joined = { livingroom: "living room", diningroom: "dining room", kidsroom: "kids room", guestroom: "guest room", mastersuite: "master suite", frontdoor: "front door", backdoor: "back door" };
const noise = /^(omg|openmqttgateway|theengs|gateway|gw|espresense|esphome|esp|esp32|esp8266|m5stack|m5|atom|shelly\w*|ruuvi|tasmota|tele|home|proxy|ble|bt|bluetooth|beacon|beacons|relay|receiver|node|scanner|tracker|hci\d+)$/i;

/** Suggests a room from a receiver's name: "OMG_kitchen" is in the kitchen. Numbers and addresses suggest none. */
export function roomOf(name) {
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").split(/[\s/_.:-]+/)
    .filter((word) => word && !noise.test(word) && !/^([0-9]+|(?=.*[0-9])[0-9a-f]{4,})$/i.test(word));
  // An address in hexadecimal has no vowels but a and e.
  if (!words.length || (words.length > 2 && words.every((word) => /^[0-9a-f]{2}$/i.test(word)))) return "";
  const text = words.map((word) => joined[word.toLowerCase()] || word.toLowerCase()).join(" ");
  return text[0].toUpperCase() + text.slice(1);
}
