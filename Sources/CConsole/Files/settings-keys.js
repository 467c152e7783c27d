// The names, meanings and ranges of the keys of the configuration, from its schema, for forms.

import { get } from "./api.js";
import { areaField, checkField, chipsField, pairsField, textField } from "./form.js";

let schema = null;

function flatten(mapping, path, keys) {
  for (const [key, value] of Object.entries(mapping.properties || {})) {
    keys[path + key] = value;
    for (const inside of [value, ...(value.anyOf || [])]) flatten(inside, `${path}${key}.`, keys);
  }
  return keys;
}

/** Fields for the items of a list, as `regions` or `launch.rules`: each of `text`, `area`, `check`, `chips` and `pairs` takes a key, and
 *  options that replace the schema's. `range(key)` is `[least, most]`. */
export async function settingFields(list) {
  schema ||= await get("v1/schema.json");
  const mapping = list.split(".").reduce((inside, key) => inside.properties[key], schema);
  const keys = flatten(mapping.items, "", {});
  // Markdown's quotes are of no use here.
  const words = (key) => ({ help: keys[key].description.replaceAll("`", "") });
  const line = (key, { attributes, ...options } = {}) => ({ ...words(key), ...options, attributes: { placeholder: keys[key].default, ...attributes } });
  const range = (key) => [keys[key].minimum, keys[key].maximum];
  return {
    text: (key, options) => textField(key, keys[key].title, line(key, options)),
    area: (key, options) => areaField(key, keys[key].title, line(key, options)),
    check: (key, options) => checkField(key, keys[key].title, { ...words(key), ...options }),
    chips: (key, choices, options) => chipsField(key, keys[key].title, choices, { ...words(key), ...options }),
    pairs: (key, options) => pairsField(key, keys[key].title, { ...words(key), ...options }),
    range, rangeFault: (key) => `a whole number from ${range(key).join(" to ").replaceAll("-", "−")}`,
  };
}
