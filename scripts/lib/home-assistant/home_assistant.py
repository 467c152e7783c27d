"""Home Assistant: its process, its API, and the history of its states and automations."""

import json
import os
import pathlib
import re
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass

from programs import BROKER_PORT, FOLDER, Broker, Program, until
from websocket import WebSocket

# Installed by scripts/lib/home-assistant/install.
ROOT = pathlib.Path(os.environ["HOME_ASSISTANT"])
PORT = 8123
ADDRESS = f"http://127.0.0.1:{PORT}"
# Mounted at the same path in Home Assistant's root.
CONFIG = FOLDER / "config"

# An automation logs this line when it runs. Unlike events, the log also covers Home Assistant's start.
FIRED = re.compile(r"\[homeassistant\.components\.automation\.\S+\] (.+): Running automation actions")
CONFIGURATION = """
homeassistant: { name: Check, country: DE, language: en, time_zone: Europe/Berlin, unit_system: metric,
  latitude: 52.5, longitude: 13.4 }
frontend:
config:
history:
logbook:
zeroconf:
bluetooth:
person:
zone:
automation: !include automations.yaml
automation documents: !include_dir_list documents
template: [{ light: [{ name: Hall, turn_on: [], turn_off: [] }] }]
logger: { default: warning, logs: { homeassistant.components.automation: info } }
"""


@dataclass(frozen=True)
class Change:
    """A change of an entity's state."""

    entity: str
    old: str | None
    new: str | None


class HomeAssistant:
    """Home Assistant, set up, signed in and connected to the broker."""

    def __init__(self):
        (CONFIG / "documents").mkdir(parents=True)
        (CONFIG / "configuration.yaml").write_text(CONFIGURATION)
        (CONFIG / "automations.yaml").write_text("[]")
        self.automations, self.changes, self.states = [], [], {}
        self.tokens = None
        self.start()

    # MARK: the process

    def start(self):
        inside = ["chroot", ROOT, "env", "-i", "HOME=/config", "LANG=C.UTF-8", "PATH=/venv/bin:/usr/bin:/bin"]
        self.program = Program("home-assistant", *inside, "hass", "-c", "/config", "--skip-pip", "--log-no-color")
        until(self.answers, "Home Assistant does not start", 240)
        if self.tokens is None:
            self.sign_up()
        self.connect()
        until(lambda: self.call("get_config")["state"] == "RUNNING", "Home Assistant is not ready", 120)

    def end(self):
        # Otherwise Home Assistant would wait for the connection to end.
        self.socket.close()
        self.program.end()

    def answers(self):
        if self.program.process.poll() is not None:
            raise RuntimeError(f"Home Assistant has ended:\n{self.program.log()[-3000:]}")
        try:
            return self.request("GET", "/manifest.json", token=False)
        except (OSError, ValueError):
            return False

    def log(self):
        """Returns the log, including earlier runs."""
        return (FOLDER / "home-assistant.log").read_text(errors="replace")

    # MARK: signing in

    def sign_up(self):
        """Creates the first user, as the browser does."""
        user = dict(client_id=ADDRESS + "/", name="Owner", username="owner", password="museum", language="en")
        code = self.request("POST", "/api/onboarding/users", user, token=False)["auth_code"]
        self.tokens = self.form("/auth/token", grant_type="authorization_code", code=code)

    def end_welcome(self):
        """Completes the onboarding of the first user. Until then, a browser shows no other page.

        Onboarding adds integrations that need the Internet, such as the weather. A restart waits for them.
        """
        for step in ("core_config", "analytics"):
            self.request("POST", f"/api/onboarding/{step}", {})
        self.request(
            "POST", "/api/onboarding/integration", dict(client_id=ADDRESS + "/", redirect_uri=ADDRESS + "/?auth_callback=1"))

    def renew(self):
        """Gets a new access token, which is valid for half an hour."""
        self.tokens |= self.form("/auth/token", grant_type="refresh_token", refresh_token=self.tokens["refresh_token"])

    def form(self, path, **fields):
        body = urllib.parse.urlencode({"client_id": ADDRESS + "/", **fields}).encode()
        with urllib.request.urlopen(ADDRESS + path, body, timeout=60) as answer:
            return json.load(answer)

    # MARK: HTTP

    def request(self, method, path, body=None, token=True):
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = "Bearer " + self.tokens["access_token"]
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(ADDRESS + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise ValueError(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}") from None
        return json.loads(text) if text else None

    def service(self, name, **data):
        return self.request("POST", "/api/services/" + name.replace(".", "/"), data)

    def flow(self, handler, *answers, kind="flow"):
        """Adds an integration, or changes the options of an entry (`kind`), with answers to its forms."""
        path = f"/api/config/config_entries/{kind}"
        result = self.request("POST", path, {"handler": handler})
        for answer in answers:
            result = self.request("POST", f"{path}/{result['flow_id']}", answer)
        return result

    def answer(self, flow, answer):
        return self.request("POST", f"/api/config/config_entries/flow/{flow['flow_id']}", answer)

    def add_broker(self):
        return self.flow("mqtt", {
            "broker": "127.0.0.1", "port": BROKER_PORT, "protocol": "5", "username": "ha",
            "password": Broker.USERS["ha"], "other_settings": {
                "set_client_cert": False, "set_ca_cert": "off", "transport": "tcp", "tls_insecure": False}})

    # MARK: the WebSocket

    def connect(self):
        self.renew()
        self.socket = WebSocket(PORT, "/api/websocket")
        self.socket.receive()
        self.socket.send(json.dumps({"type": "auth", "access_token": self.tokens["access_token"]}))
        self.socket.receive()
        self.number, self.results, self.arrived = 0, {}, threading.Condition()
        threading.Thread(target=self.listen, args=(self.socket,), daemon=True).start()
        self.call("subscribe_events", event_type="state_changed")
        self.states = {state["entity_id"]: state for state in self.call("get_states")}

    def listen(self, socket):
        try:
            while True:
                message = json.loads(socket.receive())
                for part in message if isinstance(message, list) else [message]:
                    self.take(part)
        except (ConnectionError, OSError):
            pass

    def take(self, message):
        with self.arrived:
            if message["type"] == "result":
                self.results[message["id"]] = message
                self.arrived.notify_all()
            elif message["type"] == "event":
                data = message["event"]["data"]
                entity, old, new = data["entity_id"], data["old_state"], data["new_state"]
                if new is None:
                    self.states.pop(entity, None)
                else:
                    self.states[entity] = new
                change = Change(entity, old and old["state"], new and new["state"])
                if change.old != change.new:
                    self.changes.append(change)

    def call(self, kind, **fields):
        with self.arrived:
            self.number += 1
            number = self.number
            self.socket.send(json.dumps({"id": number, "type": kind, **fields}))
            if not self.arrived.wait_for(lambda: number in self.results, 60):
                raise TimeoutError(f"Home Assistant does not answer {kind}")
            result = self.results.pop(number)
        if not result["success"]:
            raise ValueError(f"{kind}: {result['error']}")
        return result["result"]

    # MARK: its contents

    def state(self, entity):
        found = self.states.get(entity)
        return found and found["state"]

    def attribute(self, entity, name):
        return self.states.get(entity, {}).get("attributes", {}).get(name)

    def entries(self, domain):
        return [entry for entry in self.call("config_entries/get") if entry["domain"] == domain]

    def devices(self, domain="mqtt"):
        """Returns the devices of an integration, by name."""
        entries = {entry["entry_id"] for entry in self.entries(domain)}
        devices = self.call("config/device_registry/list")
        return {device["name"]: device for device in devices if entries & set(device["config_entries"])}

    def entities(self, device=None, domain=""):
        """Returns the ids of the MQTT entities of a device (by name) and a domain."""
        wanted = None
        if device is not None:
            wanted = self.devices().get(device, {}).get("id", "-")
        return sorted(
            entity["entity_id"] for entity in self.call("config/entity_registry/list")
            if entity["platform"] == "mqtt" and entity["entity_id"].startswith(domain)
            and (wanted is None or entity["device_id"] == wanted))

    # MARK: automations

    def automate(self, automations):
        """Replaces all automations. Each is a name with a trigger or a list of triggers."""
        self.automations = [
            {"id": re.sub(r"\W", "_", name).lower(), "alias": name, "actions": [{"event": "check"}], "mode": "parallel",
             "triggers": trigger if isinstance(trigger, list) else [trigger]}
            for name, trigger in automations.items()]
        self.load()

    def load(self):
        (CONFIG / "automations.yaml").write_text(json.dumps(self.automations))
        self.service("automation.reload")

    def document(self, name, text):
        """Adds an automation in YAML, as a user who pastes it."""
        (CONFIG / "documents" / f"{name}.yaml").write_text(text)

    def documents(self):
        return list((CONFIG / "documents").iterdir())

    def mark(self):
        """Returns the current position in the history, for `fired` and `since`."""
        return len(FIRED.findall(self.log())), len(self.changes)

    def fired(self, mark):
        """Returns the names of the automations that ran since a mark."""
        return FIRED.findall(self.log())[mark[0]:]

    def since(self, mark, *entities):
        return [change for change in self.changes[mark[1]:] if not entities or change.entity in entities]

    def troubles(self):
        """Returns the warnings and errors about MQTT in the log, except that earlier cases have restarted the broker."""
        return [
            line for line in self.log().splitlines()
            if re.search(r" (WARNING|ERROR) ", line) and "mqtt" in line.lower() and "The connection was lost" not in line]


def version():
    """Returns the installed version."""
    words = ["chroot", ROOT, "/venv/bin/hass", "--version"]
    return subprocess.run(words, capture_output=True, text=True).stdout.strip()
