// The server: requests, event streams, and the state of the connection. All addresses are relative, since the console
// can also run below a path.

/** An error that the server reported, or a request that did not reach it (status 0). */
export class Problem extends Error {
  constructor(status, title, detail, errors) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.errors = errors || [];
  }
}

const listeners = { connection: new Set(), event: new Set(), state: new Set(), resumed: new Set(), status: new Set() };

/** Calls the function on "connection", "event", "state", "resumed" or "status". Returns a function that ends this. */
export function on(kind, listener) {
  listeners[kind].add(listener);
  return () => listeners[kind].delete(listener);
}
const emit = (kind, value) => { for (const listener of [...listeners[kind]]) listener(value); };

/** The connection's state ("connecting", "live" or "lost"), the time of the last contact, and the sentence for an
 *  expected absence, such as a restart of beacond. */
export const connection = { state: "connecting", heard: null, expected: null };

/** The newest status of the server, or null before the first. */
export const server = { status: null };

/** True if the server accepts no changes, and before that is known. */
export const isReadOnly = () => server.status?.readOnly !== false;

/** Announces that the server will be away briefly, and why; null ends the announcement. */
export function expectAbsence(sentence) {
  connection.expected = sentence;
  emit("connection", connection);
}

let skew = 0;
/** The server's time. While the connection is lost, it is the time of the last contact. */
export const now = () => (connection.state === "lost" && connection.heard ? connection.heard : Date.now() / 1000) + skew;

function heard() { connection.heard = Date.now() / 1000; }

function change(state) {
  if (connection.state === state) return;
  const before = connection.state;
  connection.state = state;
  emit("connection", connection);
  if (state === "live" && before === "lost") emit("resumed");
}

let askForToken = () => Promise.reject(new Problem(401, "A token is needed"));
let asking = null;
/** Sets the function that asks for the token. The function returns once a session is open. */
export function onTokenNeeded(ask) { askForToken = ask; }

let offered = null;
/** Keeps a token in memory. It is tried once before the user is asked for one. */
export function offerToken(token) { offered = token; }

async function tryOffered() {
  try {
    await openSession({ token: offered });
    offered = null;
  } catch (problem) {
    // If beacond is away, keep the token and try it again.
    if (problem.status !== 0) offered = null;
    throw problem;
  }
}

function signIn() {
  asking ??= (offered ? tryOffered() : askForToken()).finally(() => { asking = null; });
  return asking;
}

async function problem(response) {
  let details = {};
  if ((response.headers.get("Content-Type") || "").includes("json")) details = await response.json().catch(() => ({}));
  return new Problem(response.status, details.title || `HTTP ${response.status}`, details.detail, details.errors);
}

const patience = 10000;
/** The timeout of uploads and of requests that read the whole history. */
const longPatience = 120000;

async function request(path, options = {}, again = true) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(patience), ...options });
  } catch (failure) {
    if (failure.name !== "AbortError") lost();
    throw new Problem(0, "beacond cannot be reached");
  }
  heard();
  if (response.status === 401 && again) {
    await signIn();
    return request(path, options, false);
  }
  // A proxy answers, but its beacond is not running.
  if (response.status === 502 || response.status === 503 || response.status === 504) lost();
  if (!response.ok) throw await problem(response);
  try {
    return response.status === 204 ? null : await response.json();
  } catch {
    throw new Problem(response.status, "The answer is not JSON; something other than beacond may have answered");
  }
}

/** Returns the JSON of a path. */
export const get = (path) => request(path);

/** Sends JSON to a path, and returns the answer's JSON. */
export const send = (method, path, body) => request(path, {
  method, body: JSON.stringify(body), headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), "X-Beacon-Console": "1" },
});

/** Sends JSON with a longer timeout, for requests that read the whole history or compute for long. A signal ends it. */
export const sendSlowly = (method, path, body, signal) => request(path, {
  method, body: JSON.stringify(body), signal: signal ? AbortSignal.any([AbortSignal.timeout(longPatience), signal]) : AbortSignal.timeout(longPatience),
  headers: { "Content-Type": "application/json", "X-Beacon-Console": "1" },
});

/** Sends a file of a media type, and returns the answer's JSON. */
export const upload = (method, path, file, type) => request(path, {
  method, body: file, signal: AbortSignal.timeout(longPatience), headers: { "Content-Type": type, "X-Beacon-Console": "1" },
});

/** Sends JSON, and calls the handlers, by name, with the events of the answer's stream until it ends. */
export async function stream(path, body, handlers, signal, again = true) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST", body: JSON.stringify(body), cache: "no-store", credentials: "same-origin", signal,
      headers: { "Content-Type": "application/json", "X-Beacon-Console": "1" },
    });
  } catch {
    if (!signal.aborted) lost();
    throw new Problem(0, "beacond cannot be reached");
  }
  heard();
  if (response.status === 401 && again) {
    await signIn();
    return stream(path, body, handlers, signal, false);
  }
  if (!response.ok) throw await problem(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    heard();
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event) || [];
      if (name && handlers[name]) handlers[name](JSON.parse(data));
    }
  }
}

/** Returns a path with a name that can contain any character. */
export const pathOf = (path, name) => `${path}/${encodeURIComponent(name)}`;

/** Opens a session with `{ token }` or `{ code }`. Throws a problem if it is refused. */
export async function openSession(credentials) {
  const response = await fetch("v1/session", {
    method: "POST", body: JSON.stringify(credentials), credentials: "same-origin", signal: AbortSignal.timeout(patience),
    headers: { "Content-Type": "application/json", "X-Beacon-Console": "1" },
  }).catch(() => { throw new Problem(0, "beacond cannot be reached"); });
  if (!response.ok) throw await problem(response);
}

/** Returns a query of the parameters that have a value. */
export function query(parameters) {
  const pairs = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) if (value !== null && value !== undefined && value !== "") pairs.append(key, value);
  const text = pairs.toString();
  return text ? `?${text}` : "";
}

/** A stream of server-sent events that reconnects by itself, even after the browser gives up. */
export class Stream {
  constructor(path, handlers, status = () => {}) {
    this.path = path;
    this.handlers = handlers;
    this.status = status;
    this.delay = 1000;
    this.open();
  }

  open() {
    const source = new EventSource(this.path);
    this.source = source;
    source.onopen = () => { this.delay = 1000; heard(); this.status(true); };
    source.onerror = () => {
      this.status(false);
      if (source.readyState === EventSource.CLOSED) this.again();
    };
    for (const [name, handler] of Object.entries(this.handlers)) {
      source.addEventListener(name, (message) => {
        heard();
        let data;
        try { data = JSON.parse(message.data); } catch { return; }
        handler(data);
      });
    }
  }

  /** Reopens a refused stream. Requests the status first, which asks for a token if one is needed. */
  again() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try { await get("v1/status"); } catch { /* Tried again below. */ }
      if (!this.closed) this.open();
    }, this.delay);
    this.delay = Math.min(this.delay * 2, 15000);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.source.close();
  }
}

/** Opens a stream while the page is visible, and closes it a minute after the page is hidden. Returns a function that
 *  ends this. */
export function whileSeen(open) {
  let stream = document.hidden ? null : open();
  let timer = null;
  const change = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => { stream?.close(); stream = null; }, 60000);
    else stream ??= open();
  };
  document.addEventListener("visibilitychange", change);
  return () => {
    document.removeEventListener("visibilitychange", change);
    clearTimeout(timer);
    stream?.close();
  };
}

let events = null;
let gap = false;
let retry = null;
let retryDelay = 1000;

function lost() {
  change("lost");
  if (!retry) retry = setTimeout(tryNow, retryDelay);
}

/** Tries to reach the server now. */
export async function tryNow() {
  clearTimeout(retry);
  retry = null;
  retryDelay = Math.min(retryDelay * 1.6, 15000);
  try { await status(); } catch { /* `lost` has scheduled the next try, or the status has the reason. */ }
  if (connection.state === "lost" && !retry) retry = setTimeout(tryNow, retryDelay);
}

/** Returns the server's status, which proves that the connection works. */
export async function status() {
  const answer = await get("v1/status");
  skew = answer.time - Date.now() / 1000;
  if (Math.abs(skew) < 1.5) skew = 0;
  retryDelay = 1000;
  clearTimeout(retry);
  retry = null;
  change("live");
  const before = server.status;
  server.status = answer;
  if (!before || standing(before) !== standing(answer)) emit("status", answer);
  return answer;
}

/** Returns the parts of a status that pages depend on. */
const standing = ({ setup, readOnly, programs, destinations, configuration }) => JSON.stringify([setup, readOnly, programs, destinations, configuration]);

function openEvents() {
  events ??= new Stream("v1/events/stream", {
    event: (event) => emit("event", event),
    state: (state) => emit("state", state),
  }, (open) => {
    if (open) {
      if (connection.state !== "live") tryNow();
      // State changes have no ids, so the server does not repeat missed ones. Load everything again.
      else if (gap) emit("resumed");
      gap = false;
    } else {
      gap = true;
      // Only the stream may have ended. The status decides.
      if (connection.state === "live") status().catch(() => {});
    }
  });
}

function closeEvents() {
  events?.close();
  events = null;
}

let hiddenTimer = null;
/** Opens the event stream and watches the connection. A hidden page closes the stream after a minute. */
export function start() {
  openEvents();
  setInterval(() => {
    if (document.hidden || connection.state !== "live" || Date.now() / 1000 - connection.heard < 10) return;
    status().catch(() => {});
  }, 5000);
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) {
      hiddenTimer = setTimeout(closeEvents, 60000);
    } else if (!events) {
      openEvents();
      tryNow();
      emit("resumed");
    }
  });
  addEventListener("online", tryNow);
  addEventListener("pagehide", closeEvents);
  addEventListener("pageshow", (event) => { if (event.persisted) { openEvents(); emit("resumed"); } });
}
