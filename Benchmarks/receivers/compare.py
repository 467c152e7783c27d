#!/usr/bin/env python3
"""Reads the same messages of OpenMQTTGateway with this project's reader and with Python's, in one run.

Usage: compare.py PATH-TO-ReceiverThroughput

First it checks that all find the same beacons. Then it measures them in turn, several times, in processor time; the median
counts. Each does something different with a message: ours identifies the receiver, drops duplicates and returns a sighting.
The others parse the JSON into an object and read six of its values. `-` means that a reader is not installed.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 7
MESSAGES = 50_000
UUID = "e2c56db5dffb48d2b060d0f5a71096e0"


def messages():
    """Returns topics and payloads as in OpenMQTTGateway's documentation: forty gateways, a thousand beacons."""
    draw = random.Random(1)
    for _ in range(MESSAGES):
        beacon = draw.randrange(1000)
        address = f"60:87:57:4C:{beacon >> 8:02X}:{beacon & 255:02X}"
        rssi = -draw.randrange(40, 99)
        yield (
            f"home/gateway{draw.randrange(40)}/BTtoMQTT/{address.replace(':', '')}",
            f'{{"id":"{address}","mac_type":1,"rssi":{rssi},"distance":{draw.random() * 9:.6f},"brand":"GENERIC",'
            f'"model":"iBeacon","model_id":"IBEACON","mfid":"4c00","uuid":"{UUID}","major":{beacon >> 4},'
            f'"minor":{beacon & 15},"txpower":-66}}',
        )


def with_python(loads, payloads):
    count = total = 0
    for payload in payloads:
        message = loads(payload)
        if message.get("mfid") == "4c00":
            count += 1
            message["id"], message["uuid"]
            total += message["major"] + message["minor"] - message["rssi"]
    return count, total


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    made = list(messages())
    payloads = [payload.encode() for _, payload in made]
    readers = {"Python's json": json.loads}
    try:
        import orjson
        readers["orjson"] = orjson.loads
    except ImportError:
        print("orjson is missing: pip install -r Benchmarks/receivers/requirements.txt", file=sys.stderr)
    times = {name: [] for name in ["this project", *readers]}
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        file.writelines(f"{topic}\t{payload}\n" for topic, payload in made)
        file.flush()
        expected = with_python(json.loads, payloads)
        for _ in range(ROUNDS):
            ours = json.loads(subprocess.run([sys.argv[1], file.name, "1"], check=True, capture_output=True).stdout)
            if (ours["count"], ours["sum"]) != expected:
                sys.exit(f"we find {ours['count']} beacons instead of {expected[0]}")
            times["this project"].append(ours["nanoseconds"][0])
            for name, loads in readers.items():
                start = time.process_time_ns()
                if with_python(loads, payloads) != expected:
                    sys.exit(f"{name} finds other beacons")
                times[name].append((time.process_time_ns() - start) / MESSAGES)
    base = statistics.median(times["this project"])
    print("| reader | ns per message | messages/s per core | relative to ours |\n|---|---|---|---|")
    for name, values in times.items():
        median = statistics.median(values)
        ratio = statistics.median(value / ours for value, ours in zip(values, times["this project"]))
        print(f"| {name} | {median:.0f} | {1e9 / median:,.0f} | {ratio:.2f} |")
    return base


main()
