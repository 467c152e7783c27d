#!/usr/bin/env python3
"""Checks beacon with Theengs Gateway and a broker: its adverts, and a region while the gateway ends and returns."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

# A shell makes background jobs ignore Ctrl-C, and the programs here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEACON = os.path.join(ROOT, ".build", "debug", "beacon")
UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
# A limit that only a hang reaches.
HANG = int(os.environ.get("CHECK_HANG", "120"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """A program with its output in a file."""

    def __init__(self, folder, name, *command):
        self.name, self.path = name, os.path.join(folder, f"{name}-{time.monotonic_ns()}")
        with open(self.path, "w") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def until(self, wanted, what):
        """Waits for a line for which `wanted` is true, and returns it. A slow machine only takes longer."""
        end = time.monotonic() + HANG
        while True:
            with open(self.path) as output:
                lines = output.readlines()
            for line in lines:
                if wanted(line):
                    return line
            if time.monotonic() > end or self.process.poll() is not None:
                sys.exit(f"FAIL: {what}. {self.others()}{self.name} printed:\n{''.join(lines)}")
            time.sleep(0.05)

    def others(self):
        """Returns the last lines of the other programs."""
        folder = os.path.dirname(self.path)
        said = ""
        for name in sorted(os.listdir(folder)):
            if "-" in name and not self.path.endswith(name):
                with open(os.path.join(folder, name), errors="replace") as output:
                    said += f"{name} printed:\n{''.join(output.readlines()[-10:])}"
        return said

    def end(self, by=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(by)
        self.process.wait()


def event(line):
    try:
        return json.loads(line)
    except ValueError:
        return {}


def main():
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        settings = os.path.join(folder, "mosquitto.conf")
        with open(settings, "w") as file:
            file.write(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
        server = shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin")
        broker = Program(folder, "mosquitto", server, "-c", settings)
        broker.until(lambda line: "running" in line, "the broker does not start")
        source = f"mqtt://127.0.0.1:{port}"

        def gateway():
            return Program(
                folder, "theengs", sys.executable, os.path.join(ROOT, "Tests", "Peers", "theengs_gateway.py"), str(port),
                "attic")

        theengs = gateway()
        programs = [broker]
        try:
            scan = Program(folder, "scan", BEACON, "scan", "--source", source, "--json")
            programs.append(scan)
            heard = event(scan.until(lambda line: event(line).get("rssi"), "beacon gets no advert"))
            wanted = dict(
                receiver="attic", address="c3:11:22:33:44:55", uuid=UUID, major=7, minor=1, measuredPower=-61, rssi=-61)
            found = {key: heard.get(key) for key in wanted}
            if found != wanted:
                sys.exit(f"FAIL: beacon got {found} instead of {wanted}")
            scan.end()

            monitor = Program(
                folder, "monitor", BEACON, "monitor", "--source", source, "--region", f"attic={UUID}/7/1", "--json")
            programs.append(monitor)
            monitor.until(lambda line: event(line).get("event") == "enter", "beacon reports no enter")
            theengs.end(signal.SIGINT)
            monitor.until(
                lambda line: event(line).get("state") == "unknown", "the region does not become unknown without the gateway")
            theengs = gateway()
            monitor.until(
                lambda line: event(line).get("event") == "state" and event(line).get("state") == "inside",
                "the region is not inside again after the gateway's return")
            with open(monitor.path) as output:
                events = [event(line).get("event") for line in output if event(line)]
            if events.count("enter") != 1 or "exit" in events:
                sys.exit(f"FAIL: beacon reported a false enter or exit: {events}")
        finally:
            for program in [theengs, *reversed(programs)]:
                program.end()
    print("check-theengs: beacon gets the adverts of Theengs Gateway; the gateway's end causes no exit, and its return no enter")


main()
