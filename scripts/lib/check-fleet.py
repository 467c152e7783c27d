#!/usr/bin/env python3
"""Checks a fleet of machines in network namespaces. Run by scripts/check-fleet."""
import argparse
import base64
import gzip
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOG = ROOT / "../shared/data/presence/four-scanners.sightings.ndjson.gz"
UUID = "daf246ce-8363-11e4-b116-123b93f75cba"
# The status with which scripts/slow-checks treats a check as skipped.
SKIPPED = 77
PROGRAMS = pathlib.Path(os.environ.get("PROGRAMS", ROOT / ".build/debug"))

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=150, help="how many seconds of the recording to play, in real time")
parser.add_argument("--begin", type=float, default=120, help="where in the recording to begin, in seconds")
parser.add_argument("--kills", type=int, default=8, help="how many faults to cause")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--keep", action="store_true", help="keep the machines' logs")
arguments = parser.parse_args()
chance = random.Random(arguments.seed)

if not LOG.exists():
    print("check-fleet: skipped: there are no recordings (../shared/data)")
    sys.exit(SKIPPED)
if os.geteuid() != 0 or subprocess.run(["ip", "netns", "add", "bf-probe"], capture_output=True).returncode != 0:
    print("check-fleet: skipped: run it as root; it creates network namespaces")
    sys.exit(SKIPPED)
subprocess.run(["ip", "netns", "del", "bf-probe"])

folder = pathlib.Path(tempfile.mkdtemp(prefix="check-fleet-"))
SERVERS, WORKERS, RECEIVERS = ["s1", "s2", "s3"], ["w1", "w2", "w3"], ["r1", "r2", "r3", "r4"]
ADDRESS = {name: f"10.217.0.{index + 10}" for index, name in enumerate(SERVERS + WORKERS + RECEIVERS)}
HOST = "10.217.0.1"


def run(*words):
    subprocess.run(words, check=True, capture_output=True)


def clear():
    for name in ADDRESS:
        subprocess.run(["ip", "netns", "del", f"bf-{name}"], capture_output=True)
    subprocess.run(["ip", "link", "del", "bf-bridge"], capture_output=True)


def network():
    clear()
    run("ip", "link", "add", "bf-bridge", "type", "bridge")
    run("ip", "addr", "add", f"{HOST}/24", "dev", "bf-bridge")
    run("ip", "link", "set", "bf-bridge", "up")
    for name, address in ADDRESS.items():
        run("ip", "netns", "add", f"bf-{name}")
        run("ip", "link", "add", f"bf-{name}", "type", "veth", "peer", "name", "eth0", "netns", f"bf-{name}")
        run("ip", "link", "set", f"bf-{name}", "master", "bf-bridge", "up")
        run("ip", "-n", f"bf-{name}", "addr", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", f"bf-{name}", "link", "set", "eth0", "up")
        run("ip", "-n", f"bf-{name}", "link", "set", "lo", "up")


class Machine:
    """A program in its own network namespace, which can be killed, stopped and disconnected."""

    def __init__(self, name, command, skew=0):
        self.name, self.command, self.skew = name, command, skew
        self.process = None

    def start(self):
        log = open(folder / f"{self.name}.log", "ab")
        # A different boot time, so that the machines' clocks differ.
        clock = ["unshare", "--time", "--boottime", str(self.skew), "--"] if self.skew else []
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", f"bf-{self.name}", *clock, *self.command], stdout=log, stderr=log,
            start_new_session=True)

    def signal(self, number):
        # To the whole group, since `unshare` runs the program as a child.
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()

    def link(self, is_up):
        run("ip", "link", "set", f"bf-{self.name}", "up" if is_up else "down")


# MARK: the recording

def recording():
    """Returns the sightings to play, without those of unmonitored beacons."""
    first, found = None, []
    with gzip.open(LOG, "rt") as lines:
        for line in lines:
            sighting = json.loads(line)
            first = first or sighting["time"]
            passed = sighting["time"] - first - arguments.begin
            if 0 <= passed < arguments.seconds and sighting["uuid"] == UUID:
                found.append((passed, sighting))
    return found


def play(sightings, pipes, began, down):
    """Writes each sighting to its receiver's pipe at its time. Sightings that no receiver reads are lost."""
    writers, fed = {}, []
    receivers = sorted({sighting["receiver"] for _, sighting in sightings})
    place = dict(zip(receivers, RECEIVERS))
    for passed, sighting in sightings:
        wait = began + passed - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        name = place[sighting["receiver"]]
        line = dict(sighting, receiver="radio", time=round(WALL + passed, 3))
        try:
            if name not in writers:
                writers[name] = os.open(pipes[name], os.O_WRONLY | os.O_NONBLOCK)
                # The first line sets the time from which the receiver listens.
                os.write(writers[name], (json.dumps(dict(line, uuid=UUID.replace("8363", "0000"))) + "\n").encode())
            os.write(writers[name], (json.dumps(line) + "\n").encode())
            if name not in down:
                fed.append(dict(sighting, time=round(WALL + passed, 3)))
        except OSError:
            if name in writers:
                os.close(writers.pop(name))
    for writer in writers.values():
        os.close(writer)
    return fed


# MARK: deliveries

delivered, arrivals = {}, 0


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global arrivals
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for event in body if isinstance(body, list) else [body]:
            arrivals += 1
            delivered[event["id"]] = event["data"]
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def log_of_fleet():
    """Returns the complete log of the fleet, read with NATS's protocol."""
    found = []
    for server in SERVERS:
        try:
            connection = socket.create_connection((ADDRESS[server], 4222), 3)
        except OSError:
            continue
        stream = connection.makefile("rwb")
        stream.readline()
        stream.write(b'CONNECT {"verbose":false}\r\nSUB _INBOX.check 1\r\n')
        sequence = 1
        while True:
            request = json.dumps({"seq": sequence, "next_by_subj": "beacons.check.log.*"}).encode()
            stream.write(
                b"PUB $JS.API.STREAM.MSG.GET.beacons-check _INBOX.check %d\r\n%s\r\n" % (len(request), request))
            stream.flush()
            while True:
                words = stream.readline().split()
                if not words:
                    return found
                if words[0] == b"PING":
                    stream.write(b"PONG\r\n")
                    stream.flush()
                if words[0] == b"MSG":
                    answer = json.loads(stream.read(int(words[-1]) + 2))
                    break
            if "message" not in answer:
                return found
            sequence = answer["message"]["seq"] + 1
            found.append(json.loads(base64.b64decode(answer["message"]["data"])))
    raise SystemExit("no NATS server answers")


# MARK: histories

# Runs in a machine's network namespace, since the console listens only on loopback there.
READ_EVENTS = """
import json, sys, urllib.request
events, before = [], None
while True:
    address = "http://127.0.0.1:8099/v1/events?kind=enter,exit&limit=1000" + (f"&before={before}" if before else "")
    page = json.load(urllib.request.urlopen(address, timeout=10))
    events += page["events"]
    before = page["next"]
    if before is None:
        break
json.dump(events, sys.stdout)
"""


def history(name):
    """Returns the enters and exits in a machine's history; None if its console does not answer."""
    answer = subprocess.run(
        ["ip", "netns", "exec", f"bf-{name}", sys.executable, "-c", READ_EVENTS], capture_output=True, text=True)
    return json.loads(answer.stdout) if answer.returncode == 0 else None


def happening(region, kind, seconds):
    return region, kind, round(seconds, 3)


def check_ids(histories):
    """Checks that each event has the same unique id at the webhook and in each history."""
    faults, ids, names = [], {}, {}
    sent = {id: happening(one["region"]["name"], one["kind"], one["time"]) for id, one in delivered.items()}
    for id, one in sent.items():
        ids.setdefault(one, {}).setdefault(id, []).append("the webhook")
        names.setdefault(id, set()).add(one)
    for machine, events in histories.items():
        if events is None:
            faults.append(f"the console of {machine} does not answer")
            continue
        kept = set()
        for event in events:
            one = happening(event["region"], event["kind"], event["time"])
            ids.setdefault(one, {}).setdefault(event["eventId"], []).append(machine)
            names.setdefault(event["eventId"], set()).add(one)
            kept.add(event["eventId"])
        if len(kept) != len(events):
            faults.append(f"the history of {machine} has a repeated event")
        missing = [sent[id] for id in sent if id not in kept]
        if missing:
            faults.append(f"the history of {machine} lacks {len(missing)} delivered events: {missing[:5]}")
    faults += [f"{one} has several ids: {where}" for one, where in ids.items() if len(where) > 1]
    faults += [f"several events have the id {id}: {ones}" for id, ones in names.items() if len(ones) > 1]
    return faults


# MARK: the machines

def configure(minors):
    regions = "".join(
        f"  - {{name: b{major}-{minor}, uuid: {UUID}, major: {major}, minor: {minor}, minimum-rssi: -80}}\n"
        for major, minor in minors)
    servers = ",".join(f"{ADDRESS[server]}:4222" for server in SERVERS)
    machines = {}
    routes = ", ".join(f'"nats://{ADDRESS[server]}:6222"' for server in SERVERS)
    for server in SERVERS:
        (folder / f"{server}.conf").write_text(
            f'server_name: {server}\nlisten: "{ADDRESS[server]}:4222"\njetstream {{ store_dir: "{folder}/{server}" }}\n'
            f'cluster {{ name: fleet, listen: "{ADDRESS[server]}:6222", routes: [{routes}] }}\n')
        machines[server] = Machine(server, ["nats-server", "-c", str(folder / f"{server}.conf")])
    pipes = {}
    for index, name in enumerate(WORKERS + RECEIVERS):
        (folder / name).mkdir()
        is_worker = name in WORKERS
        source = "[]"
        if not is_worker:
            pipes[name] = folder / f"{name}.pipe"
            os.mkfifo(pipes[name])
            source = f'[{{name: radio, from: "{pipes[name]}", receiver: radio}}]'
        (folder / f"{name}.yaml").write_text(
            f"sources: {source}\n"
            + (f"regions:\n{regions}" if is_worker else "regions: []\n")
            + f'fleet: {{servers: "nats://{servers}", name: check, node: {name}, works: {str(is_worker).lower()}, '
            f"delivers: {str(is_worker).lower()}}}\n"
            + (f'destinations:\n  - {{name: hook, type: webhook, url: "http://{HOST}:8390/"}}\n' if is_worker else "")
            + 'web: {listen: "127.0.0.1:8099"}\n'
            + f"outbox: {{path: {folder}/{name}/beacond.sqlite}}\nnotify: {{events: [enter, exit]}}\n")
        machines[name] = Machine(
            name, [str(PROGRAMS / "beacond"), "--config", str(folder / f"{name}.yaml")], skew=index * 1000)
    return machines, pipes


def cause_fault(machines, kinds, down):
    """Causes a random fault of a machine. Returns its description, a function that ends it, and the machine's name."""
    kind = chance.choice(kinds)
    name = chance.choice({"worker": WORKERS, "server": SERVERS, "receiver": RECEIVERS}[kind.split()[1]])
    machine = machines[name]
    if kind.startswith("kill"):
        machine.kill()
        if name in RECEIVERS:
            down.add(name)
        return f"{name} killed", machine.start, name
    if kind.startswith("stop"):
        machine.signal(signal.SIGSTOP)
        return f"{name} stopped", lambda: machine.signal(signal.SIGCONT), name
    if kind.startswith("slow"):
        # The machine runs a fifth of the time.
        is_over = threading.Event()

        def slow():
            while not is_over.is_set():
                machine.signal(signal.SIGSTOP)
                time.sleep(0.4)
                machine.signal(signal.SIGCONT)
                time.sleep(0.1)

        threading.Thread(target=slow).start()
        return f"{name} slow", is_over.set, name
    machine.link(False)
    if name in RECEIVERS:
        down.add(name)
    return f"{name} disconnected", lambda: machine.link(True), name


def one_process(fed, minors):
    """Returns the enters and exits of each region that a single process reports for the same sightings."""
    file = folder / "one.ndjson"
    file.write_text("".join(json.dumps(sighting) + "\n" for sighting in sorted(fed, key=lambda one: one["time"])))
    words = [str(PROGRAMS / "beacon"), "monitor", "--source", str(file), "--json", "--minimum-rssi", "-80"]
    for major, minor in minors:
        words += ["--region", f"b{major}-{minor}={UUID}/{major}/{minor}"]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    changes = {}
    for line in map(json.loads, lines):
        if line["event"] in ("enter", "exit"):
            changes.setdefault(line["region"]["name"], []).append((line["time"], line["event"]))
    return changes


def was(changes, kind, since, until):
    before = [event for at, event in changes if at <= since]
    state = before[-1] if before else "exit"
    return state == kind or any(event == kind and since < at <= until for at, event in changes)


sightings = recording()
minors = sorted({(sighting["major"], sighting["minor"]) for _, sighting in sightings})
network()
server = http.server.ThreadingHTTPServer((HOST, 8390), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
machines, pipes = configure(minors)
happened, failures = [], []
try:
    for machine in machines.values():
        machine.start()
    # The servers elect a leader, and the workers take their partitions.
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        logs = "".join((folder / f"{name}.log").read_text() for name in WORKERS)
        if logs.count("this machine owns partition") - logs.count("this machine leaves partition") >= 16:
            break
        time.sleep(0.5)
    else:
        raise SystemExit("the workers did not take the partitions within 90 s:\n" + logs[-3000:])
    time.sleep(4)

    WALL = time.time()
    began = time.monotonic()
    down, fed = set(), []
    player = threading.Thread(target=lambda: fed.extend(play(sightings, pipes, began, down)))
    player.start()
    kinds = [
        "kill worker", "kill worker", "kill server", "cut worker", "cut server", "stop worker", "stop server",
        "slow server", "kill receiver", "cut receiver",
    ]
    pause = arguments.seconds / (arguments.kills + 1)
    for number in range(arguments.kills):
        time.sleep(max(0, began + pause * (number + 0.6) - time.monotonic()))
        what, mend, name = cause_fault(machines, kinds, down)
        at = time.monotonic() - began
        time.sleep(min(chance.uniform(1, 25), pause * 0.7))
        mend()
        happened.append(f"{at:.0f} s: {what} for {time.monotonic() - began - at:.0f} s")
        print("check-fleet:", happened[-1], flush=True)
        if name in RECEIVERS:
            # Its sightings do not count until it listens again.
            time.sleep(2)
            down.discard(name)
    player.join()
    time.sleep(1)
    end = time.time()
    # All logged events must be delivered, however long the servers need to elect a leader again.
    for machine in machines.values():
        machine.signal(signal.SIGCONT)
    deadline = time.monotonic() + 90
    while True:
        log = log_of_fleet()
        logged = [one for one in log if one["content"].get("region", {}).get("_0", {}).get("kind") in ("enter", "exit")]
        if len(delivered) >= len(logged) or time.monotonic() > deadline:
            break
        time.sleep(1)
    # The history of each machine must have all events, also those from its absence.
    deadline = time.monotonic() + 60
    while True:
        id_faults = check_ids({name: history(name) for name in WORKERS + RECEIVERS})
        if not id_faults or time.monotonic() > deadline:
            break
        time.sleep(2)
    failures += id_faults
finally:
    for name in RECEIVERS + WORKERS + SERVERS:
        if name in machines and machines[name].process:
            machines[name].end()
    clear()

regions = [one["content"]["region"]["_0"] | {"time": one["time"] / 1e9} for one in logged]
wanted = sorted((one["label"][7:], one["kind"], round(one["time"], 3)) for one in regions)
got = sorted((one["region"]["name"], one["kind"], round(one["time"], 3)) for one in delivered.values())
if wanted != got:
    failures.append(f"{len(wanted)} changes are in the log, {len(got)} were delivered: {set(wanted) ^ set(got)}")
ids = [(one["partition"], one["epoch"], one["number"]) for one in log]
if len(set(ids)) != len(ids):
    failures.append("a change is in the log twice")
reference = one_process(fed, minors)
for one in regions:
    # Allows for delays of clocks and messages. The single process has no events after the end.
    if one["time"] > end:
        continue
    if not was(reference.get(one["label"][7:], []), one["kind"], one["time"] - 2.5, one["time"] + 2.5):
        failures.append(
            f"{one['label']} {one['kind']} at {one['time'] - WALL:.1f} s; one process: "
            + str([(round(at - WALL, 1), event) for at, event in reference.get(one["label"][7:], [])]))
for label in {one["label"] for one in regions}:
    kinds = [one["kind"] for one in regions if one["label"] == label]
    if any(one == other for one, other in zip(kinds, kinds[1:])):
        failures.append(f"{label} has two enters or exits in a row: {kinds}")

takeovers = sum(1 for one in log if "takeover" in one["content"])
expected = sum(len(changes) for changes in reference.values())
print(
    f"check-fleet: {len(happened)} faults in {arguments.seconds:.0f} s; {takeovers} takeovers; {len(regions)} changes "
    f"of regions (one process: {expected}), {arrivals} notifications of {len(delivered)} events")
if not regions or len(regions) < expected / 3:
    failures.append("there are too few changes for a result")
if failures:
    print("\n".join(["check-fleet: failed:"] + failures + happened))
    print(f"logs: {folder}")
    sys.exit(1)
if not arguments.keep:
    shutil.rmtree(folder, ignore_errors=True)
