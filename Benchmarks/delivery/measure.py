#!/usr/bin/env python3
"""Measures the bytes that beacond writes to the disk per notification, if several regions are entered and left at once.

usage: Benchmarks/delivery/measure.py [--destinations N] [BEACOND]      .build/release/beacond by default

N webhooks (1) receive each notification.

Each line is a run with a number of regions at once and a number of notifications per request. It has the bytes that the kernel
wrote for the process (write_bytes in /proc/PID/io, proc(5)) and its writing system calls, per notification.
"""

import argparse
import http.server
import json
import os
import subprocess
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--destinations", type=int, default=1)
parser.add_argument("beacond", nargs="?", default=".build/release/beacond")
options = parser.parse_args()
BEACOND = os.path.abspath(options.beacond)
UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"


class Webhook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    received = 0

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Webhook.received += len(body) if isinstance(body, list) else 1
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def measure(folder, regions, batch, port):
    os.mkfifo(f"{folder}/air.ndjson")
    air = os.open(f"{folder}/air.ndjson", os.O_RDWR)
    with open(f"{folder}/beacond.yaml", "w") as file:
        json.dump(
            {
                "sources": [{"name": "air", "from": "air.ndjson"}],
                "regions": [
                    {"name": f"room {number}", "uuid": UUID, "major": number, "exit-timeout": "3s"}
                    for number in range(regions)
                ],
                "notify": {"events": ["enter", "exit"]},
                "destinations": [
                    {"name": f"hook {number}", "type": "webhook", "url": f"http://127.0.0.1:{port}/", "batch": batch}
                    for number in range(options.destinations)],
                "outbox": {"path": "beacond.sqlite"},
                # With a console, events are kept as the history.
                "web": {"listen": "127.0.0.1:0"},
            },
            file)
    process = subprocess.Popen(
        [BEACOND, "--config", "beacond.yaml"], cwd=folder, stderr=subprocess.DEVNULL)
    now = 1.8e9

    def step(present):
        nonlocal now
        now += 1
        # An unmonitored beacon, so that time advances.
        for number in [9999] + present:
            line = {
                "time": now, "receiver": "x", "address": f"c0:00:00:00:00:{number & 255:02x}", "uuid": UUID,
                "major": number, "minor": 1, "measuredPower": -59, "rssi": -60}
            os.write(air, (json.dumps(line) + "\n").encode())

    def wait(count):
        while Webhook.received < count * options.destinations:
            time.sleep(0.05)
        # The outcome of the last delivery is written after its answer.
        time.sleep(0.5)

    def written():
        with open(f"/proc/{process.pid}/io") as file:
            values = dict(line.split(": ") for line in file.read().splitlines())
        return int(values["write_bytes"]), int(values["syscw"])

    Webhook.received = 0
    all_regions = list(range(regions))
    step(all_regions)
    wait(regions)
    before = written()
    for number in range(10):
        for _ in range(6):
            step([])
        wait(regions * (2 * number + 2))
        step(all_regions)
        wait(regions * (2 * number + 3))
    count = regions * 20
    after = written()
    print(
        f"{regions:3} at once, {batch:2} in a request: {(after[0] - before[0]) / count:7.0f} bytes and "
        f"{(after[1] - before[1]) / count:4.1f} calls per notification")
    process.terminate()
    process.wait()
    os.close(air)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
threading.Thread(target=server.serve_forever, daemon=True).start()
for regions, batch in [(1, 1), (12, 1), (50, 1), (50, 50)]:
    # On a disk, because writes to memory are not counted.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        measure(folder, regions, batch, server.server_port)
