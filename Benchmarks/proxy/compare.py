#!/usr/bin/env python3
"""Compares the processor time of `beacon proxy` with that of `beacon scan` to nothing, over the same adverts.

Usage: compare.py PATH-TO-beacon [SCENARIO]

Both hear a simulated place (simulation:museum) live at the same time, several times: the proxy without a client, with one and with
eight, plain and encrypted. Processor time is that of the program including the kernel's work for it, but without the clients.
Encrypted clients need aioesphomeapi (Tests/Peers/requirements.txt); without it those rounds are skipped with a message.
The ratio is of medians; the interval has the extremes of the rounds.
"""

import asyncio
import base64
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS, SECONDS = 5, 12
KEY = base64.b64encode(bytes(range(32))).decode()


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


class PlainClient:
    """A client that subscribes and reads."""

    def __init__(self, port):
        self.bytes = 0
        self.socket = socket.create_connection(("127.0.0.1", port))
        # Hello, and the subscription.
        self.socket.sendall(bytes([0, 6, 1, 10, 4]) + b"slow" + bytes([0, 0, 66]))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while data := self.socket.recv(65536):
            self.bytes += len(data)


class SecretClients:
    """Clients that subscribe and read, with aioesphomeapi."""

    def __init__(self, port, count):
        self.bytes = 0
        self.ready = threading.Semaphore(0)
        threading.Thread(target=lambda: asyncio.run(self.run(port, count)), daemon=True).start()
        for _ in range(count):
            self.ready.acquire()

    async def run(self, port, count):
        from aioesphomeapi import APIClient
        clients = []
        for _ in range(count):
            client = APIClient("127.0.0.1", port, "", noise_psk=KEY)
            await client.connect(login=True)
            client.subscribe_bluetooth_le_raw_advertisements(self.hear)
            clients.append(client)
            self.ready.release()
        await asyncio.sleep(3600)

    def hear(self, message):
        self.bytes += sum(len(advert.data) for advert in message.advertisements)


def wait_for(port):
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
    sys.exit("the proxy is not listening")


def measure(beacon, scenario, count, is_secret):
    """Returns the processor times of a scan and of a proxy with a number of clients, at the same time."""
    port = free_port()
    environment = os.environ | ({"BEACON_PROXY_KEY": KEY} if is_secret else {})
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    source = ["--source", f"simulation:{scenario}?loop"]
    proxy = subprocess.Popen([beacon, "proxy", *source, "--port", str(port), "--no-announce"], env=environment, **quiet)
    scan = subprocess.Popen([beacon, "scan", "--json", *source], **quiet)
    wait_for(port)
    clients = []
    if count:
        clients = [SecretClients(port, count)] if is_secret else [PlainClient(port) for _ in range(count)]
    time.sleep(SECONDS)
    times = []
    for run in (scan, proxy):
        run.send_signal(signal.SIGINT)
        usage = os.wait4(run.pid, 0)[2]
        times.append(usage.ru_utime + usage.ru_stime)
    if any(client.bytes == 0 for client in clients):
        sys.exit("a client heard nothing")
    return times


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    scenario = sys.argv[2] if len(sys.argv) == 3 else "museum"
    cases = [(0, False), (1, False), (8, False)]
    try:
        import aioesphomeapi  # noqa: F401
        cases += [(1, True), (8, True)]
    except ImportError:
        print("SKIPPED: encrypted clients, which need aioesphomeapi")
    for count, is_secret in cases:
        pairs = [measure(sys.argv[1], scenario, count, is_secret) for _ in range(ROUNDS)]
        scans, proxies = zip(*pairs)
        ratios = sorted(proxy / scan for scan, proxy in pairs)
        kind = "encrypted" if is_secret else "plain"
        print(f"{count} {kind:9} clients: scan {statistics.median(scans) * 1000:6.1f} ms, "
              f"proxy {statistics.median(proxies) * 1000:6.1f} ms, "
              f"ratio {statistics.median(proxies) / statistics.median(scans):.2f} "
              f"({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


main()
