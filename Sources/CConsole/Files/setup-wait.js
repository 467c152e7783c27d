// The guided start: waits for beacond, which restarts its console for a new source or configuration.

import { expectAbsence, get, send, status } from "./api.js";

/** Requests the status once a second until the condition holds. beacond may be away in between. */
export async function waitFor(condition, isEnded = () => false) {
  for (let tries = 0; tries < 120 && !isEnded(); tries += 1) {
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
    try {
      await status();
      if (condition()) return true;
    } catch { /* It is away. */ }
  }
  return false;
}

/** Makes beacond listen with another source, or with a list of sources, and waits until it does. */
export async function listenWith(wanted, isEnded) {
  expectAbsence("beacond is starting to listen. This page continues by itself.");
  try {
    await send("PUT", "v1/setup/source", { source: wanted });
    let now = null;
    const isBack = await waitFor(() => true, isEnded);
    if (isBack) now = await get("v1/setup").catch(() => null);
    return now;
  } finally { expectAbsence(null); }
}
