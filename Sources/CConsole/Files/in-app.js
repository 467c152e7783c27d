// The page that Kumulos' SDK lays over an app to show messages. It has no data of its own: the app passes each message
// to it. The SDK waits for READY, hides its spinner at MESSAGE_OPENED, and removes the page at MESSAGE_CLOSED.

const app = window.webkit?.messageHandlers?.inAppHost;
const node = (id) => document.getElementById(id);
const tell = (type, data = null) => app?.postMessage({ type, data });
let url = "";
// True from the user's choice until the next message: a second one would be for a message that is not shown yet.
let isClosing = false;

function present(content) {
  const { title, text } = content || {};
  url = typeof content?.url === "string" ? content.url : "";
  // A message without a title is its own heading.
  node("title").textContent = title || text || "";
  node("text").textContent = title ? text || "" : "";
  node("open").hidden = !url;
  node("message").hidden = false;
  isClosing = false;
  node("title").focus();
  tell("MESSAGE_OPENED");
}

function close() {
  if (node("message").hidden) return;
  node("message").hidden = true;
  tell("MESSAGE_CLOSED");
}

/** Called by the app. */
window.postHostMessage = ({ type, data }) => {
  if (type === "PRESENT_MESSAGE") present(data);
  else if (type === "CLOSE_MESSAGE") close();
};

// The SDK answers closeMessage with CLOSE_MESSAGE.
function act(...actions) {
  if (isClosing) return;
  isClosing = true;
  tell("EXECUTE_ACTIONS", { actions: [{ type: "closeMessage" }, ...actions] });
}
node("close").addEventListener("click", () => act());
node("open").addEventListener("click", () => act({ type: "openUrl", data: { url } }));
addEventListener("keydown", (event) => { if (event.key === "Escape" && !node("message").hidden) act(); });

node("browser").hidden = Boolean(app);
tell("READY");
