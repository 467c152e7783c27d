#!/usr/bin/env python3
"""Measures how soon beacond starts the programs of rules, with slow and locked disks, and what kill -9 costs.

usage: Benchmarks/rules/measure.py [--beacons N] [--kills N] [BEACOND]      .build/release/beacond by default

A gateway posts adverts ten times a second. N beacons (40) appear one after another, at random times. A rule for near and a
rule for enter start a program, which writes the present time. Each line is a disk, with the 50th and 99th percentile of
the times from the decision (the time of the event) and from the first advert to the start of the program, in ms.

Then beacond is killed N times (200) while beacons appear. A rule starts a program for each enter and notifies a webhook.
Afterwards no program has run twice for an event, and each event that the rules have handled has one notification.

Last, ten rules notify a closed port of 110 beacons at once: 1100 notifications must wait.
"""

import argparse
import contextlib
import http.server
import json
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("--beacons", type=int, default=40)
parser.add_argument("--kills", type=int, default=200)
parser.add_argument("beacond", nargs="?", default=".build/release/beacond")
options = parser.parse_args()
BEACOND = os.path.abspath(options.beacond)
UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
TOKEN = "0123456789abcdef"
SLOW_SYNC = r"""
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int slow(long call, int file) {
    const char *delay = getenv("SYNC_MICROSECONDS");
    if (delay) usleep(atoi(delay));
    return (int)syscall(call, file);
}
int fsync(int file) { return slow(SYS_fsync, file); }
int fdatasync(int file) { return slow(SYS_fdatasync, file); }
"""
# Appends the time of its start and the event to a file, in one write.
STAMP = r"""
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(int count, char **words) {
    static char line[8192];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int length = sprintf(line, "%lld.%09ld ", (long long)now.tv_sec, now.tv_nsec);
    ssize_t bytes = read(0, line + length, sizeof line - length);
    int file = open(words[count - 1], O_WRONLY | O_APPEND | O_CREAT, 0644);
    return write(file, line, length + bytes) < 0;
}
"""


class Webhook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ids = {}

    def do_POST(self):
        event = json.loads(self.rfile.read(int(self.headers["content-length"])))["data"]
        Webhook.ids.setdefault(event["beacon"]["major"], set()).add(event["id"])
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Daemon:
    """A beacond with rules, and a gateway that posts the beacons of `present` to it."""

    def __init__(self, folder, rules, beacons, hook=None):
        self.folder, self.port, self.present, self.process, self.is_over = folder, free_port(), {}, None, False
        configuration = {
            "sources": [{"name": "gateway", "http": {"token": {"env": "GATEWAY_TOKEN"}}}],
            "regions": [{"name": f"room {number}", "uuid": UUID, "major": number, "exit-timeout": "1h"}
                        for number in range(beacons)],
            "launch": {"rules": [rule | {"interval": "0s"} if "program" in rule else rule for rule in rules]},
            "outbox": {"path": "beacond.sqlite"}, "notify": {"events": []}, "web": {"listen": f"127.0.0.1:{self.port}"}}
        if hook:
            configuration["destinations"] = [{"name": "hook", "type": "webhook", "url": f"http://127.0.0.1:{hook}/"}]
        with open(f"{folder}/beacond.yaml", "w") as file:
            json.dump(configuration, file)
        threading.Thread(target=self.run, daemon=True).start()

    def start(self, delay=0):
        environment = dict(
            os.environ, GATEWAY_TOKEN=TOKEN, LD_PRELOAD=f"{TOOLS}/slow-sync.so", SYNC_MICROSECONDS=str(delay))
        self.process = subprocess.Popen(
            [BEACOND, "--config", "beacond.yaml"], cwd=self.folder, env=environment,
            stderr=open(f"{self.folder}/log", "a"))
        while not self.post([]):
            time.sleep(0.02)

    def post(self, beacons):
        adverts = [{"type": "Gateway", "mac": "AC233FC00001"}] + [
            {"type": "iBeacon", "mac": f"C0005E12{number:04X}", "ibeaconUuid": UUID.upper(), "ibeaconMajor": number,
             "ibeaconMinor": 1, "rssi": -60, "ibeaconTxPower": -59} for number in beacons]
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/sources/gateway/adverts", data=json.dumps(adverts).encode(),
            headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json"})
        with contextlib.suppress(OSError, http.client.HTTPException):
            with urllib.request.urlopen(request, timeout=30):
                return True
        return False

    def run(self):
        while not self.is_over:
            for number in list(self.present):
                self.present[number] = self.present[number] or time.time()
            self.post(list(self.present))
            time.sleep(0.1)

    def lines(self, name):
        """Returns the starts of a program: the time, and the event."""
        with contextlib.suppress(FileNotFoundError), open(f"{self.folder}/{name}") as file:
            return [(float(line.split(" ", 1)[0]), json.loads(line.split(" ", 1)[1])) for line in file]
        return []

    def stop(self):
        self.is_over = True
        self.process.terminate()
        self.process.wait()


def rule(name, event, folder):
    return {"name": name, "events": [event], "program": [f"{TOOLS}/stamp", f"{folder}/{name}"]}


def wait(what, seconds=60):
    end = time.time() + seconds
    while not what() and time.time() < end:
        time.sleep(0.05)


def percentiles(times):
    times = sorted(times)
    return " ".join(f"{1000 * times[int(share * (len(times) - 1) + 0.5)]:6.0f}" for share in (0.5, 0.99)) if times else "-"


def measure(disk, delay, is_locked, folder):
    names = ["near", "enter"]
    daemon = Daemon(folder, [rule(name, name, folder) for name in names], options.beacons)
    daemon.start(delay)
    time.sleep(2)
    lock = sqlite3.connect(f"{folder}/beacond.sqlite", isolation_level=None)
    if is_locked:
        lock.execute("BEGIN IMMEDIATE")
    for number in range(options.beacons):
        daemon.present[number] = None
        time.sleep(random.uniform(0.9, 1.1))
    wait(lambda: len(daemon.lines("near")) == options.beacons, 10)
    texts = []
    for name in names:
        if name == "enter" and is_locked:
            lock.execute("ROLLBACK")
        wait(lambda: len(daemon.lines(name)) == options.beacons)
        starts = daemon.lines(name)
        advert = percentiles([start - daemon.present[event["beacon"]["major"]] for start, event in starts])
        decision = percentiles([start - event["time"] for start, event in starts])
        texts.append(f"{name} {len(starts):3}: decision {decision}, advert {advert}")
    print(f"{disk:18} " + "; ".join(texts), flush=True)
    lock.close()
    daemon.stop()


def kill(folder, hook):
    beacons = 3 * options.kills
    rules = [rule("run", "enter", folder), {"name": "notify", "events": ["enter"], "destinations": ["hook"]}]
    daemon = Daemon(folder, rules, beacons, hook)
    for number in range(options.kills):
        daemon.start(delay=2_000)
        daemon.present = dict.fromkeys(range(3 * number, 3 * number + 3))
        time.sleep(random.uniform(0, 0.6))
        daemon.process.kill()
        daemon.process.wait()
    daemon.present = {}
    daemon.start()
    store = sqlite3.connect(f"{folder}/beacond.sqlite")
    wait(lambda: store.execute("SELECT count(*) FROM delivery").fetchone()[0] == 0)
    daemon.stop()
    # The regions that an event of the history has entered: the rules have handled them all.
    entered = [json.loads(body)["beacon"]["major"] for (body,) in store.execute("SELECT body FROM event WHERE kind = 'enter'")]
    ids = [event["id"] for _, event in daemon.lines("run")]
    lost = sum(entered.count(major) > len(Webhook.ids.get(major, ())) for major in set(entered))
    doubled = sum(entered.count(major) < len(found) for major, found in Webhook.ids.items())
    print(f"{options.kills} kills: {len(entered)} events, {lost} notifications lost, {doubled} doubled; "
          f"{len(ids)} programs, {len(ids) - len(set(ids))} of them twice for an event", flush=True)


def burst(folder):
    rules = [{"name": f"rule {number}", "events": ["near"], "destinations": ["hook"]} for number in range(10)]
    daemon = Daemon(folder, rules, 1, free_port())
    daemon.start()
    daemon.present = dict.fromkeys(range(110))
    time.sleep(15)
    listed = subprocess.run(
        [BEACOND, "outbox", "list", "--waiting", "--json", "--limit", "5000", "--outbox", "beacond.sqlite"], cwd=folder,
        capture_output=True, text=True).stdout
    print(f"{len(listed.splitlines())} of 1100 notifications wait", flush=True)
    daemon.stop()


TOOLS = tempfile.mkdtemp()
for name, code, arguments in [("slow-sync.so", SLOW_SYNC, ["-shared", "-fPIC"]), ("stamp", STAMP, [])]:
    subprocess.run(["cc", "-O", *arguments, "-x", "c", "-o", f"{TOOLS}/{name}", "-"], input=code, text=True, check=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
threading.Thread(target=server.serve_forever, daemon=True).start()
for disk, delay in [("fsync of 0.3 ms", 300), ("fsync of 30 ms", 30_000), ("fsync of 2 s", 2_000_000), ("locked file", 300)]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        measure(disk, delay, disk == "locked file", folder)
with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
    kill(folder, server.server_port)
with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
    burst(folder)
shutil.rmtree(TOOLS)
