#!/usr/bin/env python3
"""Reads the same adverts of an ESPHome proxy, 16 per message, with this project's reader and with aioesphomeapi's, in one run.

Usage: compare-proxies.py PATH-TO-ProxyThroughput

First it checks that both find the same adverts. Then it measures them in turn, several times, in processor time; the median
counts. Ours finds the messages in the bytes of the connection and returns each advert's address, strength and bytes.
aioesphomeapi's is only its message parser, which gets separate messages, and an access to the same three values.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time

from aioesphomeapi import api_pb2

ROUNDS = 7
MESSAGES = 20_000
BATCH = 16


def variable(number):
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes(digits) + bytes([number])


def messages():
    """Returns the messages of a proxy in a busy place: adverts of 11 to 62 bytes, one in four an iBeacon's."""
    draw = random.Random(1)
    beacon = bytes.fromhex("0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5")
    for _ in range(MESSAGES):
        message = api_pb2.BluetoothLERawAdvertisementsResponse()
        for _ in range(BATCH):
            data = beacon if draw.random() < 0.25 else draw.randbytes(draw.randrange(11, 63))
            message.advertisements.add(address=draw.getrandbits(48), rssi=-draw.randrange(30, 100),
                                       address_type=draw.randrange(2), data=data)
        yield message.SerializeToString()


def with_theirs(contents):
    parse = api_pb2.BluetoothLERawAdvertisementsResponse.FromString
    count = total = 0
    for content in contents:
        for advert in parse(content).advertisements:
            count += 1
            total += (advert.address & 0xFFFF) - advert.rssi + len(advert.data)
    return count, total


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    contents = list(messages())
    expected = with_theirs(contents)
    times = {"this project": [], "aioesphomeapi": []}
    with tempfile.NamedTemporaryFile() as file:
        for content in contents:
            file.write(b"\0" + variable(len(content)) + variable(93) + content)
        file.flush()
        for _ in range(ROUNDS):
            ours = json.loads(subprocess.run([sys.argv[1], file.name, "1"], check=True, capture_output=True).stdout)
            if (ours["count"], ours["sum"]) != expected:
                sys.exit(f"we find {ours['count']} adverts instead of {expected[0]}")
            times["this project"].append(ours["nanoseconds"][0])
            start = time.process_time_ns()
            if with_theirs(contents) != expected:
                sys.exit("aioesphomeapi finds other adverts")
            times["aioesphomeapi"].append((time.process_time_ns() - start) / expected[0])
    print("| reader | ns per advert | adverts/s per core | relative to ours |\n|---|---|---|---|")
    for name, values in times.items():
        ratio = statistics.median(value / ours for value, ours in zip(values, times["this project"]))
        print(f"| {name} | {statistics.median(values):.1f} | {1e9 / statistics.median(values):,.0f} | {ratio:.1f} |")


main()
