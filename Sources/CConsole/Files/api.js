// The server: requests, streams of events, and the state of the connection. All addresses are relative, since the
// console also runs below a path.

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

/** Calls the function on "connection", "event", "state", "resumed" or "status"; returns a function that ends it. */
export function on(kind, listener) {
  listeners[kind].add(listener);
  return () => listeners[kind].delete(listener);
}
const emit = (kind, value) => { for (const listener of [...listeners[kind]]) listener(value); };

/** The connection's state: "connecting", "live" or "lost", when the server was last heard, and the sentence for an absence
 *  that is expected, as while beacond restarts. */
export const connection = { state: "connecting", heard: null, expected: null };

/** The newest status of the server; null before the first. */
export const server = { status: null };

/** True where the server takes no changes, and before that is known. */
export const isReadOnly = () => server.status?.readOnly !== false;

/** Says that the server will be away for a moment, and why; null ends it. */
export function expectAbsence(sentence) {
  connection.expected = sentence;
  emit("connection", connection);
}

let skew = 0;
/** The server's time now; that of the last contact while the connection is lost. */
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
/** Sets the function that asks for the token, and returns once there is a session. */
export function onTokenNeeded(ask) { askForToken = ask; }

let offered = null;
/** Keeps a token, in memory alone, that is shown once where one is needed, before anybody is asked for it. */
export function offerToken(token) { offered = token; }

async function showOffered() {
  try {
    await openSession({ token: offered });
    offered = null;
  } catch (problem) {
    // Where beacond is away, it is shown again.
    if (problem.status !== 0) offered = null;
    throw problem;
  }
}

function signIn() {
  asking ??= (offered ? showOffered() : askForToken()).finally(() => { asking = null; });
  return asking;
}

async function problem(response) {
  let told = {};
  if ((response.headers.get("Content-Type") || "").includes("json")) told = await response.json().catch(() => ({}));
  return new Problem(response.status, told.title || `HTTP ${response.status}`, told.detail, told.errors);
}

const patience = 10000;
/** The patience with uploads and with what reads the whole history. */
const longPatience = 120000;

async function request(path, options = {}, again = true) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(patience), ...options });
  } catch {
    lost();
    throw new Problem(0, "beacond cannot be reached");
  }
  heard();
  if (response.status === 401 && again) {
    await signIn();
    return request(path, options, false);
  }
  // A proxy whose beacond does not run.
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

/** Sends JSON to a path, and returns the answer's. */
export const send = (method, path, body) => request(path, {
  method, body: JSON.stringify(body), headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), "X-Beacon-Console": "1" },
});

/** Sends JSON whose answer takes a while, as one about the whole history. */
export const sendSlowly = (method, path, body) => request(path, {
  method, body: JSON.stringify(body), signal: AbortSignal.timeout(longPatience),
  headers: { "Content-Type": "application/json", "X-Beacon-Console": "1" },
});

/** Sends a file of a media type, and returns the answer's JSON. */
export const upload = (method, path, file, type) => request(path, {
  method, body: file, signal: AbortSignal.timeout(longPatience), headers: { "Content-Type": type, "X-Beacon-Console": "1" },
});

/** A path with a name in it that may hold any character. */
export const pathOf = (path, name) => `${path}/${encodeURIComponent(name)}`;

/** Opens a session with `{ token }` or `{ code }`; throws a problem if it is refused. */
export async function openSession(credentials) {
  const response = await fetch("v1/session", {
    method: "POST", body: JSON.stringify(credentials), credentials: "same-origin", signal: AbortSignal.timeout(patience),
    headers: { "Content-Type": "application/json", "X-Beacon-Console": "1" },
  }).catch(() => { throw new Problem(0, "beacond cannot be reached"); });
  if (!response.ok) throw await problem(response);
}

/** A query of the parameters that have a value. */
export function query(parameters) {
  const pairs = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) if (value !== null && value !== undefined && value !== "") pairs.append(key, value);
  const text = pairs.toString();
  return text ? `?${text}` : "";
}

/** A stream of Server-Sent Events that reconnects by itself, also where the browser gives up. */
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

  /** The server refused the stream: asks why (which asks for a token if one is needed), and opens it again. */
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

/** Opens a stream once the page is seen, and closes it a minute after the page was hidden, until the page is seen again. Returns a function
 *  that ends it. */
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

/** Tries to reach the server at once. */
export async function tryNow() {
  clearTimeout(retry);
  retry = null;
  retryDelay = Math.min(retryDelay * 1.6, 15000);
  try { await status(); } catch { /* `lost` has set the next try, or the status says why. */ }
  if (connection.state === "lost" && !retry) retry = setTimeout(tryNow, retryDelay);
}

/** Returns the status of the server, by which the connection is known to be good. */
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

/** What pages depend on, of all that a status says. */
const standing = ({ setup, readOnly, programs, destinations, configuration }) => JSON.stringify([setup, readOnly, programs, destinations, configuration]);

function openEvents() {
  events ??= new Stream("v1/events/stream", {
    event: (event) => emit("event", event),
    state: (state) => emit("state", state),
  }, (open) => {
    if (open) {
      if (connection.state !== "live") tryNow();
      // Changes of lists have no ids, so that those of the gap are not sent again: everything is fetched anew.
      else if (gap) emit("resumed");
      gap = false;
    } else {
      gap = true;
      // The stream may have been ended alone: the status decides.
      if (connection.state === "live") status().catch(() => {});
    }
  });
}

function closeEvents() {
  events?.close();
  events = null;
}

let hiddenTimer = null;
/** Opens the stream of events, and watches the connection. A page that nobody sees lets go of it after a minute. */
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
