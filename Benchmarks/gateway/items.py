#!/usr/bin/env python3
"""Measures the time to change one of many items in the console of beacond, in comparison with one of few.

usage: Benchmarks/gateway/items.py BEACOND [--items 10,10000] [--changes 40]

It imports named beacons through the HTTP interface, replaces one after another, and prints the median time of a request and the
processor time of beacond per change.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

UUID = "f7826da6-4fa2-4e98-8024-bc5b71e0893e"
# The rows of one import, well below the maximum request size.
ROWS = 900


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def measure(beacond, count, changes):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "beacond.yaml")
        with open(path, "w") as file:
            file.write(
                f"sources: [simulation:department-store]\nregions: []\nweb: {{ listen: '127.0.0.1:{port}' }}\n"
                f"outbox: {{ path: {folder}/beacond.sqlite }}\nlog: {{ level: error }}\n")
        process = subprocess.Popen([beacond, "--config", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def ask(method, what, body=None, media="application/json"):
            headers = {"X-Beacon-Console": "1", **({"Content-Type": media} if body is not None else {})}
            request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/{what}", body, headers, method=method)
            with urllib.request.urlopen(request, timeout=300) as answer:
                return answer.read()

        def processor_time():
            with open(f"/proc/{process.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        try:
            for _ in range(200):
                try:
                    ask("GET", "live")
                    break
                except OSError:
                    time.sleep(0.1)
            for start in range(0, count, ROWS):
                rows = (f"tag {i},{UUID},{i // 1000},{i % 1000}\n" for i in range(start, min(start + ROWS, count)))
                ask("POST", "registered-beacons/import", ("name,uuid,major,minor\n" + "".join(rows)).encode(), "text/csv")
            before, times = processor_time(), []
            for change in range(changes):
                i = change * 7 % count
                beacon = {"name": f"tag {i}", "uuid": UUID, "major": i // 1000, "minor": i % 1000, "place": f"shelf {change}"}
                begin = time.monotonic()
                ask("PUT", f"registered-beacons/tag%20{i}", json.dumps(beacon).encode())
                times.append(time.monotonic() - begin)
            used = (processor_time() - before) / changes
        finally:
            process.terminate()
            process.wait()
    print(f"{count:6} items: a change takes {statistics.median(times) * 1e3:.1f} ms (maximum {max(times) * 1e3:.1f}), "
          f"and {used * 1e3:.1f} ms of processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("beacond")
    parser.add_argument("--items", default="10,10000")
    parser.add_argument("--changes", type=int, default=40)
    options = parser.parse_args()
    for count in options.items.split(","):
        measure(options.beacond, int(count), options.changes)


main()
