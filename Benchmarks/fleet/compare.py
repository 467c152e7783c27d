#!/usr/bin/env python3
"""Compares the cost of a sighting in a fleet with that in one process, over the same adverts, at the same time.

Usage: compare.py PATH-TO-beacond [ADVERTS-A-SECOND]

One beacond reads a pipe and decides. At the same time, a fleet of three programs does the same: one that reads a copy of the pipe,
a NATS server, and one that decides. Processor time is that of each program including the kernel's work for it, from /proc, in the
same period. The ratio is that of the fleet's three programs to the single one; the interval has the extremes of the rounds.
Both read the adverts as lines of JSON, which is the largest cost in both. The cost of the programs without adverts is measured
first and subtracted.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS, SECONDS = 3, 10
UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
TICK = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Feeder:
    """Writes adverts of twenty beacons into pipes at a rate, until it is stopped."""

    def __init__(self, pipes):
        self.pipes, self.rate, self.written, self.is_over = pipes, 0, 0, False
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        writers = [os.open(pipe, os.O_WRONLY) for pipe in self.pipes]
        while not self.is_over:
            begin = time.time()
            count = max(1, self.rate // 50)
            lines = "".join(
                json.dumps({
                    "time": round(begin, 3), "receiver": "radio", "address": f"c0:00:00:00:00:{number % 20:02x}",
                    "uuid": UUID, "major": 1, "minor": number % 20, "measuredPower": -59, "rssi": -60}) + "\n"
                for number in range(count)).encode()
            for writer in writers:
                os.write(writer, lines)
            self.written += count
            time.sleep(max(0, begin + 0.02 - time.time()))
        for writer in writers:
            os.close(writer)


def measure(beacond, rate, folder):
    port = free_port()
    nats = folder / "nats.conf"
    nats.write_text(f'listen: "127.0.0.1:{port}"\njetstream {{ store_dir: "{folder}/js" }}\n')
    fleet = f'servers: "nats://127.0.0.1:{port}", name: compare'
    regions = "".join(f"  - {{name: b{minor}, uuid: {UUID}, major: 1, minor: {minor}}}\n" for minor in range(20))
    texts = {
        "one": f'sources: [{{name: radio, from: "{folder}/one.pipe"}}]\nregions:\n{regions}',
        "hears": f'sources: [{{name: radio, from: "{folder}/hears.pipe"}}]\nregions: []\n'
        f"fleet: {{{fleet}, node: hears, works: false, delivers: false}}\n",
        "decides": f"sources: []\nregions:\n{regions}fleet: {{{fleet}, node: decides}}\n",
    }
    for name in ("one", "hears"):
        os.mkfifo(folder / f"{name}.pipe")
    log = open(folder / "log", "wb")
    processes = {"servers": subprocess.Popen(["nats-server", "-c", nats], stdout=log, stderr=log)}
    time.sleep(1)
    for name, text in reversed(texts.items()):
        (folder / f"{name}.yaml").write_text(text + f"outbox: {{path: {folder}/{name}/beacond.sqlite}}\n")
        (folder / name).mkdir()
        processes[name] = subprocess.Popen(
            [beacond, "--config", folder / f"{name}.yaml"], stdout=log, stderr=log)
        time.sleep(1)
    feeder = Feeder([folder / "one.pipe", folder / "hears.pipe"])
    feeder.thread.start()
    try:
        # Until partitions have owners, and receivers are known.
        time.sleep(10)

        def stretch(rate):
            feeder.rate = rate
            time.sleep(1)
            before, written = {name: seconds(one) for name, one in processes.items()}, feeder.written
            time.sleep(SECONDS)
            return {name: seconds(one) - before[name] for name, one in processes.items()}, feeder.written - written

        idle, _ = stretch(50)
        busy, written = stretch(rate)
        return {name: (busy[name] - idle[name]) / written * 1e6 for name in processes}, written / SECONDS
    finally:
        feeder.is_over = True
        for process in processes.values():
            process.send_signal(signal.SIGTERM)
        for process in processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
rate = int(sys.argv[2]) if len(sys.argv) == 3 else 5000
rounds = []
for _ in range(ROUNDS):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="compare-fleet-"))
    try:
        rounds.append(measure(sys.argv[1], rate, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
print(f"{statistics.median(reached for _, reached in rounds):.0f} adverts per second; processor time of each program per advert, in microseconds:")
for name in ("one", "hears", "servers", "decides"):
    costs = [costs[name] for costs, _ in rounds]
    print(f"  {name:8} {statistics.median(costs):6.1f}  ({min(costs):.1f} to {max(costs):.1f})")
ratios = [(costs["hears"] + costs["servers"] + costs["decides"]) / costs["one"] for costs, _ in rounds]
print(f"the fleet costs {statistics.median(ratios):.2f} times one process ({min(ratios):.2f} to {max(ratios):.2f})")
