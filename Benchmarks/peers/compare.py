#!/usr/bin/env python3
"""Decodes the same adverts with this project's decoder and with those of PyPI, in one run, and prints a Markdown table.

Usage: compare.py ADVERTS.hex PATH-TO-PeerDecoder

First it checks that all find the same iBeacons. Then it measures them in turn, several times, in processor time; the
median counts. Each does something different with an advert, as the table notes. Our decoder reads all adverts of the
file, because the processor would learn the order of a short file. The others take a thousand times as long, so this does
not matter to them, and they read the first 20 000.
"""

import gc
import json
import statistics
import struct
import subprocess
import sys
import time
import warnings
from importlib.metadata import version

warnings.filterwarnings("ignore")

import beacontools  # noqa: E402
from bleparser import BleParser  # noqa: E402
from bluetooth_data_tools import parse_advertisement_data_bytes  # noqa: E402

ROUNDS = 7
PEER_ADVERTS = 20_000
APPLE = 0x004C


def with_beacontools(advert):
    found = beacontools.parse_packet(advert)
    if isinstance(found, beacontools.IBeaconAdvertisement):
        return found.uuid, found.major, found.minor
    return None


PARSER = BleParser(discovery=True)
HEAD = bytes.fromhex("043e")
ADDRESS = bytes.fromhex("665544332211")


def hci_event(advert):
    """Returns the advert as the HCI event that bleparser requires."""
    body = bytes([0x02, 0x01, 0x03, 0x01]) + ADDRESS + bytes([len(advert)]) + advert + bytes([0xC5])
    return HEAD + bytes([len(body)]) + body


def with_bleparser(event):
    sensor, tracker = PARSER.parse_raw_data(event)
    if sensor and sensor.get("type") == "iBeacon":
        return sensor["uuid"], sensor["major"], sensor["minor"]
    return None


IBEACON = struct.Struct(">16sHH")


def with_data_tools(advert):
    """bluetooth-data-tools has no iBeacon decoder: it splits the advert, and minimal code here does the rest."""
    _, _, _, makers, _ = parse_advertisement_data_bytes(advert)
    payload = makers.get(APPLE)
    if payload is not None and len(payload) >= 23 and payload[0] == 2 and payload[1] == 21:
        return IBEACON.unpack_from(payload, 2)
    return None


def attempt(decode, item):
    """Returns the result of a decoder in a comparable form, and whether it threw; then the result is empty."""
    try:
        found = decode(item)
    except Exception:  # whatever it is, a receiver has to live on
        return None, 1
    if found is None:
        return None, 0
    uuid, major, minor = found
    digits = uuid.hex() if isinstance(uuid, bytes) else uuid.replace("-", "").lower()
    return (digits, int(major), int(minor)), 0


def measure(decode, items):
    start = time.process_time_ns()
    for item in items:
        try:
            decode(item)
        except Exception:
            pass
    return (time.process_time_ns() - start) / len(items)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    path, own = sys.argv[1:]
    with open(path) as file:
        everything = [bytes.fromhex(line) for line in file]
    adverts = everything[:PEER_ADVERTS]
    peers = {
        "beacontools": (with_beacontools, adverts, "decodes many formats with a declarative parser"),
        "bleparser": (with_bleparser, [hci_event(a) for a in adverts], "decodes an HCI event for known makers"),
        "bluetooth-data-tools": (with_data_tools, adverts, "splits an advert in C; the iBeacon is then read in Python"),
    }

    # bluetooth-data-tools is the reference: the code above only reads five fields at fixed offsets of its output.
    expected = [attempt(with_data_tools, advert)[0] for advert in everything]
    count = sum(frame is not None for frame in expected)
    total = sum(int(f[0][:2], 16) + f[1] + f[2] for f in expected if f)
    result = json.loads(subprocess.check_output([own, path, "1"]))
    if (result["count"], result["sum"]) != (count, total):
        sys.exit(f"swift-beacon finds {result['count']} iBeacons (sum {result['sum']}), expected {count} ({total})")
    remarks = {}
    for name, (decode, items, remark) in peers.items():
        found = [attempt(decode, item) for item in items]
        wrong = sum(frame != wanted for (frame, _), wanted in zip(found, expected[:PEER_ADVERTS]))
        thrown = sum(failed for _, failed in found)
        remarks[name] = remark
        if thrown:
            remarks[name] += f"; throws on {thrown} adverts"
        if wrong:
            remarks[name] += f"; differs on {wrong} adverts"

    times = {name: [] for name in ["swift-beacon", *peers]}
    gc.disable()
    for _ in range(ROUNDS):
        times["swift-beacon"] += json.loads(subprocess.check_output([own, path, "6"]))["nanoseconds"][1:]
        for name, (decode, items, _) in peers.items():
            times[name].append(measure(decode, items))
    medians = {name: statistics.median(values) for name, values in times.items()}

    print(f"{len(everything):,} adverts, {count:,} of them iBeacons; medians of {ROUNDS} rounds, one core.\n")
    print("| decoder | ns per advert | adverts per second | relative to swift-beacon | remark |")
    print("|---|---:|---:|---:|---|")
    for name, median in sorted(medians.items(), key=lambda pair: pair[1]):
        label = name if name == "swift-beacon" else f"{name} {version(name)}"
        remark = remarks.get(name, "finds the frame, checks all bounds")
        ratio = median / medians["swift-beacon"]
        print(f"| {label} | {median:,.1f} | {1e9 / median:,.0f} | {ratio:,.0f} x | {remark} |")


if __name__ == "__main__":
    main()
