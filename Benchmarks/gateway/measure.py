#!/usr/bin/env python3
"""Measures beacond between a broker and Home Assistant: OpenMQTTGateway's messages in, states of regions and places out.

Usage: measure.py PATH-TO-beacond [--seconds N] [--rates N,N…]

Three receivers send adverts of 300 beacons through a real mosquitto at a given rate. beacond publishes the states of 100 regions,
of three places and of 20 named beacons to the same broker, with Home Assistant's discovery, and stores events. Twice a second a
new beacon enters its own region: the time from its message to the region's topic is the latency. Processor time is the user and
system time of all threads of beacond. That of mosquitto in the same run is printed too, because each message passes it twice.
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
import threading
import time

UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
RECEIVERS = ("hall", "shop", "yard")
BEACONS, REGIONS, NAMED = 300, 100, 20
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def packet(kind, *parts):
    """Returns a packet of MQTT 3.1.1."""
    body = b"".join(parts)
    length, rest = b"", len(body)
    while True:
        rest, digit = rest // 128, rest % 128
        length += bytes([digit | (128 if rest else 0)])
        if not rest:
            return bytes([kind]) + length + body


def text(value):
    return len(value).to_bytes(2, "big") + value


class Client:
    """A client of the broker that sends without acknowledgements."""

    def __init__(self, port, name):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(packet(0x10, text(b"MQTT"), b"\x04\x02\x00\x00", text(name.encode())))
        assert self.socket.recv(4)[:1] == b"\x20"

    @staticmethod
    def message(topic, payload):
        return packet(0x30, text(topic.encode()), payload.encode())

    def subscribe(self, topic):
        self.socket.sendall(packet(0x82, b"\x00\x01", text(topic.encode()), b"\x00"))

    def packets(self):
        file = self.socket.makefile("rb")
        while head := file.read(1):
            length, shift = 0, 0
            while True:
                digit = file.read(1)[0]
                length |= (digit & 127) << shift
                shift += 7
                if digit < 128:
                    break
            body = file.read(length)
            if head[0] & 0xF0 == 0x30:
                end = 2 + int.from_bytes(body[:2], "big")
                yield body[2:end].decode(), body[end:]


def advert(address, major, minor, rssi):
    return json.dumps({
        "id": f"C0:00:00:{address >> 16 & 255:02X}:{address >> 8 & 255:02X}:{address & 255:02X}", "mac_type": 1, "rssi": rssi,
        "distance": 7.85288, "brand": "GENERIC", "model": "iBeacon", "model_id": "IBEACON", "mfid": "4c00",
        "uuid": UUID.replace("-", ""), "major": major, "minor": minor, "txpower": -59}, separators=(",", ":"))


def processor_time(process):
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(process):
    with open(f"/proc/{process.pid}/status") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024


def configuration(port, folder, probes):
    regions = [{"name": f"region {number}", "uuid": UUID, "major": 1, "minor": number} for number in range(REGIONS)]
    regions += [{"name": f"probe {number}", "uuid": UUID, "major": 2, "minor": number} for number in range(probes)]
    return {
        "sources": [{"name": "gateways", "from": f"mqtt://127.0.0.1:{port}"}],
        "regions": regions,
        "places": [{"name": f"place {receiver}", "receivers": [receiver]} for receiver in RECEIVERS],
        "beacons": [{"name": f"beacon {number}", "uuid": UUID, "major": 1, "minor": number} for number in range(NAMED)],
        "destinations": [{
            "name": "home", "type": "mqtt", "host": "127.0.0.1", "port": port, "topic": "bench", "client-id": "bench",
            "home-assistant": True}],
        "outbox": {"path": f"{folder}/beacond.sqlite"},
    }


def measure(beacond, rate, seconds):
    probes = 2 * seconds + 20
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with open(f"{folder}/mosquitto.conf", "w") as file:
            file.write(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n")
        with open(f"{folder}/beacond.yaml", "w") as file:
            json.dump(configuration(port, folder, probes), file)
        path = os.environ["PATH"] + ":/usr/sbin"
        broker = subprocess.Popen(
            [shutil.which("mosquitto", path=path), "-c", f"{folder}/mosquitto.conf"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.05)
        reported, is_ready = {}, threading.Event()
        watcher = Client(port, "watcher")
        watcher.subscribe("bench/#")

        def watch():
            for topic, payload in watcher.packets():
                if payload == b"online":
                    is_ready.set()
                if topic.startswith("bench/region/probe%20") and topic.endswith("/state") and payload == b"inside":
                    reported.setdefault(int(topic.removeprefix("bench/region/probe%20").removesuffix("/state")), time.monotonic())

        threading.Thread(target=watch, daemon=True).start()
        with open(f"{folder}/log", "w") as log:
            gateway = subprocess.Popen(
                [beacond, "run", "--config", f"{folder}/beacond.yaml"], stdout=log, stderr=log, env=os.environ | {
                    "XDG_STATE_HOME": folder})
        if not is_ready.wait(60):
            sys.exit(f"beacond is not online: {open(f'{folder}/log').read()}")
        publisher = Client(port, "publisher")
        generator = random.Random(1)
        beacons = []
        for beacon in range(BEACONS):
            for place, receiver in enumerate(RECEIVERS):
                level = -60 - 12 * ((beacon + place) % 3)
                beacons.append([
                    Client.message(f"home/{receiver}/BTtoMQTT/C00000{beacon:06X}", advert(beacon, 1, beacon, level + step))
                    for step in range(-3, 4)])
        generator.shuffle(beacons)
        sent, count, position = {}, 0, 0
        first = time.monotonic()
        began = None
        while True:
            now = time.monotonic()
            # All beacons appear in the first five seconds, which do not count.
            if began is None and now - first >= 5:
                began, count = now, 0
                start = processor_time(gateway), processor_time(broker)
            if began is not None and now - began >= seconds:
                break
            wanted = int((now - (began or first)) * rate)
            burst = []
            while count < wanted:
                burst.append(generator.choice(beacons[position % len(beacons)]))
                position += 1
                count += 1
            if burst:
                publisher.socket.sendall(b"".join(burst))
            if began is not None and len(sent) < (now - began) * 2:
                number = len(sent)
                sent[number] = time.monotonic()
                publisher.socket.sendall(
                    Client.message("home/hall/BTtoMQTT/probe", advert(0x10000 + number, 2, number, -50)))
            time.sleep(0.005)
        elapsed = time.monotonic() - began
        end = processor_time(gateway), processor_time(broker)
        deadline = time.monotonic() + 30
        while len(reported) < len(sent) and time.monotonic() < deadline:
            time.sleep(0.1)
        used = memory(gateway)
        gateway.terminate()
        gateway.wait()
        broker.terminate()
        broker.wait()
    latencies = sorted(reported[number] - sent[number] for number in sent if number in reported)
    mine, other = (1e6 * (one - two) / count for one, two in zip(end, start))
    print(
        f"{count / elapsed:6.0f} messages/s: beacond {mine:5.1f} us per message, mosquitto {other:5.1f}, ratio {mine / other:.2f}; "
        f"{used:.0f} MB; reported {len(reported)} of {len(sent)} enters after {1000 * statistics.median(latencies):.1f} ms (median), "
        f"{1000 * latencies[int(len(latencies) * 0.99)]:.1f} ms (99 %)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("beacond")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rates", default="500,2000,5000")
    options = parser.parse_args()
    for rate in options.rates.split(","):
        measure(os.path.abspath(options.beacond), int(rate), options.seconds)


if __name__ == "__main__":
    main()
