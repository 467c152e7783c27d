#!/usr/bin/env python3
"""Measures `beacon scan --json` of a capture, with its output discarded: adverts per second and peak memory.

Usage: measure.py CAPTURE PATH-TO-beacon [--check]

With --check the exit status is 1 if the goals are missed: 1 000 000 adverts per second, and less than 100 MB. They
are absolute, so check on a known machine.
"""

import os
import re
import statistics
import subprocess
import sys
import time

ROUNDS = 9


def run(beacon, capture):
    """Runs once and returns adverts, elapsed seconds, seconds of processor time, and peak resident bytes."""
    start = time.monotonic()
    with subprocess.Popen(
        [beacon, "scan", "--json", "--source", capture], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    found = re.search(r"ibeacons (\d+)", errors)
    if process.returncode != 0 or not found:
        sys.exit(f"beacon failed: {errors}")
    return int(found[1]), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    capture, beacon = arguments
    run(beacon, capture)
    rounds = [run(beacon, capture) for _ in range(ROUNDS)]
    adverts = rounds[0][0]
    rate = adverts / statistics.median(wall for _, wall, _, _ in rounds)
    processor = statistics.median(seconds for _, _, seconds, _ in rounds) / adverts * 1e9
    memory = max(peak for _, _, _, peak in rounds) / 1e6
    print(f"{adverts} adverts, median of {ROUNDS} runs, including the start of the program:")
    print(f"  {rate:,.0f} adverts per second, {processor:.0f} ns of processor time per advert")
    print(f"  {memory:.1f} MB at most")
    if "--check" in sys.argv and (rate < 1_000_000 or memory >= 100):
        sys.exit(1)


if __name__ == "__main__":
    main()
