// The session: sign-in by link or token, and sign-out.

import { openSession, send } from "./api.js";
import { el, text } from "./dom.js";

/** Removes the one-time code from the address (`#code=…`), before anything else reads or stores the address. */
export function takeCode() {
  const found = /^#code=(.+)$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  try { return decodeURIComponent(found[1]); } catch { return found[1]; }
}

/** Opens a session with a code. Returns the reason for a refusal, or null. */
export async function signInByCode(code) {
  try {
    await openSession({ code });
    return null;
  } catch (problem) {
    if (problem.status === 0) return "beacond cannot be reached. Open the link again once it runs.";
    return `The link did not sign you in: ${problem.message}`;
  }
}

/** Ends the session and reloads the page. */
export async function signOut() {
  await send("DELETE", "v1/session");
  location.hash = "#/";
  location.reload();
}

/** Asks for the token in a dialog. Resolves once a session is open. The sentence describes an earlier attempt. */
export function askForToken(sentence) {
  return new Promise((resolve) => {
    const field = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true, "aria-describedby": "token-help token-problem", autofocus: true });
    const fault = el("p.field-problem", { id: "token-problem", role: "alert" }, sentence || "");
    const button = el("button.primary", null, "Sign in");
    const form = el("form", null,
      el("h1", { id: "token-title" }, "A token is needed"),
      el("p", { id: "token-help" }, "Enter the token of this console, or open the link that ", el("code", null, "beacond open"), " prints. The browser stores a session, not the token."),
      el("div.field", null, el("label", { for: "token" }, "Token"), field, fault),
      el("div.actions", null, button));
    const dialog = el("dialog.dialog", { "aria-labelledby": "token-title" }, form);
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      text(fault, "");
      try {
        await openSession({ token: field.value.trim() });
        dialog.close();
        dialog.remove();
        resolve();
      } catch (problem) {
        text(fault, problem.status === 401 || problem.status === 403 ? "This token is not accepted." : problem.message);
        field.select();
      }
      button.disabled = false;
    });
    document.getElementById("dialogs").append(dialog);
    dialog.showModal();
  });
}
