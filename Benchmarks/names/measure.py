#!/usr/bin/env python3
"""Checks that the cost of an advert does not depend on the number of names: receivers, beacons, regions, rules.

Usage: measure.py PATH-TO-beacon [PATH-TO-beacond] [--check] [--names N]

Each case reads a sighting log with N names and N adverts, and then one with 4 N of both. If the cost of an advert is
constant, the processor time grows by 4; if it grows with the number of names, by 16.
Places are not a case: a plan has at most 256 receivers.
With --check the exit status is 1 if a ratio is above LIMIT.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 3
LIMIT = 7
START = 1_700_000_000
UUID = "f7813a25-4c9d-4e0b-9a3c-52d8e16b07f4"


def write_log(path, count, receivers, beacons):
    with open(path, "w") as file:
        for number in range(count):
            beacon = number % beacons
            file.write(
                f'{{"time":{START + number / 1000:.3f},"receiver":"receiver {number % receivers}",'
                f'"address":"c0:00:00:00:00:01","uuid":"{UUID}","major":{beacon // 60000},"minor":{beacon % 60000},'
                '"measuredPower":-59,"rssi":-60}\n')


def write_configuration(folder, log, regions=0, rules=0):
    lines = [f"sources: [{log}]", f"outbox: {{ path: {folder}/{os.path.basename(log)}-{regions}-{rules}.sqlite }}"]
    lines += ["regions:", f"  - {{ name: all, uuid: {UUID} }}"]
    lines += [f"  - {{ name: region {n}, uuid: {UUID}, major: 0, minor: {n} }}" for n in range(regions)]
    if rules:
        lines += ["launch:", "  rules:"]
        lines += [f"    - {{ name: rule {n}, events: [exit], regions: [all], program: [/bin/true] }}" for n in range(rules)]
    path = f"{folder}/{len(os.listdir(folder))}.yaml"
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def cases(beacon, beacond, folder, count):
    """Returns the commands with this number of names."""
    receivers, beacons, few = (f"{folder}/{name}-{count}.ndjson" for name in ("receivers", "beacons", "few"))
    write_log(receivers, count, receivers=count, beacons=1)
    write_log(beacons, count, receivers=1, beacons=count)
    write_log(few, count, receivers=10, beacons=10)
    source = ["--source", receivers, "--json"]
    commands = {
        "scan, receivers": [beacon, "scan"] + source,
        "monitor, receivers": [beacon, "monitor", "--region", UUID] + source,
        "calibrate, receivers": [beacon, "calibrate", "--seconds", "3600"] + source,
        "record, receivers": [beacon, "record", f"{folder}/record.ndjson", "--source", receivers],
        "scan, beacons": [beacon, "scan", "--source", beacons, "--json"],
        "monitor, beacons": [beacon, "monitor", "--region", UUID, "--source", beacons, "--json"],
    }
    if beacond:
        run = [beacond, "--dry-run", "--config"]
        commands |= {
            "beacond, receivers": run + [write_configuration(folder, receivers)],
            "beacond, beacons": run + [write_configuration(folder, beacons)],
            "beacond, regions": run + [write_configuration(folder, beacons, regions=count)],
            "beacond, rules": run + [write_configuration(folder, few, rules=count)],
        }
    return commands


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if outcome.returncode != 0:
        sys.exit(f"{' '.join(command)}: {outcome.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    arguments = sys.argv[1:]
    names = int(arguments[arguments.index("--names") + 1]) if "--names" in arguments else 4_000
    programs = [argument for argument in arguments if os.path.isfile(argument)]
    if not programs:
        sys.exit(__doc__)
    beacon, beacond = programs[0], programs[1] if len(programs) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        # The start of a program is not part of the cost of its adverts.
        idle = {case: processor_time(command) for case, command in cases(beacon, beacond, folder, 1).items()}
        small, large = cases(beacon, beacond, folder, names), cases(beacon, beacond, folder, 4 * names)
        print(f"{names:,} and {4 * names:,} names, median of {ROUNDS} runs")
        print("| case | us per advert | relative to a quarter of the names | limit |")
        print("|---|---:|---:|---:|")
        worse = []
        for case in small:
            ratios, times = [], []
            for _ in range(ROUNDS):
                few, many = (processor_time(commands[case]) - idle[case] for commands in (small, large))
                ratios.append(many / max(few, 0.005))
                times.append(many / names / 4)
            ratio = statistics.median(ratios)
            print(f"| {case} | {statistics.median(times) * 1e6:.1f} | {ratio:.1f} | {LIMIT} |")
            if ratio > LIMIT:
                worse.append(f"worse: {case} takes {ratio:.1f} of the time with a quarter of the names, above {LIMIT}")
    for line in worse:
        print(line, file=sys.stderr)
    if "--check" in arguments and worse:
        sys.exit(1)


if __name__ == "__main__":
    main()
