#!/usr/bin/env python3
"""Compares the commands that read a recording with `beacon monitor`, over the same million adverts of 10 000 beacons.

Usage: measure.py PATH-TO-beacon [--check] [--adverts N]

Each beacon moves between two rooms, with a receiver in each, and advertises ten times a second.
Processor time includes the kernel's work for the program; the output is discarded. Ratios are of medians, in one run.
With --check the exit status is 1 if a ratio is above its limit in thresholds.json.
"""

import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile

ROUNDS = 5
BEACONS = 10_000
# The adverts of a beacon per second, as in the corpus of the other benchmarks.
RATE = 10
# The seconds for which a beacon stays in a room.
STAY = 5
START = 1_700_000_000
# Microseconds from the year 0 to 1970 (RFC 1761, and btsnoop of BlueZ).
EPOCH = 0x00DCDDB30F2F8000
UUID = bytes.fromhex("f7813a254c9d4e0b9a3c52d8e16b07f4")


def room(beacon, second):
    """Returns the room of a beacon, 0 or 1; they change in different seconds."""
    return (second + beacon) // STAY % 2


def identity(beacon):
    return beacon // 100, beacon % 100


def write_capture(path, adverts):
    """Writes a btsnoop file in which each beacon advertises at its rate, heard only by the receiver of its room."""
    payloads = [bytes.fromhex("0201061aff4c000215") + UUID + struct.pack(">HHb", *identity(beacon), -59)
                for beacon in range(BEACONS)]
    with open(path, "wb") as file:
        # The datalink of the monitor channel, which supports several controllers.
        file.write(b"btsnoop\0" + struct.pack(">II", 1, 2001))
        for number in range(adverts):
            turn, beacon = divmod(number, BEACONS)
            second = turn // RATE
            address = struct.pack("<Q", 0xC000_0000_0000 + beacon)[:6]
            rssi = struct.pack("b", -60 - beacon % 9)
            report = b"\x3e\x2a\x02\x01\x03\x01" + address + b"\x1e" + payloads[beacon] + rssi
            time = START * 1_000_000 + (turn * BEACONS + beacon) * 1_000_000 // (BEACONS * RATE) + EPOCH
            kind = room(beacon, second) << 16 | 3
            file.write(struct.pack(">IIIIq", len(report), len(report), kind, 0, time) + report)


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if outcome.returncode != 0:
        sys.exit(f"{' '.join(command)}: {outcome.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    arguments = sys.argv[1:]
    is_checked = "--check" in arguments
    adverts = int(arguments[arguments.index("--adverts") + 1]) if "--adverts" in arguments else 1_000_000
    if not arguments or arguments[0].startswith("--"):
        sys.exit(__doc__)
    beacon = arguments[0]
    with tempfile.TemporaryDirectory() as folder:
        capture = f"{folder}/adverts.btsnoop"
        write_capture(capture, adverts)
        source = ["--source", capture, "--json"]
        places = ["--place", "hall=hci0", "--place", "kitchen=hci1"]
        commands = {
            "monitor": ["monitor", "--region", UUID.hex()] + source,
            "scan": ["scan"] + source,
            "range": ["range"] + source,
            "places": ["places"] + places + source,
        }
        times = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                times[name].append(processor_time([beacon] + command))
    medians = {name: statistics.median(all) for name, all in times.items()}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "thresholds.json")) as file:
        limits = json.load(file)
    print(f"{adverts:,} adverts of {BEACONS:,} beacons, median of {ROUNDS} runs")
    print("| command | ns per advert | relative to monitor | limit |")
    print("|---|---:|---:|---:|")
    worse = []
    for name, median in medians.items():
        ratio = median / medians["monitor"]
        print(f"| {name} | {median / adverts * 1e9:.0f} | {ratio:.2f} | {limits.get(name, '')} |")
        if name in limits and ratio > limits[name]:
            worse.append(f"worse: {name} takes {ratio:.2f} of monitor's time, above {limits[name]}")
    for line in worse:
        print(line, file=sys.stderr)
    if is_checked and worse:
        sys.exit(1)


if __name__ == "__main__":
    main()
