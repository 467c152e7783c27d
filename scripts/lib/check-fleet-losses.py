#!/usr/bin/env python3
"""Checks a fleet whose NATS server loses its data. Run by scripts/check-fleet --losses.

Two machines share one server. While beacons are in their regions, the server is killed, and its data are deleted or
replaced by an older copy. Each later change must reach the webhook and both histories once, and both machines must have
all regions, whichever starts first."""
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("PROGRAMS", ROOT / ".build/debug"))
UUID = "f7826da6-4fa2-4e98-8024-bc5b71e0893e"
folder = pathlib.Path(tempfile.mkdtemp(prefix="check-fleet-losses-"))
failures = []


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Fleet:
    """A NATS server, two machines, the beacons that they hear, and a webhook."""

    def __init__(self, name):
        self.folder, self.name = folder / name.replace(",", "").replace(" ", "-"), name
        self.folder.mkdir()
        self.nats_port, self.hook_port = free_port(), free_port()
        self.web = {"a": free_port(), "b": free_port()}
        self.processes, self.heard, self.delivered = {}, set(), []
        self.is_over = threading.Event()
        fleet = self

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for event in body if isinstance(body, list) else [body]:
                    fleet.delivered.append((event["id"], event["data"]["kind"], event["data"]["region"]["name"]))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.hook = http.server.ThreadingHTTPServer(("127.0.0.1", self.hook_port), Hook)
        threading.Thread(target=self.hook.serve_forever, daemon=True).start()
        (self.folder / "nats.conf").write_text(
            f'listen: "127.0.0.1:{self.nats_port}"\njetstream {{ store_dir: "{self.folder}/nats" }}\n')
        os.mkfifo(self.folder / "pipe")
        regions = "".join(f"  - {{name: b{n}, uuid: {UUID}, major: 1, minor: {n}, exit-timeout: 5}}\n" for n in range(1, 11))
        for node in "ab":
            (self.folder / node).mkdir()
            (self.folder / f"{node}.yaml").write_text(
                (f'sources: [{{name: radio, from: "{self.folder}/pipe"}}]\nregions:\n{regions}' if node == "a" else "sources: []\nregions: []\n")
                + f'fleet: {{servers: "nats://127.0.0.1:{self.nats_port}", name: check, node: {node}, partitions: 4, replicas: 1}}\n'
                + f'destinations:\n  - {{name: hook, type: webhook, url: "http://127.0.0.1:{self.hook_port}/"}}\n'
                + f'web: {{listen: "127.0.0.1:{self.web[node]}"}}\n'
                + f"outbox: {{path: {self.folder}/{node}/beacond.sqlite}}\nnotify: {{events: [enter, exit]}}\n")
        self.start("nats")
        threading.Thread(target=self.play, daemon=True).start()

    def start(self, name):
        words = (
            ["nats-server", "-c", str(self.folder / "nats.conf")] if name == "nats"
            else [str(PROGRAMS / "beacond"), "--config", str(self.folder / f"{name}.yaml")])
        log = open(self.folder / f"{name}.log", "ab")
        self.processes[name] = subprocess.Popen(words, stdout=log, stderr=log)

    def kill(self, name, number=signal.SIGKILL):
        self.processes[name].send_signal(number)
        self.processes[name].wait(30)

    def play(self):
        """Writes four adverts a second of each beacon that is there."""
        writer = None
        while not self.is_over.wait(0.25):
            now = time.time()
            try:
                writer = writer or os.open(self.folder / "pipe", os.O_WRONLY | os.O_NONBLOCK)
                # Another beacon, which makes the time pass.
                for minor in sorted(self.heard) + [99]:
                    line = {"time": round(now, 3), "receiver": "radio", "uuid": UUID, "major": 1, "minor": minor,
                            "measuredPower": -59, "rssi": -60}
                    os.write(writer, (json.dumps(line) + "\n").encode())
            except OSError:
                if writer:
                    os.close(writer)
                writer = None

    def get(self, node, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.web[node]}/v1/{path}", timeout=10) as answer:
                return json.load(answer)
        except OSError:
            return None

    def regions(self, node):
        found = self.get(node, "regions") or []
        return {one["name"]: one["state"] for one in (found["regions"] if isinstance(found, dict) else found)}

    def history(self, node):
        return {one["eventId"] for one in (self.get(node, "events?kind=enter,exit&limit=1000") or {"events": []})["events"]}

    def wait(self, seconds, what, condition):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return True
            time.sleep(0.5)
        failures.append(f"{self.name}: not within {seconds} s: {what}")
        return False

    def end(self):
        self.is_over.set()
        for name in ("a", "b", "nats"):
            if self.processes[name].poll() is None:
                self.kill(name, signal.SIGTERM if name != "nats" else signal.SIGKILL)
        self.hook.shutdown()


def changes(fleet, since):
    return sorted((kind, region) for _, kind, region in fleet.delivered[since:])


def check(name, copy, first, outage):
    """Loses the data of a server: all (no copy) or the part after a copy; while both machines run, or (first) start
    again in an order."""
    fleet = Fleet(name)
    try:
        fleet.start("a")
        time.sleep(3)
        fleet.start("b")
        fleet.wait(60, "both machines have ten regions", lambda: all(len(fleet.regions(node)) == 10 for node in "ab"))
        fleet.heard = {1, 2}
        fleet.wait(30, "two enters", lambda: len(fleet.delivered) == 2)
        if copy:
            fleet.kill("nats")
            shutil.copytree(fleet.folder / "nats", fleet.folder / "copy")
            fleet.start("nats")
            time.sleep(6)
        fleet.heard = {1, 2, 3, 4, 5}
        fleet.wait(40, "five enters", lambda: len(fleet.delivered) == 5)
        time.sleep(4)
        # The loss.
        for node in "ab" if first else "":
            fleet.kill(node)
        fleet.kill("nats")
        shutil.rmtree(fleet.folder / "nats")
        if copy:
            shutil.copytree(fleet.folder / "copy", fleet.folder / "nats")
        time.sleep(outage)
        fleet.start("nats")
        for node in first:
            fleet.start(node)
            time.sleep(5)
        fleet.wait(60, "both machines have ten regions", lambda: all(len(fleet.regions(node)) == 10 for node in "ab"))
        time.sleep(12)
        before = len(fleet.delivered)
        fleet.heard = {6, 7, 8, 9, 10}
        wanted = [("enter", f"b{n}") for n in (10, 6, 7, 8, 9)] + [("exit", f"b{n}") for n in range(1, 6)]
        fleet.wait(60, f"ten changes, each once: {wanted}", lambda: set(wanted) <= set(changes(fleet, before)))
        time.sleep(3)
        if changes(fleet, before) != sorted(wanted):
            failures.append(f"{name}: delivered {changes(fleet, before)}")
        ids = [id for id, _, _ in fleet.delivered]
        if len(set(ids)) != len(ids):
            failures.append(f"{name}: {len(ids) - len(set(ids))} notifications are repeated")
        for node in "ab":
            missing = {id for id, _, _ in fleet.delivered[before:]} - fleet.history(node)
            health = fleet.get(node, "health") or {"status": "not there", "findings": []}
            if missing:
                failures.append(f"{name}: the history of {node} lacks {len(missing)} of {len(fleet.delivered) - before} events")
            if not any("log has lost messages" in one["what"] for one in health["findings"]):
                failures.append(f"{name}: the health of {node} is {health['status']} and does not mention the loss")
            if any(state != ("inside" if region in ("b6", "b7", "b8", "b9", "b10") else "outside") for region, state in fleet.regions(node).items()):
                failures.append(f"{name}: {node} shows {fleet.regions(node)}")
        print(f"check-fleet: {name}: {before} notifications before, {len(fleet.delivered) - before} after the loss", flush=True)
    finally:
        fleet.end()


for name, copy, first, outage in [
    ("deleted while machines run", False, "", 1), ("an older copy while machines run", True, "", 1),
    ("deleted, and away for 20 s", False, "", 20), ("deleted, b first", False, "ba", 1),
    ("an older copy, b first", True, "ba", 1), ("deleted, a first", False, "ab", 1),
]:
    if not sys.argv[1:] or any(word in name for word in sys.argv[1:]):
        check(name, copy, first, outage)
if failures:
    print("\n".join(["check-fleet: failed:"] + failures))
    print(f"logs: {folder}")
    sys.exit(1)
shutil.rmtree(folder, ignore_errors=True)
