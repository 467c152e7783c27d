"""Draws a beacon's device page in Home Assistant with headless Chromium (the DevTools protocol)."""

import base64
import json
import pathlib
import re
import shutil

from case_devices import CONSOLE
from home_assistant import ADDRESS
from house import ANNS_HOUSE, FRONT_ROOM, case, configuration, keys
from programs import FOLDER, Program, Timeout, until
from websocket import WebSocket

PICTURE = pathlib.Path(__file__).resolve().parents[3] / "docs/images/home-assistant.png"
WIDTH, HEIGHT = 1200, 680
# Returns the text of the page, including the shadow trees of its components.
TEXT = """(function text(node) {
    if (node.nodeType === 3) return node.textContent;
    if (node.nodeName === 'STYLE' || node.nodeName === 'SCRIPT') return '';
    const nodes = [...(node.shadowRoot ? node.shadowRoot.childNodes : []), ...node.childNodes];
    return nodes.map(text).join(' ');
})(document.body)"""


class Chromium:
    """A page of a browser."""

    def __init__(self):
        self.program = Program(
            "chromium", shutil.which("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--window-size={WIDTH},{HEIGHT}", "--lang=en", f"--user-data-dir={FOLDER}/chromium", "--remote-debugging-port=0",
            "about:blank")
        port, path = self.program.says(r"DevTools listening on ws://127\.0\.0\.1:(\d+)(\S+)").groups()
        self.socket, self.number, self.session = WebSocket(int(port), path), 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise ValueError(f"{method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def sees(self, pattern):
        until(lambda: re.search(pattern, self.evaluate(TEXT) or "", re.S), f"{pattern} does not appear on the page", 90)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def end(self):
        self.socket.close()
        self.program.end()


@case("picture")
def draw(house):
    """Draws the device page of a beacon with all its entities. Runs only with --picture."""
    ha = house.home_assistant
    house.gateway(configuration(
        [FRONT_ROOM, ANNS_HOUSE], [keys(", place: Hall, tracker: true")],
        more=f"places: [{{ name: Hall, receivers: [air] }}]\n{CONSOLE}"))
    carried = house.keys()
    for distance, proximity in ((8, ["far"]), (1.5, ["near", "immediate"])):
        carried.comes(distance)
        until(lambda: ha.state("sensor.hall_ann_s_keys_proximity") in proximity, f"the beacon does not come {proximity[0]}")
    ha.end_welcome()
    chromium = Chromium()
    try:
        tokens = ha.tokens | {"hassUrl": ADDRESS, "clientId": ADDRESS + "/", "expires": 4102444800000}
        stored = {"hassTokens": json.dumps(tokens), "dockedSidebar": json.dumps("always_hidden")}
        chromium.call(
            "Page.addScriptToEvaluateOnNewDocument", source=f"Object.assign(localStorage, {json.dumps(stored)})")
        device = ha.devices()["Ann's keys"]["id"]
        chromium.call("Page.navigate", url=f"{ADDRESS}/config/devices/device/{device}")
        # The order of the page's columns varies.
        for pattern in (r"Device info", r"Proximity\s+(?:immediate|near)", r"Signal strength\s+-\d", r"Activity.*Proximity\s+far"):
            chromium.sees(pattern)
        # The history of the last minutes appears after the text.
        house.settle()
        chromium.picture(PICTURE)
        house.check(PICTURE.stat().st_size > 20_000, "the picture of the device's page exists")
    except Timeout as timeout:
        chromium.picture(FOLDER / "picture.png")
        raise Timeout(f"{timeout}: {chromium.evaluate(TEXT)}") from None
    finally:
        chromium.end()
