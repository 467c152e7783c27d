// Settings: the apps that may send events, and their secrets, which are shown once.

import { get, isReadOnly, pathOf, send } from "./api.js";
import { codeBlock, confirmed, el, empty, follow, patch, problemNode, show, showProblem, text, toast } from "./dom.js";
import { formDialog, showDialog, textField } from "./form.js";
import { counted } from "./format.js";
import { fileWords, originBadge } from "./settings-list.js";

export const title = "Apps";

export function open(root) {
  const fault = problemNode();
  const list = el("ul.rows", { "aria-label": "Apps" });
  const none = empty("There are no apps", "An app on your visitors’ phones can report beacons to beacond, and receive messages from rules. Add it here, and give its developers the key and the secret.");
  const hint = el("p.hint", { hidden: true });
  none.hidden = true;
  const add = isReadOnly() ? null : el("button.primary", { type: "button", click: () => appForm(load) }, "Add an app");
  root.append(el("div.section-head", null, el("div", null, el("h2", null, "Apps"), el("p.hint", null, "Apps send events and fetch messages with a key and a secret.")), add), fault, none, list, hint);

  const load = async () => {
    const { apps } = await get("v1/apps");
    show(none, !apps.length);
    show(hint, apps.some((app) => app.origin === "file"));
    text(hint, fileWords());
    patch(list, apps, (app) => `${app.origin} ${app.name}`, (app) => el("li.setting", null,
      el("div.setting-text", null, el("p.name", null, app.name, " ", originBadge(app)), el("p.identity", null, "Key ", el("code", null, app.key)), el("p.identity.tally")),
      el("div.setting-actions", null, app.origin === "console" && !isReadOnly() ? el("button.small", { type: "button", "aria-label": `Remove ${app.name}`, click: () => remove(app.name) }, "Remove") : null)),
    (node, app) => text(node.querySelector(".tally"), app.installs ? counted(app.installs, "install") : "No install has sent anything yet"));
  };

  async function remove(name) {
    if (!await confirmed(`Remove the app ${name}?`, "beacond no longer accepts its key and secret. The app’s installs can neither send events nor fetch messages.", "Remove")) return;
    try {
      await send("DELETE", pathOf("v1/apps", name));
      toast(`${name} is removed`);
      await load();
      add?.focus();
    } catch (problem) {
      if (problem.status === 0) toast("The connection is lost; nothing has changed.");
      showProblem(fault, problem);
    }
  }
  return follow(load, 10000, fault, ["apps", "installs"]);
}

function appForm(load) {
  const name = textField("name", "Name", { help: "Your name for the app.", attributes: { maxlength: 100 } });
  let made = null;
  const { dialog } = formDialog({
    title: "A new app", fields: [name], verb: "Add the app",
    check: () => (name.value() ? [] : [{ key: "name", detail: "write a name" }]),
    send: async () => { made = await send("POST", "v1/apps", { name: name.value() }); },
  });
  dialog.addEventListener("close", () => {
    if (!made) return;
    load().catch(() => {});
    showSecret(made);
  });
}

/** Shows the secret, which cannot be requested again. */
function showSecret({ name, key, secret }) {
  showDialog({
    title: `Key and secret of ${name}`, verb: "I have saved it", content: [
      el("p.notice.warn", null, "The secret is shown only once; beacond stores only its hash. If it is lost, remove the app and add it again."),
      el("h3", null, "Key"), codeBlock(key), el("h3", null, "Secret"), codeBlock(secret),
      el("p.hint", null, "The app sends both with each request, using HTTP Basic authentication: the key is the user name, the secret is the password."),
    ],
  });
}
