// Health: findings with their remedies.

import { get, status } from "./api.js";
import { announce, attribute, codeBlock, el, facts, patch, follow, problemNode, setTime, svg, text, timeNode } from "./dom.js";

export const title = "Health";

const headlines = { good: "All is well", warning: "Something needs attention", failing: "Something fails" };
const severities = { error: "Error", warning: "Warning", note: "Note", good: "Good" };
const shapes = {
  error: "M8 1.5L14.5 8 8 14.5 1.5 8zM8 5v3.5M8 11v.01", warning: "M8 2l6.5 11.5h-13zM8 6.5v3M8 11.5v.01", note: "M8 1.8a6.2 6.2 0 1 0 .01 0M8 7.5v4M8 5v.01", good: "M8 1.8a6.2 6.2 0 1 0 .01 0M5 8.2l2 2 4-4.2",
};

export function open(root) {
  const fault = problemNode();
  const headline = el("p.headline");
  const list = el("ul.findings", { "aria-label": "Findings" });
  const started = timeNode("for");
  const about = el("section", { "aria-labelledby": "about-heading" }, el("h2", { id: "about-heading" }, "This beacond"));
  root.append(el("header.page-head", null, el("h1", null, "Health"), headline), fault, list, about);
  let before = null;

  const load = async () => {
    const answer = await get("v1/health");
    attribute(headline, "data-status", answer.status);
    text(headline, headlines[answer.status] || answer.status);
    if (before && before !== answer.status) announce(headline.textContent);
    before = answer.status;
    patch(list, answer.findings, (finding) => `${finding.severity} ${finding.what} ${finding.remedy}`, (finding) => el(`li.finding`, { "data-severity": finding.severity },
      svg("svg.finding-glyph", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: shapes[finding.severity] || shapes.note })),
      el("div.finding-text", null, el("p", null, el("b", null, `${severities[finding.severity] || finding.severity}: `), finding.what),
        finding.remedy ? codeBlock(finding.remedy) : null)));
  };
  const describe = async () => {
    const answer = await status();
    setTime(started, answer.started);
    about.querySelector("dl")?.remove();
    about.append(facts([["Machine", answer.machine], ["Version", answer.version], ["Running", started],
      ["Configuration", answer.configuration || "none"], ["Changes from here", answer.readOnly ? "not allowed (read-only)" : "allowed"],
      ["Documentation", "the folder docs of swift-beacon; with the packages, /usr/share/doc/swift-beacon"],
      ["Interface for programs", el("a", { href: "v1/openapi.json" }, "openapi.json")]]));
  };
  describe().catch(() => {});
  return follow(load, 5000, fault, ["health", "receivers"]);
}
