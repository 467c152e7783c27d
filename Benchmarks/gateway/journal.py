#!/usr/bin/env python3
"""Measures what the journal of beacond costs: processor time, bytes and writes.

Usage: journal.py PATH-TO-beacond [--rate N] [--seconds N] [--pairs N]

Three receivers send adverts of 20 named beacons at a given rate through a real mosquitto. Runs with and without a
journal alternate. Processor time is the user and system time of all threads of beacond in the same stretch of each
run; the difference of a pair is the cost of the journal. The interval is that of the mean of all pairs, with a
probability of 95 %.
"""

import argparse
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from measure import RECEIVERS, UUID, Client, advert, free_port, processor_time

BEACONS = 20
# The seconds after the start that do not count.
WARM_UP = 5
# Student's t for 95 % by the number of pairs.
T = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def size(folder):
    with os.scandir(folder) as files:
        return sum(file.stat().st_size for file in files if file.name.endswith(".journal"))


def run(beacond, rate, seconds, has_journal):
    """Returns the processor seconds, the bytes of the journal, and the times of its writes."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with open(f"{folder}/mosquitto.conf", "w") as file:
            file.write(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n")
        with open(f"{folder}/beacond.yaml", "w") as file:
            json.dump({
                "sources": [{"name": "gateways", "from": f"mqtt://127.0.0.1:{port}"}],
                "regions": [{"name": "all", "uuid": UUID, "major": 1}],
                "places": [{"name": f"place {receiver}", "receivers": [receiver]} for receiver in RECEIVERS],
                "beacons": [{"name": f"beacon {number}", "uuid": UUID, "major": 1, "minor": number} for number in range(BEACONS)],
                "outbox": {"path": f"{folder}/beacond.sqlite"},
                "journal": has_journal,
            }, file)
        broker = subprocess.Popen(
            [shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin"), "-c", f"{folder}/mosquitto.conf"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.05)
        log = open(f"{folder}/log", "w")
        gateway = subprocess.Popen(
            [beacond, "run", "--config", f"{folder}/beacond.yaml"], stdout=log, stderr=log,
            env=os.environ | {"XDG_STATE_HOME": folder})
        try:
            publisher = Client(port, "publisher")
            generator = random.Random(1)
            journal, writes, bytes_now = f"{folder}/journal", [], 0
            begin = time.monotonic()
            start, sent = None, 0
            while (now := time.monotonic() - begin) < WARM_UP + seconds:
                if start is None and now >= WARM_UP:
                    start = processor_time(gateway)
                burst = []
                while sent < now * rate:
                    beacon, receiver = sent // len(RECEIVERS) % BEACONS, sent % len(RECEIVERS)
                    level = -60 - 12 * ((beacon + receiver) % 3) + generator.randint(-5, 5)
                    burst.append(Client.message(
                        f"home/{RECEIVERS[receiver]}/BTtoMQTT/C00000{beacon:06X}", advert(beacon, 1, beacon, level)))
                    sent += 1
                if burst:
                    publisher.socket.sendall(b"".join(burst))
                if os.path.isdir(journal) and (grown := size(journal)) > bytes_now:
                    writes.append(now)
                    bytes_now = grown
                time.sleep(0.005)
            used = processor_time(gateway) - start
            gateway.terminate()
            if gateway.wait():
                sys.exit(f"beacond failed: {open(f'{folder}/log').read()}")
            return used, (size(journal) if os.path.isdir(journal) else 0) / sent, writes
        finally:
            gateway.kill()
            broker.kill()
            broker.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("beacond")
    parser.add_argument("--rate", type=int, default=100, help="adverts a second")
    parser.add_argument("--seconds", type=int, default=95)
    parser.add_argument("--pairs", type=int, choices=T, default=4)
    options = parser.parse_args()
    differences, without, sizes = [], [], []
    for pair in range(options.pairs):
        used = {}
        # The order alternates, because a machine gets slower and faster.
        for has_journal in ((True, False), (False, True))[pair % 2]:
            used[has_journal], size_each, writes = run(
                os.path.abspath(options.beacond), options.rate, options.seconds, has_journal)
            if has_journal:
                sizes.append(size_each)
                gaps = [later - earlier for earlier, later in zip(writes, writes[1:])]
        differences.append((used[True] - used[False]) / options.seconds)
        without.append(used[False] / options.seconds)
        print(
            f"pair {pair + 1}: {100 * used[True] / options.seconds:.2f} % of a core with the journal, "
            f"{100 * used[False] / options.seconds:.2f} % without; {sizes[-1]:.1f} bytes per advert; {len(writes)} writes, "
            f"seconds between them: {', '.join(f'{gap:.1f}' for gap in gaps)}", flush=True)
    mean = statistics.mean(differences)
    reach = T[options.pairs] * statistics.stdev(differences) / options.pairs ** 0.5
    print(
        f"at {options.rate} adverts/s, the journal costs {100 * mean:.3f} ± {100 * reach:.3f} % of a core "
        f"({1e6 * mean / options.rate:.2f} ± {1e6 * reach / options.rate:.2f} us per advert; without it "
        f"{100 * statistics.mean(without):.2f} %) and {statistics.mean(sizes) * options.rate * 86_400 / 1e6:.0f} MB a day")


if __name__ == "__main__":
    main()
