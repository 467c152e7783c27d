// The names, descriptions and ranges of configuration keys, from its schema, for forms.

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

/** Returns fields for the items of a list, such as `regions` or `launch.rules`. Each of `text`, `area`, `check`,
 *  `chips` and `pairs` takes a key and options that replace the schema's, and `label`. `range(key)` is `[least, most]`.
 *  */
export async function settingFields(list) {
  schema ||= await get("v1/schema.json");
  const mapping = list.split(".").reduce((inside, key) => inside.properties[key], schema);
  const keys = flatten(mapping.items, "", {});
  // Markdown's code marks are not useful here.
  const words = (key) => ({ help: keys[key].description.replaceAll("`", "") });
  const line = (key, { attributes, ...options } = {}) => ({ ...words(key), ...options, attributes: { placeholder: keys[key].default, ...attributes } });
  const name = (key, options) => options?.label || keys[key].title;
  const range = (key) => [keys[key].minimum, keys[key].maximum];
  return {
    text: (key, options) => textField(key, name(key, options), line(key, options)),
    area: (key, options) => areaField(key, name(key, options), line(key, options)),
    check: (key, options) => checkField(key, name(key, options), { ...words(key), ...options }),
    chips: (key, choices, options) => chipsField(key, name(key, options), choices, { ...words(key), ...options }),
    pairs: (key, options) => pairsField(key, name(key, options), { ...words(key), ...options }),
    range, rangeFault: (key) => `a whole number from ${range(key).join(" to ").replaceAll("-", "−")}`,
  };
}
