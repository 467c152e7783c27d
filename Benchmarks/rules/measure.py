#!/usr/bin/env python3
"""Measures how soon beacond starts the programs of rules, with slow and locked disks, and what kill -9 costs.

usage: Benchmarks/rules/measure.py [--beacons N] [--kills N] [BEACOND]      .build/release/beacond by default

A gateway posts adverts ten times a second. N beacons (40) appear one after another, at random times. A rule for near and a
rule for enter start a program, which writes the present time. The figures are the 50th and the 99th percentile of the times
from the decision (the time of the event) and from the first advert to the start of the program. Then beacond is killed N times (200) while beacons appear. Rules start a program for each enter and notify a webhook. No
program may run twice for an event, and each event needs one notification. Last, ten rules notify a closed port of 110
beacons at once: 1100 notifications must wait.
"""

import argparse
import contextlib
import http.server
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.request

parser = argparse.ArgumentParser()
for name, fallback in [("--beacons", 40), ("--kills", 200)]:
    parser.add_argument(name, type=int, default=fallback)
parser.add_argument("beacond", nargs="?", default=".build/release/beacond")
options = parser.parse_args()
BEACOND = os.path.abspath(options.beacond)
UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
TOKEN = "0123456789abcdef"
SLOW_SYNC = r"""
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int fsync(int file) { usleep(atoi(getenv("SYNC_MICROSECONDS"))); return syscall(SYS_fsync, file); }
int fdatasync(int file) { return fsync(file); }
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
    length += read(0, line + length, sizeof line - length);
    return write(open(words[count - 1], O_WRONLY | O_APPEND | O_CREAT, 0644), line, length) < 0;
}
"""


class Webhook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ids = {}

    def do_POST(self):
        event = json.loads(self.rfile.read(int(self.headers["content-length"])))["data"]
        Webhook.ids.setdefault(event["beacon"]["major"], set()).add(event["id"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Daemon:
    """A beacond with rules, and a gateway that posts the beacons of `present` to it."""

    def __init__(self, folder, rules, beacons, hook=9):
        self.folder, self.port, self.present, self.process, self.is_over = (
            folder, random.randrange(20_000, 30_000), {}, None, False)
        configuration = {
            "sources": [{"name": "gateway", "http": {"token": {"env": "GATEWAY_TOKEN"}}}],
            "regions": [{"name": f"room {number}", "uuid": UUID, "major": number, "exit-timeout": "1h"}
                        for number in range(beacons)],
            "destinations": [{"name": "hook", "type": "webhook", "url": f"http://127.0.0.1:{hook}/"}],
            "launch": {"rules": rules}, "outbox": {"path": "beacond.sqlite"}, "notify": {"events": []},
            "web": {"listen": f"127.0.0.1:{self.port}"}}
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
            urllib.request.urlopen(request, timeout=30).close()
            return True

    def run(self):
        while not self.is_over:
            for number in list(self.present):
                self.present[number] = self.present[number] or time.time()
            self.post(list(self.present))
            time.sleep(0.1)

    def lines(self, name):
        """Returns the starts of a program: the time, and the event."""
        path = pathlib.Path(self.folder, name)
        lines = [line.split(" ", 1) for line in path.read_text().splitlines()] if path.exists() else []
        return [(float(start), json.loads(event)) for start, event in lines]

    def stop(self):
        self.is_over = True
        self.process.terminate()
        self.process.wait()


def rule(name, event, folder):
    return {"name": name, "events": [event], "interval": "0s", "program": [f"{TOOLS}/stamp", f"{folder}/{name}"]}


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
    # An enter waits for its commit, and so for the end of the lock.
    lock.close()
    wait(lambda: len(daemon.lines("enter")) == options.beacons)
    print(disk)
    for name in names:
        starts = daemon.lines(name)
        advert = percentiles([start - daemon.present[event["beacon"]["major"]] for start, event in starts])
        decision = percentiles([start - event["time"] for start, event in starts])
        print(f"    {name:5} {len(starts):3} starts: from the decision {decision} ms, from the advert {advert} ms", flush=True)
    daemon.stop()


def kill(folder, hook):
    rules = [rule("run", "enter", folder), {"name": "notify", "events": ["enter"], "destinations": ["hook"]}]
    daemon = Daemon(folder, rules, 3 * options.kills, hook)
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
    daemon = Daemon(folder, rules, 110)
    daemon.start()
    daemon.present = dict.fromkeys(range(110))
    time.sleep(20)
    listed = subprocess.run(
        [BEACOND, "outbox", "list", "--waiting", "--json", "--limit", "5000", "--outbox", "beacond.sqlite"], cwd=folder,
        capture_output=True, text=True).stdout
    # The first line is the destination.
    print(f"{len(listed.splitlines()) - 1} of 1100 notifications wait", flush=True)
    daemon.stop()


TOOLS = tempfile.mkdtemp()
for name, code, arguments in [("slow-sync.so", SLOW_SYNC, ["-shared", "-fPIC"]), ("stamp", STAMP, [])]:
    subprocess.run(["cc", "-O", *arguments, "-x", "c", "-o", f"{TOOLS}/{name}", "-"], input=code, text=True, check=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
server.handle_error = lambda request, address: None
threading.Thread(target=server.serve_forever, daemon=True).start()
for run in [
        lambda folder: measure("fsync of 0.3 ms", 300, False, folder),
        lambda folder: measure("fsync of 30 ms", 30_000, False, folder),
        lambda folder: measure("fsync of 2 s", 2_000_000, False, folder),
        lambda folder: measure("locked file", 300, True, folder), lambda folder: kill(folder, server.server_port), burst]:
    # On a disk, because memory has no fsync.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        run(folder)
shutil.rmtree(TOOLS)
