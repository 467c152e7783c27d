// The prediction of a plan as a table, in words and in the plan's colors, and one receiver more
// to try.

import { sendSlowly } from "./api.js";
import { el, problemNode, show, showProblem, text } from "./dom.js";

const percent = (share) => `${Math.round(share * 100)}\u00a0%`;

/** Creates the section. `content` returns the plan, `changed` draws it again. Its `trial` is the position of the
 *  receiver that is tried, or null, and `states` the colors of rooms. */
export function forecastSection({ content, size, changed, announce, focus }) {
  const fault = problemNode();
  const start = el("button.primary", { type: "button", click: () => predict() }, "Predict");
  const attempt = el("button", { type: "button", click: () => toggle() }, "Try one more receiver");
  const state = el("p.hint", { role: "status" });
  const place = el("p.hint", null, "The new receiver is the ring on the plan. Drag it to a room, or focus it and use the arrow keys. Then predict again.");
  const result = el("div.forecast");
  const node = el("section.forecast-section", { "aria-labelledby": "forecast-heading" },
    el("div.section-head", null, el("div", null, el("h2", { id: "forecast-heading" }, "What will it hear?"),
      el("p.hint", null, "Before you buy or move a receiver: a simulated tag is carried through all rooms, eight times. The table shows which place beacond would tell: a row for the room of the tag, and the share of the time for each place, ± its standard deviation between walks. It is an estimate, with walls of average strength.")),
    el("div.actions", null, attempt, start)), place, fault, state, result);
  let told = null;
  let running = null;
  let note = "";
  show(place, false);

  function toggle() {
    own.trial = own.trial ? null : size().map((side) => Math.round(side * 5) / 10);
    text(attempt, own.trial ? "Do not try it" : "Try one more receiver");
    show(place, own.trial !== null);
    changed();
    if (own.trial) focus("trial 0");
  }

  async function predict() {
    const plan = content();
    running?.abort();
    const mine = running = new AbortController();
    note = "";
    changed();
    try {
      const answer = await sendSlowly("POST", "v1/plan/forecast", { plan, ...(own.trial ? { receiver: own.trial } : {}) }, mine.signal);
      showProblem(fault, null);
      if (!answer.forecast) {
        note = "It took longer than a minute. Plan a part of the building.";
        return;
      }
      told = { answer, plan: JSON.stringify([plan, own.trial]) };
      result.replaceChildren(...report(answer));
      announce(result.querySelector(".forecast-words")?.textContent || "");
    } catch (problem) {
      if (!mine.signal.aborted) showProblem(fault, problem);
    } finally {
      if (running === mine) running = null;
      if (!mine.signal.aborted) changed();
    }
  }

  const own = {
    node,
    trial: null,
    get states() {
      const forecast = told?.answer.change?.forecast || told?.answer.forecast;
      if (!forecast || isOld()) return null;
      return new Map(forecast.rooms.map((room) => [room, forecast.uncovered.includes(room) ? "uncovered" : forecast.doubtful.some((one) => one.room === room) ? "doubtful" : "covered"]));
    },
    draw() {
      const rooms = content().rooms.length;
      start.disabled = rooms < 2 || running !== null;
      attempt.disabled = rooms < 2;
      const old = isOld() ? "The plan has changed since this prediction." : "";
      text(state, rooms < 2 ? "Draw at least two rooms first." : running ? "A tag walks through the rooms…" : note || old);
      result.classList.toggle("old", isOld());
    },
    end() { running?.abort(); },
  };
  const isOld = () => told !== null && told.plan !== JSON.stringify([content(), own.trial]);
  return own;
}

/** Returns the nodes of an answer. */
function report({ forecast, tried, change }) {
  const after = change?.forecast;
  const nodes = [];
  if (change) {
    const shares = `${percent(forecast.balanced.mean)} → ${percent(after.balanced.mean)}`;
    nodes.push(el("p.forecast-words", null, el("b", null, change.isDifferent ? `One receiver more in ${tried}: rooms are right ${shares} of the time.` : `One receiver more in ${tried} makes no difference in the mean of all rooms: ${shares}.`)));
    if (change.rooms.length) nodes.push(el("ul.forecast-notes", null, ...change.rooms.map((one) => el("li", null, `${one.room}: right ${percent(one.before)} → ${percent(one.after)} of the time`))));
    nodes.push(el("h3", null, "With the receiver"), ...picture(after, "With one receiver more"), el("h3", null, "Without it"));
  }
  nodes.push(...picture(forecast, "As planned", !change));
  return nodes;
}

function picture(forecast, caption, isMain) {
  const { rooms, confusion, balanced, uncovered, doubtful } = forecast;
  const words = el(isMain ? "p.forecast-words" : "p", null, `Right ${percent(balanced.mean)} of the time in the mean of all rooms, ± ${percent(balanced.spread)} between walks.`);
  const notes = [
    ...uncovered.map((room) => {
      const row = confusion[rooms.indexOf(room)];
      const others = rooms.map((name, index) => [name, row[index].mean]).filter(([name]) => name !== room).sort((one, two) => two[1] - one[1]);
      return el("li.bad-text", null, `No receiver covers ${room}: ${others[0][1] >= .005 ? `it is shown as ${others[0][0]} for ${percent(others[0][1])} of the time` : "no place is shown there"}.`);
    }),
    ...doubtful.map(({ room, reported, share }) => el("li.warn-text", null, `The door between ${room} and ${reported} is doubtful: in ${room}, ${reported} is shown for ${percent(share)} of the time.`)),
  ];
  if (!notes.length) notes.push(el("li.good-text", null, "All rooms are covered, and no door is doubtful."));
  const head = el("tr", null, el("th", { scope: "col" }, "In"), ...rooms.map((room) => el("th", { scope: "col" }, room)), el("th", { scope: "col" }, "No place"));
  const body = confusion.map((row, index) => el("tr", null, el("th", { scope: "row" }, rooms[index]), ...row.map((cell, column) => {
    const level = cell.mean < .005 ? "none" : column === index ? (cell.mean >= .85 ? "good" : cell.mean >= .5 ? "fair" : "poor") : cell.mean >= .15 ? "wrong" : "some";
    const node = el("td.cell", { "data-level": column === index && level === "none" ? "poor" : level }, el("span", null, level === "none" && column !== index ? "–" : percent(cell.mean)), cell.spread >= .005 && level !== "none" ? el("small", null, ` ± ${Math.round(cell.spread * 100)}`) : null);
    node.style.setProperty("--share", cell.mean.toFixed(2));
    return node;
  })));
  const scroll = el("div.forecast-scroll", { tabindex: "0", role: "region", "aria-label": `${caption}: the room that is shown in each room` },
    el("table.forecast-table", null, el("caption.offscreen", null, caption), el("thead", null, head), el("tbody", null, ...body)));
  return [words, el("ul.forecast-notes", null, ...notes), scroll];
}
