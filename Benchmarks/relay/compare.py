#!/usr/bin/env python3
"""Compares the processor time of `beacon relay` with that of `beacon scan` to nothing, over the same adverts.

Usage: compare.py PATH-TO-beacon [CAPTURE]

First both hear the simulated museum live at the same time. Then both in turn play a sighting log of it, or the capture, at full
speed. Each is repeated several times; a broker (Debian's mosquitto) receives the relayed messages. Processor time is that of the
program including the kernel's work for it, but without the broker. The ratio is of medians; the interval, over pairs of runs,
contains at least 90 % of them.
"""

import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 15
LIVE_ROUNDS, LIVE_SECONDS = 5, 15


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if outcome.returncode != 0:
        sys.exit(f"{' '.join(command)}: {outcome.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, outcome.stderr


def live(commands):
    """Returns the processor times of programs that run at the same time until they are interrupted."""
    runs = [subprocess.Popen(one, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for one in commands]
    time.sleep(LIVE_SECONDS)
    times = []
    for run in runs:
        run.send_signal(signal.SIGINT)
        usage = os.wait4(run.pid, 0)[2]
        times.append(usage.ru_utime + usage.ru_stime)
    return times


def show(title, scans, relays):
    ratios = sorted(one / other for one, other in zip(relays, scans))
    cut = len(ratios) // 20
    print(f"{title:12} scan {statistics.median(scans) * 1000:7.1f} ms, relay {statistics.median(relays) * 1000:7.1f} ms, "
          f"ratio {statistics.median(relays) / statistics.median(scans):.2f} "
          f"({ratios[cut]:.2f} to {ratios[-1 - cut]:.2f})")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    beacon = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        capture = sys.argv[2] if len(sys.argv) == 3 else f"{folder}/museum.ndjson"
        if len(sys.argv) == 2:
            lines = subprocess.run(
                [beacon, "scan", "--json", "--source", "simulation:museum", "--speed", "max"],
                check=True, capture_output=True).stdout
            with open(capture, "wb") as log:
                # Copies of the whole log would go back in time, so each line is repeated with the same time.
                log.write(b"".join(line * 40 for line in lines.splitlines(keepends=True)))
        port = free_port()
        settings = f"{folder}/mosquitto.conf"
        with open(settings, "w") as file:
            file.write(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
        path = os.environ["PATH"] + ":/usr/sbin"
        broker = subprocess.Popen(["mosquitto", "-c", settings], env=os.environ | {"PATH": path},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.1)
            scan = [beacon, "scan", "--source", capture]
            relay = [beacon, "relay", f"mqtt://127.0.0.1:{port}", "--name", "hall", "--source", capture,
                     "--speed", "max"]
            museum = ["--source", "simulation:museum?loop"]
            pairs = [live([[beacon, "scan"] + museum, relay[:5] + museum]) for _ in range(LIVE_ROUNDS)]
            show(f"{LIVE_SECONDS} s live", [one for one, _ in pairs], [one for _, one in pairs])
            scans, relays, summary = [], [], ""
            for _ in range(ROUNDS):
                scans.append(processor_time(scan)[0])
                used, summary = processor_time(relay)
                relays.append(used)
        finally:
            broker.kill()
    show("a log", scans, relays)
    print(summary.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
