"""Parts that the checks of beacond's console and backend share: a beacond, a browser, and waiting."""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEACOND = os.path.join(ROOT, ".build", "debug", "beacond")
UUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
HANG = int(os.environ.get("CHECK_HANG", "120"))


def until(condition, what):
    """Waits until `condition` returns a true value, and returns it. A slow machine only takes longer."""
    end = time.monotonic() + HANG
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            sys.exit(f"FAIL: {what}")
        time.sleep(0.05)


class Gateway:
    """A beacond with a console on a separate port."""

    def __init__(self, folder, configuration, environment=None):
        self.folder, self.process = folder, None
        self.environment = dict(os.environ, APP_KEY="key", APP_SECRET="secret", **(environment or {}))
        self.environment.pop("BEACON_SOURCE", None)
        self.path = os.path.join(folder, "beacond.yaml")
        with open(self.path, "w") as file:
            file.write(configuration)
        self.start()

    def start(self):
        self.log = os.path.join(self.folder, "log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [BEACOND, "run", "--config", self.path], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self.environment)
        def address():
            if self.process.poll() is not None:
                sys.exit(f"FAIL: beacond has ended:\n{open(self.log).read()}")
            return re.search(r"the console is at (\S+)/\n", open(self.log).read())
        self.address = until(address, "the console does not listen")[1]
        self.port = int(self.address.rsplit(":", 1)[1])

    def fix_port(self):
        """Makes beacond use the same port at each start."""
        with open(self.path) as file:
            text = file.read()
        with open(self.path, "w") as file:
            file.write(text.replace("127.0.0.1:0", f"127.0.0.1:{self.port}"))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.terminate()
        self.process.wait(HANG)

    def get(self, path, **headers):
        request = urllib.request.Request(self.address + path, headers=headers)
        with urllib.request.urlopen(request, timeout=HANG) as answer:
            return json.load(answer)

    def send_events(self, events, install="install-1", keys="key:secret"):
        """Sends events as Kumulos' SDK does. Returns the status."""
        return self.status(
            f"/v1/app-installs/{install}/events", "POST", events,
            Authorization="Basic " + base64.b64encode(keys.encode()).decode())

    def status(self, path, method="GET", body=None, **headers):
        data = None if body is None else json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            headers.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=HANG) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def send(self, data, wait=True):
        """Sends bytes over a new connection. Returns the answer to the end of its head, or until 5 s without data."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            answer = b""
            try:
                connection.sendall(data)
                while wait and (part := connection.recv(65536)):
                    answer += part
                    if b"\r\n\r\n" in answer:
                        break
            except OSError:
                pass
            return answer


def museum(folder):
    return f"""
sources: [{{ name: museum, from: "simulation:museum?loop" }}]
regions:
  - {{ name: museum, uuid: {UUID} }}
  - {{ name: front room, uuid: {UUID}, major: 1, exit-timeout: 10s }}
beacons: [{{ name: amber, uuid: {UUID}, major: 1, minor: 1 }}]
places: [{{ name: "hall <b>of</b> fame", receivers: [hci0] }}]
intake: {{ apps: [{{ name: museum app, api-key: {{ env: APP_KEY }}, secret-key: {{ env: APP_SECRET }} }}] }}
destinations: [{{ name: crm, type: webhook, url: "http://127.0.0.1:9/nobody" }}]
notify: {{ events: [enter, exit, proximity, gone, place] }}
launch: {{ rules: [{{ name: lights, events: [enter], program: [/bin/true] }}] }}
outbox: {{ path: {folder}/beacond.sqlite }}
web: {{ listen: "127.0.0.1:0" }}
"""


class Browser:
    """Chromium with a window size and a color scheme."""

    def __init__(self, width=1280, height=900, scheme="light"):
        from selenium import webdriver
        options = webdriver.ChromeOptions()
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         f"--window-size={width},{height}"]:
            options.add_argument(argument)
        if shutil.which("chromium"):
            options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def text(self):
        return self.driver.execute_script("return document.body.innerText")

    def sees(self, pattern, what=None):
        until(lambda: re.search(pattern, self.text(), re.S), f"{what or pattern} did not appear:\n{self.text()}")

    def errors(self):
        # Ignores network errors, since the checks cause them.
        return [
            entry["message"] for entry in self.driver.get_log("browser")
            if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]
            and "net::ERR" not in entry["message"]]


def proximity(number, proximity=2, user=None, minor=1):
    """Returns an event as `Kumulos.sendiBeaconProximity(beacon:)` sends it."""
    return {
        "type": "k.engage.beaconEnteredProximity", "uuid": f"event-{number}", "timestamp": int(time.time() * 1000),
        "data": {"type": 1, "uuid": UUID, "major": "1", "minor": str(minor), "proximity": proximity},
        "userId": user or "install-1"}
