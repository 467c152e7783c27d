"""Many connections and slow clients at a running beacond (scripts/check-console)."""

import base64
import contextlib
import json
import re
import resource
import socket
import threading
import time

from beacond_checks import proximity, until

# Seconds: far more than an answer takes, and less than any client waits.
SOON = 1.0
KEYS = base64.b64encode(b"key:secret").decode()


def connect(gateway, **options):
    connection = socket.socket()
    for option, value in options.items():
        connection.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", gateway.port))
    return connection


def ask(connection, path, method="GET", headers="", body=b""):
    connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode() + body)


def answer(connection):
    """Returns the head and the beginning of the body, or less if the connection ends."""
    data = b""
    with contextlib.suppress(OSError):
        while b"\r\n\r\n" not in data and (part := connection.recv(65536)):
            data += part
    return data


def status(gateway, path):
    """Returns the status of an answer, which must arrive soon."""
    begin = time.monotonic()
    with contextlib.closing(connect(gateway)) as connection:
        ask(connection, path)
        data = answer(connection)
    took = time.monotonic() - begin
    assert took < SOON, f"{path} took {took:.1f} s"
    return int(data.split(b" ")[1]) if data else 0


def metric(gateway, name):
    with contextlib.closing(connect(gateway)) as connection:
        ask(connection, "/metrics", headers="Connection: close\r\n")
        data = b""
        while part := connection.recv(65536):
            data += part
    return int(re.search(rf"^{name} (\d+)$", data.decode(), re.MULTILINE)[1])


def check_crowd(gateway):
    """Checks that one client's many connections do not block the console and health checks."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    until(lambda: gateway.status("/v1/ready") == 200, "no receiver hears")
    idle = []
    for number in range(530):
        idle.append(connect(gateway))
        # Half send a request and keep the connection, as browsers do. The others send nothing.
        if number % 2:
            ask(idle[-1], "/v1/status")
            answer(idle[-1])
    assert status(gateway, "/v1/ready") == 200 and status(gateway, "/v1/status") == 200
    assert metric(gateway, "beacon_console_connections_displaced_total") > 100
    for connection in idle:
        connection.close()
    busy = fill(gateway)
    log = open(gateway.log).read()
    assert log.count("refuses requests from 127.0.0.1") == 1, log
    for connection in busy:
        connection.close()
    until(lambda: gateway.status("/v1/status") == 200, "the console does not answer again")
    print("ok   530 connections of one client, idle and busy: readiness is answered within a second")


def fill(gateway):
    """Takes all connections with incomplete requests, and returns them.

    beacond ends such a request after 20 s. A slow machine may need that long to send them all; then it tries again.
    """
    answers = []
    for _ in range(4):
        end = time.monotonic() + 15
        busy = []
        for _ in range(530):
            busy.append(connect(gateway))
            with contextlib.suppress(OSError):
                ask(busy[-1], "/v1/app-installs/crowd/events", "POST",
                    f"Authorization: Basic {KEYS}\r\nContent-Length: 100000\r\n", b"[")
        # beacond may still be accepting the last of them, and may close a status request's connection for one.
        while time.monotonic() < end:
            answers = [status(gateway, path) for _ in range(5) for path in ("/v1/ready", "/v1/status")]
            if answers == [200, 503] * 5:
                return busy
        for connection in busy:
            connection.close()
    raise AssertionError(f"only readiness must be answered while all connections are taken, but the answers are {answers}")


def check_slowness(gateway):
    """Checks that slow clients get everything, and that stalled ones get an answer or are disconnected."""
    faults = []
    ended = metric(gateway, "beacon_console_readers_too_slow_total")

    def upload():
        text = json.dumps([proximity("slow")]).encode()
        body = text[:1] + b" " * (600_000 - len(text)) + text[1:]
        with contextlib.closing(connect(gateway)) as connection:
            ask(connection, "/v1/app-installs/slow/events", "POST",
                f"Authorization: Basic {KEYS}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n")
            for place in range(0, len(body), 5_000):
                connection.sendall(body[place:place + 5_000])
                time.sleep(0.1)
            data = answer(connection)
            assert data.startswith(b"HTTP/1.1 2"), data[:400]

    def stop():
        with contextlib.closing(connect(gateway)) as connection:
            ask(connection, "/v1/app-installs/slow/events", "POST",
                f"Authorization: Basic {KEYS}\r\nContent-Length: 600000\r\n", b"[")
            data = answer(connection)
            assert data.startswith(b"HTTP/1.1 408") and b"application/problem+json" in data, data

    def read():
        with contextlib.closing(connect(gateway, SO_RCVBUF=4096)) as connection:
            ask(connection, "/v1/backup", headers="Connection: close\r\n")
            data, begin = b"", time.monotonic()
            # 3 kB per second, so that the whole answer takes longer than beacond waits for a stalled client.
            while part := connection.recv(500):
                data += part
                time.sleep(max(0, begin + len(data) / 3_000 - time.monotonic()))
            assert len(data) > 60_000 and data.endswith(b"0\r\n\r\n"), f"a slow reader got {len(data)} bytes that end with {data[-60:]}"

    def ignore():
        with contextlib.closing(connect(gateway, SO_RCVBUF=4096)) as connection:
            # More answers than all buffers in between hold.
            for _ in range(400):
                ask(connection, "/v1/openapi.json")
            until(lambda: metric(gateway, "beacon_console_readers_too_slow_total") > ended, "a client that never reads stays connected")

    def run(work):
        try:
            work()
        except (AssertionError, OSError, SystemExit) as fault:
            faults.append(f"{work.__name__}: {fault!r}")

    threads = [threading.Thread(target=run, args=[work]) for work in (upload, stop, read, ignore)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults
    print("ok   slow clients send and get everything; a stalled request gets 408, and a client that never reads is disconnected")
