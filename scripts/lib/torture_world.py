"""The environment of scripts/torture: the air with its beacons, failing receivers of notifications, and waiting."""

import hashlib
import json
import os
import socket
import threading
import time

UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
REGIONS = 12
# A wait takes seconds, but can take a minute on a busy machine. Only a hang takes this long.
HANG = 240
# The limit of the audit trail (docs/console.md).
RUNS = 20000
# The limit of a short history, the lowest that can be set.
KEPT = 100
# The default limit of the history (docs/console.md).
HISTORY = 100_000


class Failure(Exception):
    pass


def wait(what, condition, seconds=HANG, step=0.02):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"waited {seconds} s: {what}")
        time.sleep(step)


def hashed_id(text):
    """Returns the id that beacond makes of a text, in hexadecimal: a UUID of version 8 (RFC 9562, 5.8)."""
    digest = bytearray(hashlib.sha256(text.encode()).digest()[:16])
    digest[6], digest[8] = digest[6] & 0x0F | 0x80, digest[8] & 0x3F | 0x80
    return digest.hex()


class Receiver:
    """A server with every kind of bad answer."""

    STATUS = [301, 400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504]
    MODES = ["ok", "status", "hang", "reset", "slow", "endless", "half", "close"]

    def __init__(self, read):
        self.read = read
        self.mode, self.status, self.turn = "ok", 200, 0
        self.accepted, self.refused, self.seen = [], set(), set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def set(self, mode, status=200):
        with self.lock:
            self.mode, self.status = mode, status
            self.turn += 1

    def listen(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with connection, connection.makefile("rb") as file:
                while self.answer(connection, file):
                    pass
        except OSError:
            pass

    def answer(self, connection, file):
        if not file.readline():
            return False
        length = 0
        while line := file.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        try:
            events = self.read(json.loads(file.read(length)))
        except ValueError:
            # The sender was killed during the request.
            return False
        with self.lock:
            mode, status, turn = self.mode, self.status, self.turn
        if mode == "hang":
            # Until the mode changes.
            end = time.monotonic() + 20
            while self.turn == turn and time.monotonic() < end:
                time.sleep(0.05)
            return False
        if mode == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            return False
        if mode == "close":
            return False
        if mode == "half":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
            return False
        if mode == "endless":
            # beacond reads at most 64 kB of a body, so it takes this as a success.
            self.accept(events)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(1000):
                connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")
            return False
        text = b"x\x1b[31m\x07" * 3
        if mode == "status":
            if status in (400, 413, 422):
                with self.lock:
                    self.refused |= {event["id"] for event in events}
            extra = b"Retry-After: 0\r\n" if status in (429, 503) else b""
            connection.sendall(b"HTTP/1.1 %d X\r\n%bContent-Length: %d\r\n\r\n%b" % (status, extra, len(text), text))
            return True
        reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        self.accept(events)
        if mode == "slow":
            for index in range(len(reply)):
                connection.sendall(reply[index : index + 1])
                time.sleep(0.01)
        else:
            connection.sendall(reply)
        return True

    def accept(self, events):
        with self.lock:
            for event in events:
                if event["id"] not in self.seen:
                    self.seen.add(event["id"])
                    self.accepted.append(event)


def read_webhook(body):
    return [entry["data"] for entry in (body if isinstance(body, list) else [body])]


def read_kumulos(body):
    return [{"id": event["uuid"], "kind": "proximity", "region": None, "time": event["timestamp"] / 1000} for event in body]

class Air:
    """Beacons that come and go: a sighting log in a pipe, ten times as fast as real time."""

    def __init__(self, path, generator):
        os.mkfifo(path)
        self.pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.random = generator
        self.time = 1_800_000_000.0
        self.present = set()
        self.invented = 0
        self.is_paused = False
        self.is_closed = False
        self.lock = threading.Lock()
        threading.Thread(target=self.run, daemon=True).start()

    def line(self, major, minor, rssi=-60, address=None):
        return (
            json.dumps(
                {
                    "time": round(self.time, 3), "receiver": "torture",
                    "address": address or f"c0:00:00:{major >> 8:02x}:{major & 255:02x}:{minor & 255:02x}",
                    "uuid": UUID, "major": major, "minor": minor, "measuredPower": -59, "rssi": rssi,
                },
                separators=(",", ":"),
            )
            + "\n"
        ).encode()

    def run(self):
        while not self.is_closed:
            time.sleep(0.01)
            if self.is_paused:
                continue
            self.time += 0.1
            with self.lock:
                # The adverts of this unmonitored beacon advance beacond's clock.
                lines = [self.line(9999, 1)]
                lines += [self.line(region, 1, self.random.randint(-64, -56)) for region in self.present]
                for _ in range(self.invented):
                    number = self.random.getrandbits(16)
                    lines.append(self.line(7777, number, address=f"c1:00:00:00:{number >> 8:02x}:{number & 255:02x}"))
            self.send(lines)

    def send(self, lines):
        # Whole lines: writes of up to PIPE_BUF bytes are atomic.
        chunk = b""
        for line in lines + [b""]:
            if chunk and (not line or len(chunk) + len(line) > 4096):
                while not self.is_closed:
                    try:
                        os.write(self.pipe, chunk)
                        break
                    except BlockingIOError:
                        # The air waits for beacond: with a lost line, a beacon could seem to leave.
                        time.sleep(0.01)
                chunk = b""
            chunk += line

    def drain(self):
        """Empties the pipe after a process has ended, since its content may begin within a line."""
        try:
            while os.read(self.pipe, 1 << 16):
                pass
        except BlockingIOError:
            pass
