// Settings: the secrets of the console. They can be set and replaced, but never shown.

import { get, isReadOnly, pathOf, send } from "./api.js";
import { confirmed, el, empty, follow, patch, problemNode, show, showProblem, text, toast } from "./dom.js";
import { formDialog, textField } from "./form.js";
import { shortTime } from "./format.js";

export const title = "Secrets";

export function open(root) {
  const fault = problemNode();
  const list = el("ul.rows", { "aria-label": "Secrets" });
  const none = empty("No secrets are stored", "Passwords and keys that you enter in the console are stored here. The file can use them, too: { secret: NAME }.");
  none.hidden = true;
  const add = isReadOnly() ? null : el("button.primary", { type: "button", click: () => secretForm(null, load) }, "Set a secret");
  root.append(el("div.section-head", null, el("div", null, el("h2", null, "Secrets"), el("p.hint", null, "Passwords and keys. They are never shown, and no backup contains them.")), add), fault, none, list);

  const load = async () => {
    const { secrets } = await get("v1/secrets");
    show(none, !secrets.length);
    patch(list, secrets, (secret) => secret.name, (secret) => el("li.setting", null,
      el("div.setting-text", null, el("p.name", null, secret.name), el("p.identity")),
      el("div.setting-actions", null, ...(isReadOnly() ? [] : [
        el("button.small", { type: "button", "aria-label": `Replace ${secret.name}`, click: () => secretForm(secret.name, load) }, "Replace"),
        el("button.small", { type: "button", "aria-label": `Remove ${secret.name}`, click: () => remove(secret.name) }, "Remove")]))),
    (node, secret) => text(node.querySelector(".identity"), `Set ${shortTime(secret.time, Date.now() / 1000)}. ${secret.uses.length ? `Used by ${secret.uses.join(", ")}.` : "Not used."}`));
  };

  async function remove(name) {
    if (!await confirmed(`Remove the secret ${name}?`, "It cannot be restored.", "Remove")) return;
    try {
      await send("DELETE", pathOf("v1/secrets", name));
      showProblem(fault, null);
      toast(`${name} is removed`);
      await load();
      add?.focus();
    } catch (problem) {
      if (problem.status === 0) toast("The connection is lost; nothing has changed.");
      showProblem(fault, problem);
    }
  }
  return follow(load, 10000, fault, ["secrets"]);
}

function secretForm(former, load) {
  const name = textField("name", "Name", { help: "Letters, digits, hyphens, underscores and dots. The configuration refers to it by this name.", attributes: { maxlength: 100, autocapitalize: "none" } });
  const value = textField("value", former ? "New value" : "Value", { help: "It is never shown again.", attributes: { type: "password", autocomplete: "new-password" } });
  formDialog({
    title: former ? `Replace the secret ${former}` : "A new secret", fields: former ? [value] : [name, value], verb: former ? "Replace" : "Set the secret",
    check: () => [...(former || name.value() ? [] : [{ key: "name", detail: "write a name" }]), ...(value.value() ? [] : [{ key: "value", detail: "write the secret" }])],
    send: async () => {
      const chosen = former || name.value();
      await send("PUT", pathOf("v1/secrets", chosen), { value: value.input.value });
      toast(`${chosen} is set`);
      load().catch(() => {});
    },
  });
}
