// The guided start: a search for receivers, whose reports arrive as a stream.

import { stream } from "./api.js";

/** Searches for the receivers of a source. `found` gets each report, `failed` the problem of a refused search, and
 *  `ended` is called once the stream is over. Returns `{ end() }`. */
export function searchFor(source, { found, failed, ended }) {
  const control = new AbortController();
  stream("v1/setup/listen", source, { found }, control.signal)
    .then(() => { if (!control.signal.aborted) ended?.(); })
    .catch((problem) => { if (!control.signal.aborted) failed(problem); });
  return { end: () => control.abort() };
}
