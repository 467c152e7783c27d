// People: installs of apps and their users. A person's page has their events and messages, and a form that sends a
// message.

import { get, isReadOnly, now, on, pathOf, query, send } from "./api.js";
import { announce, attribute, confirmed, el, empty, facts, follow, patch, problemNode, setTime, show, showProblem, text, timeNode, toast } from "./dom.js";
import { eventItem } from "./event-item.js";
import { areaField, formDialog, textField } from "./form.js";
import { count, counted, shortTime } from "./format.js";

export const title = "People";

/** Returns a person's name: the user, or the beginning of the install's id. */
const nameOf = (install) => install.user || `Install ${install.id.slice(0, 8)}`;

export function open(root, parameters, rest) {
  let leave = null;
  let current = null;
  function choose(id) {
    current = id;
    leave?.();
    root.replaceChildren();
    leave = id ? openOne(root, id) : openAll(root);
  }
  choose(rest[0]);
  open.change = (given) => {
    choose(given[0]);
    scrollTo(0, 0);
    const heading = root.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  };
  const end = on("status", () => choose(current));
  return () => { end(); leave?.(); };
}

/** Shows another person while the page is open. */
export function change(parameters, rest) { open.change?.(rest); }

/** The most installs that the list has: those with the newest events. */
const listed = 1000;

const address = (install) => `#/people/${encodeURIComponent(install.id)}`;
const attributeItems = (list, attributes) => patch(list, Object.entries(attributes), ([name, value]) => `${name}=${value}`, ([name, value]) => el("li", null, el("span", null, `${name}: `), value));

function openAll(root) {
  const fault = problemNode();
  const lede = el("p.lede");
  const filter = el("input", { type: "search", placeholder: "Filter by user, attribute, app or id", "aria-label": "Filter the people" });
  const list = el("ul.rows.people-rows", { "aria-label": "People" });
  const none = empty("No people yet", "People are the users of your apps. They appear here once an app with a key reports beacons. Add an app under Settings.");
  const noMatch = el("p.hint", { hidden: true });
  none.hidden = true;
  none.append(el("a.button", { href: "#/settings/apps" }, "Settings, Apps"));
  root.append(el("header.page-head", null, el("h1", null, "People"), lede), fault, none, filter, noMatch, list);
  let installs = [];
  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const words = (one) => [one.user, one.id, one.app, ...Object.entries(one.attributes).map(([name, value]) => `${name}: ${value}`)].join(" ").toLowerCase();
    const shown = installs.filter((one) => words(one).includes(wanted));
    show(none, !installs.length);
    show(filter, installs.length > 5 || wanted !== "");
    show(noMatch, installs.length > 0 && !shown.length);
    const isCut = installs.length >= listed;
    text(noMatch, isCut ? `None of the newest ${count(listed)} installs matches the filter.` : "No one matches the filter.");
    text(lede, installs.length ? `${isCut ? "The newest " : ""}${counted(installs.length, "install")} of apps, ${count(installs.filter((one) => one.user).length)} of them with a user; the most recent first.` : "");
    patch(list, shown, (one) => one.id, row, update);
  }
  filter.addEventListener("input", draw);
  return follow(async () => { installs = (await get("v1/installs")).installs; draw(); }, 10000, fault, ["installs", "apps"]);
}

function row(install) {
  return el("li.person", null,
    el("div.who", null, el("a.name", { href: address(install) }), el("span.since")),
    el("ul.attributes"), el("span.seen", null, timeNode("ago")), el("span.waiting"));
}

function update(node, install) {
  text(node.querySelector(".name"), nameOf(install));
  text(node.querySelector(".since"), `${install.app}, ${counted(install.events, "event")}`);
  attributeItems(node.querySelector(".attributes"), install.attributes);
  setTime(node.querySelector("time"), install.lastSeen);
  text(node.querySelector(".waiting"), install.waiting ? `${counted(install.waiting, "message")} waiting` : "");
}

function openOne(root, id) {
  const fault = problemNode();
  const heading = el("h1", null, "Person");
  const lede = el("p.lede");
  const about = el("div.card");
  const attributes = el("ul.attributes");
  const gone = empty("Unknown install", "It was removed, or has never sent anything.");
  gone.hidden = true;
  const messages = el("ul.rows.messages", { "aria-labelledby": "messages-heading" });
  const noMessages = el("p.hint", { hidden: true }, "No messages yet.");
  const list = el("ol.rows.event-rows", { "aria-labelledby": "person-events" });
  const noEvents = el("p.hint", { hidden: true }, "There are no events of this install.");
  const write = isReadOnly() ? null : el("button.primary", { type: "button", click: () => messageForm() }, "Send a message");
  const remove = isReadOnly() ? null : el("button", { type: "button", click: () => forget() }, "Remove…");
  const body = el("div.page", { hidden: true }, about,
    el("section", { "aria-labelledby": "messages-heading" }, el("div.section-head", null, el("h2", { id: "messages-heading" }, "Messages"), write), noMessages, messages),
    el("section", { "aria-labelledby": "person-events" }, el("div.section-head", null, el("h2", { id: "person-events" }, "Latest events"), el("a", { href: `#/events${query({ install: id })}` }, "All of them")), noEvents, list),
    el("div.actions.start", null, remove));
  root.append(el("p.back", null, el("a", { href: "#/people" }, "All people")), el("header.page-head", null, heading, lede), fault, gone, body);
  const opened = new Set();
  let install = null;
  const seen = timeNode("ago");

  const load = async () => {
    const orNull = (problem) => { if (problem.status === 404) return null; throw problem; };
    const [found, kept, events] = await Promise.all([
      get(pathOf("v1/installs", id)).catch(orNull), get(`${pathOf("v1/installs", id)}/messages`).catch(orNull),
      get(`v1/events${query({ install: id, limit: 50 })}`),
    ]);
    install = found;
    show(gone, !install);
    show(body, Boolean(install));
    if (!install) { text(heading, "Person"); return; }
    text(heading, nameOf(install));
    text(lede, install.app);
    setTime(seen, install.lastSeen);
    if (!about.childElementCount) {
      const first = timeNode("ago");
      setTime(first, install.firstSeen);
      about.append(facts([["Last seen", seen], ["First seen", first], ["Events", el("span.tally-events")], ["Install", install.id]]), attributes);
    }
    text(about.querySelector(".tally-events"), count(install.events));
    attributeItems(attributes, install.attributes);
    show(attributes, Object.keys(install.attributes).length > 0);
    const sent = kept?.messages || [];
    show(noMessages, !sent.length);
    patch(messages, sent, (one) => one.id, message, updateMessage);
    const own = events.events.filter((event) => event.install === id).slice(0, 20);
    show(noEvents, !own.length);
    patch(list, own, (event) => event.id, (event) => eventItem(event, opened, (time) => shortTime(time, now())));
  };

  function messageForm() {
    const fields = [
      textField("title", "Title", { optional: true, attributes: { maxlength: 200 } }),
      areaField("text", "Text", { attributes: { rows: 3 } }),
      textField("url", "Address to open", { optional: true, attributes: { type: "url", placeholder: "https://", autocapitalize: "none" } }),
    ];
    formDialog({
      title: `A message to ${nameOf(install)}`, lede: "It waits until the app fetches it.", fields, verb: "Send",
      check: () => (fields[1].value() ? [] : [{ key: "text", detail: "write the text of the message" }]),
      send: async () => {
        const [head, words, url] = fields.map((field) => field.value());
        await send("POST", `${pathOf("v1/installs", id)}/messages`, { title: head || undefined, text: words, url: url || undefined });
        toast("The message waits for the app");
        load().catch(() => {});
      },
    });
  }

  async function forget() {
    if (!await confirmed(`Remove ${nameOf(install)}?`, "The install, its user, attributes and messages are deleted. If its app sends something again, it counts as a new install.", "Remove")) return;
    try {
      await send("DELETE", pathOf("v1/installs", id));
      toast("The install is removed");
      location.hash = "#/people";
    } catch (problem) {
      if (problem.status === 0) toast("The connection is lost; nothing has changed.");
      showProblem(fault, problem);
    }
  }

  const ends = [
    follow(load, 10000, fault, ["installs"]),
    on("event", (event) => { if (event.install === id) { announce(event.summary); load().catch(() => {}); } }),
  ];
  return () => ends.forEach((end) => end());
}

const states = { waiting: "Waiting", taken: "Fetched", delivered: "Delivered", opened: "Opened", dismissed: "Dismissed" };

function message() {
  return el("li.message", null,
    el("div.who", null, el("b.name"), el("p.message-text"), el("a.message-url", { rel: "noreferrer noopener", target: "_blank" }), el("span.since")),
    el("span.message-state", null, el("b.word"), " ", timeNode("ago")));
}

function updateMessage(node, one) {
  text(node.querySelector(".name"), one.title || "");
  show(node.querySelector(".name"), Boolean(one.title));
  text(node.querySelector(".message-text"), one.text);
  const link = node.querySelector(".message-url");
  // Link only addresses that a browser opens as a page. Text from other senders must not run as code.
  const isPage = /^https?:\/\//i.test(one.url || "");
  text(link, one.url || "");
  attribute(link, "href", isPage ? one.url : null);
  show(link, Boolean(one.url));
  text(node.querySelector(".since"), one.rule ? `By the rule ${one.rule}` : "Sent from the console");
  attribute(node, "data-message", one.state);
  text(node.querySelector(".word"), states[one.state] || one.state);
  setTime(node.querySelector("time"), one[one.state] || one.time);
}
