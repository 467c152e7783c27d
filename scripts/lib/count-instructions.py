"""Counts the instructions per advert on several processors. Run by scripts/count-instructions.

usage: count-instructions.py --scratch FOLDER --trixie FOLDER [--where TASK] [HERE ARM64]

A task reads two captures: a short one, and one twice as long that begins with the same adverts. The instructions per
advert are the difference of the two counts, divided by the number of additional adverts. This leaves out the program's
start and end.
"""

import argparse
import bisect
import collections
import concurrent.futures
import gzip
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

# Adverts in the shorter capture: five seconds. All beacons send in the first second.
ADVERTS = 100_000
BEACONS = 1_000
# Adverts per second: ten of each beacon, and as many of other devices.
RATE = 20 * BEACONS
START = 1_700_000_000
UUID = bytes.fromhex("f7813a254c9d4e0b9a3c52d8e16b07f4")
# The allowed ratio of instructions, 64-bit Arm to x86_64. It was 0.75 to 0.97, and two runs differ by less than 0.5 %.
# The margin is for other compilers: the two processors' compilers have different versions.
LIMIT = 1.1
# The functions that --where lists.
FUNCTIONS = 40

# A Raspberry Pi 4 has no atomic instructions (LSE), a Pi 5 has them. With erms on x86_64, the C library copies with rep
# movsb, which the emulator counts once per byte.
PROCESSORS = {
    "x86_64": ["qemu-x86_64", "-cpu", "max,-erms,-fsrm"],
    "Pi 4": ["qemu-aarch64", "-cpu", "cortex-a72"],
    "Pi 5": ["qemu-aarch64", "-cpu", "cortex-a76"],
}


# MARK: - Captures

def adverts(count):
    """Yields time in microseconds, controller, address, payload and RSSI. Every second advert is not an iBeacon."""
    chance = random.Random(1)
    order = list(range(BEACONS))
    for number in range(count):
        if number % (2 * BEACONS) == 0:
            chance.shuffle(order)
        time = number * 1_000_000 // RATE
        if number % 2:
            yield time, 0, chance.randbytes(6), foreign(chance), -80 + chance.randint(-6, 6)
            continue
        beacon = order[number // 2 % BEACONS]
        # Each beacon moves between two rooms every three seconds.
        room = (time // 1_000_000 + beacon) // 3 % 2
        address = struct.pack("<Q", 0xC000_0000_0000 + beacon * 7919)[:6]
        yield time, room, address, ibeacon(beacon), -50 - beacon % 40 + chance.randint(-6, 6)


def ibeacon(beacon):
    frame = b"\x1a\xff\x4c\x00\x02\x15" + UUID + struct.pack(">HHb", beacon // 100, beacon % 100, -59)
    # Manufacturers use different flags, and some add the transmit power after the frame.
    return [b"\x02\x01\x06" + frame, b"\x02\x01\x1a" + frame, frame, frame + b"\x02\x0a\x04"][beacon % 4]


def foreign(chance):
    start, count = chance.choice([
        ("02011a0aff4c001005", 5), ("1eff4c001219", 25), ("1eff060001092002", 23), ("0201060303aafe1516aafe00ed", 16),
        ("0201060303aafe1116aafe2000", 12), ("0201061bff990405", 23), ("0201060b09537065616b6572", 3),
        ("02010603030d1803194103020a00", 0)])
    return bytes.fromhex(start) + chance.randbytes(count)


def write_btsnoop(file, count):
    # The format of BlueZ's monitor, which supports several controllers. Its time begins in the year 0 (RFC 1761).
    file.write(b"btsnoop\0" + struct.pack(">II", 1, 2001))
    for time, controller, address, payload, rssi in adverts(count):
        event = b"\x02\x01\x03\x01" + address + bytes([len(payload)]) + payload + struct.pack("b", rssi)
        event = bytes([0x3E, len(event)]) + event
        file.write(struct.pack(">IIIIq", len(event), len(event), controller << 16 | 3, 0,
                               START * 1_000_000 + time + 0x00DCDDB30F2F8000) + event)


def write_pcapng(file, count):
    """Writes link layer packets with their checksum, as a sniffer does."""
    def block(kind, body):
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
    file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 251, 0, 0)))
    for time, _, address, payload, _ in adverts(count):
        unit = bytes([0x42, 6 + len(payload)]) + address + payload
        packet = struct.pack("<I", 0x8E89BED6) + unit + checksum(unit)
        time += START * 1_000_000
        body = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFF_FFFF, len(packet), len(packet)) + packet
        file.write(block(6, body + bytes(-len(body) % 4)))


def checksum(unit, table=[]):
    """Returns the link layer CRC on advertising channels (Core Specification, volume 6, part B, 3.1.1)."""
    if not table:
        for byte in range(256):
            for _ in range(8):
                byte = byte >> 1 ^ (0xDA6000 if byte & 1 else 0)
            table.append(byte)
    register = 0xAAAAAA
    for byte in unit:
        register = register >> 8 ^ table[(register ^ byte) & 0xFF]
    return struct.pack("<I", register)[:3]


def make_captures(folder, beacon):
    for length, count in ("once", ADVERTS), ("twice", 2 * ADVERTS):
        btsnoop = folder / f"{length}.btsnoop"
        with open(btsnoop, "wb") as file:
            write_btsnoop(file, count)
        with gzip.open(f"{btsnoop}.gz", "wb", compresslevel=6) as file:
            file.write(btsnoop.read_bytes())
        with open(folder / f"{length}.pcapng", "wb") as file:
            write_pcapng(file, count)
        with open(folder / f"{length}.ndjson", "wb") as file:
            subprocess.run([beacon, "scan", "--json", "--source", btsnoop], stdout=file, stderr=subprocess.DEVNULL, check=True)


REGION = ["--region", UUID.hex()]
ROOMS = ["--place", "hall=hci0", "--place", "kitchen=hci1"]
# A capture, a command, and the number of additional adverts in the longer capture. A sighting log has only iBeacons.
Task = collections.namedtuple("Task", "capture arguments adverts", defaults=[ADVERTS])
TASKS = {
    "scan": Task("btsnoop", ["scan"]),
    "scan --json": Task("btsnoop", ["scan", "--json"]),
    "monitor": Task("btsnoop", ["monitor", *REGION]),
    "range": Task("btsnoop", ["range"]),
    "range --json": Task("btsnoop", ["range", "--json"]),
    "places --json": Task("btsnoop", ["places", "--json", *ROOMS]),
    "monitor, gzipped": Task("btsnoop.gz", ["monitor", *REGION]),
    "monitor, a sniffer's pcapng": Task("pcapng", ["monitor", *REGION]),
    "monitor, a sighting log": Task("ndjson", ["monitor", *REGION], ADVERTS // 2),
}


# MARK: - Counting

Count = collections.namedtuple("Count", "sum blocks output")


# Deterministic hashing gives hash tables the same layout in each run.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "SWIFT_DETERMINISTIC_HASHING": "1"}


class Counter:
    def __init__(self, scratch, trixie, here, arm64):
        self.scratch, self.trixie = scratch, trixie
        self.programs = {name: (here if name == "x86_64" else arm64) / "beacon" for name in PROCESSORS}

    def count(self, processor, task, length):
        capture, arguments, _ = TASKS[task]
        into = self.scratch / f"{processor} {task} {length}".replace(" ", "-").replace(",", "")
        emulator, *options = PROCESSORS[processor] + ([] if processor == "x86_64" else ["-L", self.trixie])
        command = [shutil.which(emulator), *options, "-plugin", f"{self.scratch}/counter.so,to={into}", self.programs[processor],
                   arguments[0], "--source", self.scratch / f"{length}.{capture}", *arguments[1:]]
        run = subprocess.run(command, env=ENVIRONMENT, capture_output=True)
        if run.returncode != 0:
            sys.exit(f"{task} on {processor}: status {run.returncode}\n{run.stderr.decode(errors='replace')}")
        with open(into) as lines:
            total = int(next(lines))
            blocks = [tuple(map(int, line.split())) for line in lines]
        into.unlink()
        return Count(total, blocks, (run.stdout, run.stderr))

    def both(self, processor, task):
        """Returns the counts for the shorter and for the longer capture."""
        return self.count(processor, task, "once"), self.count(processor, task, "twice")


def table(counter):
    print(f"| {' | '.join(['task', 'adverts', 'x86_64', *(f'{name} | ratio' for name in list(PROCESSORS)[1:])])} |")
    print("|---" + "|---:" * (2 * len(PROCESSORS)) + "|", flush=True)
    failures = []
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", 2))) as pool:
        runs = {task: {name: pool.submit(counter.both, name, task) for name in PROCESSORS} for task in TASKS}
        for task, futures in runs.items():
            counts = {name: future.result() for name, future in futures.items()}
            each = {name: (twice.sum - once.sum) / TASKS[task].adverts for name, (once, twice) in counts.items()}
            row = [task, f"{TASKS[task].adverts:,}", f"{each['x86_64']:,.0f}"]
            for name in list(PROCESSORS)[1:]:
                ratio = each[name] / each["x86_64"]
                row += [f"{each[name]:,.0f}", f"{ratio:.2f}"]
                if ratio > LIMIT:
                    failures.append(f"{task}: {name} needs {ratio:.2f} times the instructions of x86_64; the limit is {LIMIT}")
                if [count.output for count in counts[name]] != [count.output for count in counts["x86_64"]]:
                    failures.append(f"{task}: {name} and x86_64 print different bytes")
            print(f"| {' | '.join(row)} |", flush=True)
    return failures


# MARK: - Where they are

MARK = re.compile(r"\$[dx](\.|$)")


class Symbols:
    """The functions of a program, by their position in its code."""

    def __init__(self, program):
        headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
        self.code = min(int(address, 16) for address in re.findall(r"LOAD +\S+ (\S+) .* R E ", headers))
        debug = program.parent / "debug" / f"{program.name}.debug"
        listed = subprocess.run(["nm", "--defined-only", "-n", debug], capture_output=True, text=True, check=True).stdout
        found = [line.split(maxsplit=2) for line in listed.splitlines()]
        # lld marks code and data in Arm functions with $x and $d.
        found = [(int(address, 16), name) for address, kind, name in found if kind in "tTwW" and not MARK.match(name)]
        self.addresses, self.names = zip(*found)

    def name(self, offset):
        address = self.code + offset
        if not self.addresses[0] <= address <= self.addresses[-1] + 0x1_0000:
            return "(libraries)"
        return self.names[bisect.bisect(self.addresses, address) - 1]


def where(counter, task):
    """Prints the functions with the most instructions on any processor."""
    functions = collections.defaultdict(lambda: dict.fromkeys(PROCESSORS, 0))
    for processor in PROCESSORS:
        symbols = Symbols(counter.programs[processor])
        for sign, count in zip((-1, 1), counter.both(processor, task)):
            for offset, instructions, runs in count.blocks:
                functions[symbols.name(offset)][processor] += sign * instructions * runs / TASKS[task].adverts
    rows = sorted(functions.items(), key=lambda row: -max(row[1].values()))[:FUNCTIONS]
    names = subprocess.run(["swift", "demangle", "--simplified"], input="\n".join(name for name, _ in rows),
                           capture_output=True, text=True, check=True).stdout.splitlines()
    print("".join(f"{processor:>9}" for processor in PROCESSORS) + f"  instructions per advert: {task}")
    sums = {name: sum(row[name] for row in functions.values()) for name in PROCESSORS}
    for name, row in [("in all", sums), *((name, row) for name, (_, row) in zip(names, rows))]:
        print("".join(f"{row[processor]:9,.1f}" for processor in PROCESSORS) + f"  {name}")


def main():
    parser = argparse.ArgumentParser(add_help=False, usage="scripts/count-instructions [--where TASK] [HERE ARM64]")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--trixie", type=pathlib.Path, required=True)
    parser.add_argument("--where", choices=TASKS, metavar="TASK")
    parser.add_argument("here", type=pathlib.Path, nargs="?", default=".build/binaries")
    parser.add_argument("arm64", type=pathlib.Path, nargs="?", default=".build/binaries-arm64")
    arguments = parser.parse_args()
    for folder in arguments.here, arguments.arm64:
        if not (folder / "beacon").exists():
            sys.exit(f"{folder / 'beacon'} does not exist; build it with scripts/binaries, for arm64 with ARCH=arm64 scripts/binaries")
    counter = Counter(arguments.scratch, arguments.trixie, arguments.here, arguments.arm64)
    make_captures(arguments.scratch, arguments.here / "beacon")
    if arguments.where:
        where(counter, arguments.where)
        return
    if failures := table(counter):
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
