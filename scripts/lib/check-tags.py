#!/usr/bin/env python3
"""Compares the addresses that beacon resolves with those that bluetooth-data-tools resolves."""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile

from bluetooth_data_tools import get_cipher_for_irk, resolve_private_address
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEACON = os.path.join(ROOT, ".build", "debug", "beacon")
KEYS, ADDRESSES = 100, 1000
# btsnoop counts microseconds from the year 0; this is 1970.
EPOCH = 0x00DCDDB30F2F8000


def resolvable(key, draw):
    """Returns an address of a key, by another library than the one that resolves it."""
    upper = draw.randrange(1 << 22) | 1 << 22
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    lower = encryptor.update(bytes(13) + upper.to_bytes(3, "big"))[13:]
    return upper.to_bytes(3, "big") + lower


def capture(addresses):
    """Returns a btsnoop file with an advert of each address, one a millisecond."""
    parts = [b"btsnoop\0" + struct.pack(">II", 1, 1002)]
    for number, address in enumerate(addresses):
        data = bytes.fromhex("02010605ff4c001000")
        report = bytes([2, 1, 0, 1]) + address[::-1] + bytes([len(data)]) + data + bytes([200])
        event = bytes([4, 0x3E, len(report)]) + report
        time = EPOCH + (1_700_000_000 * 1000 + number) * 1000
        parts.append(struct.pack(">IIIIq", len(event), len(event), 1, 0, time) + event)
    return b"".join(parts)


def main():
    seed = int(os.environ.get("CHECK_SEED", "55"))
    draw = random.Random(seed)
    keys = [draw.randbytes(16) for _ in range(KEYS)]
    addresses = []
    for number in range(ADDRESSES):
        if number % 2:
            addresses.append(resolvable(draw.choice(keys), draw))
        else:
            addresses.append(bytes([draw.randrange(64) | 64]) + draw.randbytes(5))
    texts = [":".join(f"{byte:02X}" for byte in address) for address in addresses]
    ciphers = [get_cipher_for_irk(key) for key in keys]
    expected = {
        (number, name)
        for number, text in enumerate(texts)
        for name, cipher in enumerate(ciphers)
        if resolve_private_address(cipher, text)
    }
    with tempfile.TemporaryDirectory() as folder:
        tags, source = os.path.join(folder, "tags"), os.path.join(folder, "adverts.btsnoop")
        found = set()
        # A tag of one key at a time, so that each pair is tried on its own; some keys are written in reverse.
        names = {}
        with open(source, "wb") as file:
            file.write(capture(addresses))
        for name, key in enumerate(keys):
            with open(tags, "w") as file:
                file.write(f"{name}: {(key if name % 2 else key[::-1]).hex()}\n")
            log = os.path.join(folder, "log.ndjson")
            subprocess.run(
                [BEACON, "record", log, "--source", source, "--tags", tags],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(log) as file:
                for line in file:
                    sighting = json.loads(line)
                    names.setdefault(sighting["uuid"], set()).add(name)
                    found.add((round(sighting["time"] * 1000) - 1_700_000_000_000, name))
    # The reversed key of a tag may match an address by chance, once in 2²⁴ pairs.
    if found != expected:
        sys.exit(f"FAIL: seed {seed}: {len(found - expected)} too many, {len(expected - found)} missing")
    if any(len(owners) != 1 for owners in names.values()) or len(names) != KEYS:
        sys.exit(f"FAIL: seed {seed}: {len(names)} identities of {KEYS} keys")
    print(f"check-tags: {KEYS * ADDRESSES} pairs of key and address, {len(found)} of them resolved, are the same")


main()
