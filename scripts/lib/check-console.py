"""Checks beacond's console and its HTTP interface. Run by scripts/check-console, which installs the packages."""

import base64
import contextlib
import getpass
import json
import os
import re
import resource
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from beacond_checks import BEACOND, HANG, UUID, Browser, Gateway, museum, proximity, until

PAGES = [
    "", "range", "configure", "events", "rules", "people", "receivers", "fleet", "deliveries", "health", "settings",
    "settings/places", "settings/beacons", "settings/sources", "settings/destinations", "settings/apps", "settings/secrets",
    "settings/plan", "settings/backup",
]


def check_interface(gateway):
    """Checks the interface against its OpenAPI document with schemathesis."""
    items = r"^/v1/(regions|places|registered-beacons|rules)(/(\{name\}|try))?$"
    count = 0
    for paths, checks in [
        # Streams do not end. An export and a backup are as large as the history. Requests of apps need keys, and have
        # separate checks. OpenAPI cannot express "one of two parameters". A take-over would change the other checks' file,
        # and a source their adverts.
        (["--exclude-path-regex", "stream|export|session|backup|sightings|app-installs|webhooks|adverts|take-over|v1/sources|destinations|" + items],
         "positive_data_acceptance"),
        # Settings may also have the other forms of the file, such as 10 for 10s.
        (["--include-path-regex", items], "positive_data_acceptance,negative_data_rejection"),
    ]:
        result = subprocess.run(
            [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", gateway.address + "/v1/openapi.json",
             "--url", gateway.address, "--max-examples", "25", "--no-color", "--seed", "1", *paths, "--exclude-checks", checks],
            capture_output=True, text=True, cwd=gateway.folder)
        if result.returncode != 0:
            sys.exit("FAIL: the interface differs from its OpenAPI document:\n" + result.stdout[-6000:] + result.stderr[-2000:])
        found = re.search(r"(\d+) generated", result.stdout)
        count += int(found[1]) if found else 0
    print(f"ok   the interface matches v1/openapi.json, in {count} requests")


def check_hostility(gateway):
    """Checks malformed requests, silent readers and hostile pages: beacond keeps running, and rejects the pages."""
    import random
    draw = random.Random(1)
    good = f"GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1:{gateway.port}\r\n\r\n".encode()
    fixed = [
        b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 100, b"\x16\x03\x01\x02\x00\x01",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(5000)) + b"\r\n",
        b"PUT /v1/advertising HTTP/1.1\r\nHost: localhost\r\nX-Beacon-Console: 1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"PUT /v1/advertising HTTP/1.1\r\nHost: localhost\r\nX-Beacon-Console: 1\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n" + b"x" * 1000,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]
    for data in fixed:
        gateway.send(data, wait=False)
    for _ in range(1_000):
        data = bytearray(good)
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        gateway.send(bytes(data), wait=False)
    # Clients that never read must not affect the others.
    silent = []
    for _ in range(50):
        connection = socket.create_connection(("127.0.0.1", gateway.port))
        connection.sendall(good.replace(b"status", b"ranging/stream"))
        silent.append(connection)
    assert gateway.get("/v1/status")["machine"], "it answers"
    for connection in silent:
        connection.close()
    # A page of another site, also one whose name was rebound to this machine.
    assert gateway.status("/v1/status", Host="evil.example") == 421
    assert gateway.status("/v1/status", Origin="https://evil.example") == 403
    assert gateway.status("/v1/events/stream", Sec_Fetch_Site="cross-site") == 403
    beacon = {"uuid": UUID, "major": 1, "minor": 1, "measuredPower": -59, "enabled": True}
    assert gateway.status("/v1/advertising", "PUT", beacon) == 403
    assert gateway.status("/v1/outbox/drop", "POST", {"destination": "crm", "state": "all"}) == 403
    print("ok   a thousand malformed requests, silent clients and hostile pages change nothing")


def check_kills(gateway):
    """Checks that events have consecutive numbers over kills and restarts."""
    seen = []
    for _ in range(5):
        count = len(seen)
        until(lambda: len(gateway.get("/v1/events?limit=1000")["events"]) > count, "no more events arrive")
        gateway.kill()
        gateway.start()
        until(lambda: gateway.get("/v1/events?limit=1")["events"], "the history is empty after a kill")
        events = gateway.get("/v1/events?limit=1000")["events"]
        numbers = [event["id"] for event in reversed(events)]
        assert numbers == list(range(1, len(numbers) + 1)), numbers
        summaries = [(event["id"], event["summary"]) for event in reversed(events)]
        assert summaries[: len(seen)] == seen, "the past has changed"
        seen = summaries
    print(f"ok   five kills: {len(seen)} events, none lost and none repeated")


def check_connections(gateway):
    """Checks that a crowd of idle connections ends, and that a slow reader gets a whole answer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    crowd = [socket.create_connection(("127.0.0.1", gateway.port), HANG) for _ in range(530)]
    for connection in crowd:
        with contextlib.closing(connection), contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    until(lambda: gateway.status("/v1/ready") == 200, "the console does not answer again")
    with contextlib.closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", gateway.port))
        # More bytes than the buffers in between hold, at a rate for which they take longer than any stall may last.
        ask = b"GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: %b\r\n\r\n"
        connection.sendall(ask % b"keep-alive" * 3 + ask % b"close")
        data, begin = b"", time.monotonic()
        while part := connection.recv(2_000):
            data += part
            time.sleep(max(0, begin + len(data) / 10_000 - time.monotonic()))
        assert data.count(b"HTTP/1.1 200 OK") == 4 and data.rstrip().endswith(b"}"), f"a slow reader got {len(data)} bytes"
    print("ok   530 idle connections end by themselves, and a slow reader gets a whole answer")


def check_reload(gateway):
    """Checks SIGHUP with open streams: they continue if nothing has changed, and otherwise end and can be opened again."""
    with open(gateway.path) as file:
        text = file.read()

    def begin():
        streams = []
        for path in ["events/stream", "ranging/stream"]:
            stream = socket.create_connection(("127.0.0.1", gateway.port), timeout=HANG)
            stream.sendall(f"GET /v1/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert stream.recv(100), "the stream does not begin"
            streams.append(stream)
        return streams

    def logged(words):
        return open(gateway.log).read().count(words)

    for number in range(3):
        streams, count = begin(), logged("the console is at")
        with open(gateway.path, "w") as file:
            file.write(text.replace("127.0.0.1:0\"", f"127.0.0.1:{gateway.port}\", names: [console{number}.test]"))
        gateway.process.send_signal(signal.SIGHUP)
        for stream in streams:
            while stream.recv(65536):
                pass
            stream.close()
        until(lambda: logged("the console is at") > count, "it does not listen again")
        assert gateway.get("/v1/status")["machine"]

    streams, count = begin(), logged("unchanged parts continue")
    gateway.process.send_signal(signal.SIGHUP)
    until(lambda: logged("unchanged parts continue") > count, "the configuration is not read again")
    assert gateway.get("/v1/status")["machine"]
    for stream in streams:
        stream.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                assert stream.recv(65536), "a stream ends although nothing has changed"
        stream.close()
    log = open(gateway.log).read()
    assert "Z error" not in log and "cannot listen" not in log, log
    stream = socket.create_connection(("127.0.0.1", gateway.port), timeout=HANG)
    stream.sendall(b"GET /v1/events/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    stream.recv(100)
    gateway.process.terminate()
    assert gateway.process.wait(HANG) == 0, open(gateway.log).read()
    gateway.start()
    print("ok   reloads and a shutdown with open streams")


def check_pages(gateway, pictures):
    from axe_selenium_python import Axe
    words = {
        "": "front room", "range": "Add", "configure": "Measured power", "events": "is near at amber", "rules": "lights",
        "receivers": "hci0", "fleet": "not in a fleet", "deliveries": "crm", "health": "crm", "people": "mia",
        "settings": "front room", "settings/places": "fame", "settings/beacons": "amber", "settings/apps": "museum app",
        "settings/sources": "museum", "settings/destinations": "crm", "settings/secrets": "No secrets|Not used",
        "settings/plan": "hci0", "settings/backup": "backup",
    }
    # Each page needs content.
    user = {"type": "k.stats.userAssociated", "uuid": "u", "data": {"id": "mia", "attributes": {"plan": "gold"}}}
    assert gateway.send_events([user, proximity(1, user="mia")]) == 204
    for width, scheme in [(1280, "light"), (360, "dark")]:
        browser = Browser(width, scheme=scheme)
        try:
            for page in PAGES:
                browser.driver.get(f"{gateway.address}/#/{page}")
                browser.sees(words[page], f"\"{words[page]}\" on the page \"{page or 'now'}\"")
                if pictures:
                    browser.driver.save_screenshot(os.path.join(pictures, f"{(page or 'now').replace('/', '-')}-{width}-{scheme}.png"))
                until(
                    lambda: browser.driver.execute_script(
                        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
                    f"the page \"{page}\" is wider than the window of {width}")
                axe = Axe(browser.driver)
                axe.inject()
                violations = axe.run()["violations"]
                assert not violations, f"the page \"{page}\": {axe.report(violations)}"
            # The page must show a configured name as text, even if it contains HTML.
            browser.driver.get(f"{gateway.address}/#/")
            browser.sees("hall <b>of</b> fame")
            assert not browser.errors(), browser.errors()
        finally:
            browser.driver.quit()
    print("ok   each page, wide and light, narrow and dark: its content appears, and axe-core finds no problem")


def check_use(gateway):
    """Checks "Why?" by keyboard, and a lost connection."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    browser = Browser()
    try:
        driver = browser.driver
        driver.get(f"{gateway.address}/#/")
        browser.sees("front room")
        # The Tab key must reach "Why?", and Enter must open it.
        body = driver.find_element(By.TAG_NAME, "body")
        for _ in range(60):
            driver.switch_to.active_element.send_keys(Keys.TAB)
            if "Why" in driver.switch_to.active_element.text:
                break
        assert "Why" in driver.switch_to.active_element.text, "the keyboard cannot reach Why?"
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        browser.sees("What would change it")
        driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        until(lambda: "What would change it" not in browser.text(), "Escape does not close the dialog")
        gateway.kill()
        browser.sees("[Cc]onnection lost")
        gateway.fix_port()
        gateway.start()
        until(lambda: not re.search("[Cc]onnection lost", browser.text()), "the connection does not return")
        assert not browser.errors(), browser.errors()
    finally:
        browser.driver.quit()
    print("ok   Why? by keyboard, and a lost connection that returns by itself")


def check_air(folder):
    """Checks two machines: one becomes a beacon in its console, and the other ranges it in its own."""
    from selenium.webdriver.common.by import By
    runtime = os.path.join(folder, "runtime")
    os.mkdir(runtime, 0o700)
    def gateway(name, place):
        own = os.path.join(folder, name)
        os.mkdir(own)
        return Gateway(own, f"""
sources: [{{ name: air, from: "air@{place}" }}]
regions: [{{ name: all, uuid: {UUID} }}]
outbox: {{ path: {own}/beacond.sqlite }}
web: {{ listen: "127.0.0.1:0" }}
""", {"XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": own})
    beacon, ranger = gateway("beacon", "1,0"), gateway("ranger", "0,0")
    one, other = Browser(), Browser()
    try:
        one.driver.get(f"{beacon.address}/#/configure")
        one.sees("Measured power")
        for name, value in [("major", "3"), ("minor", "4")]:
            field = one.driver.find_element(By.ID, f"field-{name}")
            field.clear()
            field.send_keys(value)
        one.driver.find_element(By.ID, "enabled").click()
        until(lambda: (beacon.get("/v1/advertising")["beacon"] or {}).get("state") == "on", "the beacon does not advertise")
        assert beacon.get("/v1/advertising")["beacon"]["major"] == 3
        other.driver.get(f"{ranger.address}/#/range")
        other.sees("Add")
        [button for button in other.driver.find_elements(By.TAG_NAME, "button") if button.text.strip() == "Add"][0].click()
        other.sees(r"(Immediate|Near|IMMEDIATE|NEAR).*\d\.\d+ m", "the beacon nearby")
        # After a kill, the beacon returns without the user.
        beacon.kill()
        beacon.start()
        until(lambda: (beacon.get("/v1/advertising")["beacon"] or {}).get("state") == "on", "it does not advertise after a restart")
        until(lambda: ranger.get("/v1/regions")["regions"][0]["state"] == "inside", "the region is not inside")
        assert not one.errors() + other.errors(), one.errors() + other.errors()
    finally:
        one.driver.quit()
        other.driver.quit()
        beacon.kill()
        ranger.kill()
    print("ok   a machine becomes a beacon in one browser, is ranged in another, and advertises again after a kill")


def check_token(folder):
    """Checks a console with a token: requests without it fail, and a browser asks for it once."""
    made = subprocess.run([BEACOND, "token"], capture_output=True, text=True, check=True).stdout
    token, digest = re.search(r"token: +(\S+)\ntoken-hash: (\S+)", made).groups()
    own = os.path.join(folder, "token")
    os.mkdir(own)
    gateway = Gateway(own, museum(own).replace('web: { listen: "127.0.0.1:0" }', f'web: {{ listen: "127.0.0.1:0", token-hash: {digest} }}'))
    browser = Browser()
    try:
        assert gateway.status("/v1/status") == 401
        assert gateway.status("/v1/status", Authorization=f"Bearer {token}") == 200
        assert gateway.status("/v1/status", Authorization="Bearer no") == 401
        browser.driver.get(gateway.address + "/")
        browser.sees("[Tt]oken")
        from selenium.webdriver.common.keys import Keys
        from selenium.webdriver.common.by import By
        field = until(
            lambda: [field for field in browser.driver.find_elements(By.CSS_SELECTOR, "dialog input") if field.is_displayed()],
            "no field for the token")[0]
        field.send_keys(token, Keys.ENTER)
        browser.sees("front room")
    finally:
        browser.driver.quit()
        gateway.kill()
    print("ok   only the token opens the console, and a browser asks for it once")


def check_take_over(folder, pictures):
    """Checks that a beacon and a rule of the file are taken over by keyboard, can be edited then, and stay after a restart."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    own = os.path.join(folder, "take-over")
    os.mkdir(own)
    gateway = Gateway(own, f"""sources: [air]
web: {{ listen: "127.0.0.1:0" }}
outbox: {{ path: {own}/beacond.sqlite }}
beacons:
  # Ann's
  - {{ name: keys, uuid: {UUID}, major: 1, minor: 1 }}
  # Bob's
  - {{ name: bag, uuid: {UUID}, major: 1, minor: 2 }}
launch:
  rules:
    - name: greet
      beacons: [bag]
      events: [near]
      message: hello
""")
    gateway.fix_port()
    for width, scheme in [(1280, "light"), (390, "dark")]:
        browser = Browser(width, scheme=scheme)
        driver = browser.driver

        def button(label):
            path = f"//button[@aria-label='{label}' and not(@hidden)]"
            return until(lambda: driver.find_elements(By.XPATH, path), f"there is no button {label}")[0]

        def picture(name):
            if pictures:
                time.sleep(0.3)
                driver.save_screenshot(os.path.join(pictures, f"take-over-{name}-{width}-{scheme}.png"))

        def confirm():
            browser.sees("a copy of the file is kept")
            picture("question")
            driver.find_element(By.CSS_SELECTOR, "dialog[open] button[value=yes]").send_keys(Keys.ENTER)

        try:
            driver.get(f"{gateway.address}/#/settings/beacons")
            name = "keys" if width == 1280 else "bag"
            browser.sees("take them over")
            picture("list")
            if width == 390:
                # The rule of the file still refers to it.
                button("Take over bag from the file").send_keys(Keys.ENTER)
                confirm()
                browser.sees("would not be valid")
                picture("refused")
                driver.get(f"{gateway.address}/#/rules")
                button("Take over greet from the file").send_keys(Keys.ENTER)
                confirm()
                button("Edit greet")
                picture("rule")
                driver.get(f"{gateway.address}/#/settings/beacons")
            button(f"Take over {name} from the file").send_keys(Keys.ENTER)
            confirm()
            button(f"Edit {name}")
            until(lambda: driver.switch_to.active_element.get_attribute("aria-label") == f"Edit {name}", "the focus is lost")
            picture("taken")
            assert not browser.errors(), browser.errors()
        finally:
            driver.quit()
    with open(gateway.path) as file:
        text = file.read()
    assert "beacons: []" in text and "# Ann's" in text and "keys" not in text and "greet" not in text, text
    gateway.kill()
    gateway.start()
    items = gateway.get("/v1/registered-beacons")["beacons"] + gateway.get("/v1/rules")["rules"]
    assert [(one["name"], one["origin"]) for one in items] == [(one, "console") for one in ["keys", "bag", "greet"]], items
    gateway.kill()
    print("ok   items of the file are taken over by keyboard, wide and narrow, and stay after a restart")


def check_connections_forms(folder, pictures):
    """Checks the forms of sources, destinations, secrets and a receiver's room, wide and narrow, and that all of it survives
    a restart. A destination that is added while beacond runs gets the events."""
    from axe_selenium_python import Axe
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select
    own = os.path.join(folder, "connections")
    os.mkdir(own)
    received = []

    class Receiver(socketserver.StreamRequestHandler):
        def handle(self):
            while line := self.rfile.readline():
                length = 0
                while (header := self.rfile.readline().strip()):
                    if header.lower().startswith(b"content-length:"):
                        length = int(header.split(b":")[1])
                received.append(self.rfile.read(length))
                self.wfile.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Receiver)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    gateway = Gateway(own, f"""sources: [air]
regions: [{{ name: museum, uuid: {UUID} }}]
web: {{ listen: "127.0.0.1:0" }}
outbox: {{ path: {own}/beacond.sqlite }}
""")
    gateway.fix_port()
    for width, scheme in [(1280, "light"), (390, "dark")]:
        browser = Browser(width, scheme=scheme)
        driver = browser.driver

        def button(label):
            path = f"//button[(@aria-label='{label}' or .='{label}') and not(@hidden)]"
            found = until(lambda: [one for one in driver.find_elements(By.XPATH, path) if one.is_displayed()], f"there is no button {label}")
            return found[-1]

        def field(key):
            return driver.find_element(By.CSS_SELECTOR, f"dialog[open] [data-key='{key}'] input, dialog[open] [data-key='{key}'] textarea")

        def fault(key):
            return driver.find_element(By.CSS_SELECTOR, f"dialog[open] [data-key='{key}'] .field-problem").text

        def kind(word):
            Select(driver.find_element(By.CSS_SELECTOR, "dialog[open] select")).select_by_value(word)

        def picture(name):
            if pictures:
                time.sleep(0.3)
                driver.save_screenshot(os.path.join(pictures, f"connections-{name}-{width}-{scheme}.png"))

        def check(name):
            picture(name)
            assert driver.execute_script("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"), f"{name} is wider than {width}"
            axe = Axe(driver)
            axe.inject()
            violations = axe.run()["violations"]
            assert not violations, f"{name}: {axe.report(violations)}"

        def submit(verb):
            driver.find_element(By.XPATH, f"//dialog[@open]//button[.='{verb}']").click()

        def closed():
            until(lambda: not driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), "the dialog does not close")

        try:
            suffix = f"{width}"
            driver.get(f"{gateway.address}/#/settings/destinations")
            button("Add a destination").click()
            submit("Add the destination")
            until(lambda: "Write a name" in fault("name") and "address" in fault("host"), "the faults are not at their fields")
            field("name").send_keys("home " + suffix)
            field("host").send_keys("127.0.0.1")
            field("port").send_keys("1")
            field("user").send_keys("ann")
            field("password").send_keys("open sesame")
            submit("Try")
            browser.sees("127.0.0.1", "the result of the trial")
            until(lambda: driver.find_elements(By.CSS_SELECTOR, "dialog[open] .notice.bad[role=status]"), "the trial of a dead broker does not fail")
            check("broker")
            field("topic").send_keys(f"test/{suffix}")
            submit("Add the destination")
            closed()
            browser.sees(f"home {suffix}")
            button(f"Edit home {suffix}").click()
            until(lambda: field("password").get_attribute("placeholder").startswith("Set;"), "the form does not know the password")
            assert field("password").get_attribute("value") == ""
            field("host").send_keys("0")
            submit("Save")
            closed()
            button("Add a destination").click()
            kind("webhook")
            field("name").send_keys("cloud " + suffix)
            field("url").send_keys(f"http://127.0.0.1:{server.server_address[1]}/")
            submit("Try")
            browser.sees("accepted a heartbeat")
            check("webhook")
            submit("Add the destination")
            closed()
            check("destinations")
            driver.get(f"{gateway.address}/#/settings/sources")
            button("Add a source").click()
            kind("mqtt")
            check("source-broker")
            kind("esphome")
            field("esphome.key").send_keys("no key")
            field("name").send_keys("museum " + suffix)
            submit("Add the source")
            until(lambda: fault("esphome.key") or "key" in driver.find_element(By.CSS_SELECTOR, "dialog[open] .dialog-foot .notice").text, "a wrong key is not refused")
            check("source-proxies")
            kind("simulation")
            submit("Try")
            browser.sees("It can be opened")
            submit("Add the source")
            closed()
            browser.sees(f"museum {suffix}")
            check("sources")
            until(lambda: len(received) > 1, "the added destination gets no event of the added source")
            driver.get(f"{gateway.address}/#/receivers")
            path = "//button[starts-with(@aria-label, 'Change the room of')]"
            until(lambda: driver.find_elements(By.XPATH, path), "no receiver has a button for its room")[0].click()
            field("place").clear()
            field("place").send_keys("Room " + suffix)
            check("room")
            submit("Save")
            closed()
            browser.sees(f"Room {suffix}")
            picture("receivers")
            driver.get(f"{gateway.address}/#/settings/secrets")
            browser.sees(f"destination-home-{suffix}-password.*Used by the destination")
            button("Set a secret").click()
            field("name").send_keys("spare-" + suffix)
            field("value").send_keys("other words")
            check("secret")
            submit("Set the secret")
            closed()
            browser.sees(f"spare-{suffix}.*Not used")
            check("secrets")
            button(f"Remove destination-home-{suffix}-password").click()
            driver.find_element(By.CSS_SELECTOR, "dialog[open] button[value=yes]").click()
            browser.sees("change that first")
            assert not browser.errors(), browser.errors()
        finally:
            driver.quit()
    gateway.kill()
    received.clear()
    gateway.start()
    names = [one["name"] for one in gateway.get("/v1/sources")["configured"] + gateway.get("/v1/destinations")["destinations"]]
    wanted = {f"{word} {width}" for word in ["museum", "home", "cloud"] for width in [1280, 390]}
    assert wanted <= set(names), names
    shown = json.dumps([gateway.get(path) for path in ["/v1/sources", "/v1/destinations", "/v1/secrets"]]) + open(gateway.log).read()
    assert "sesame" not in shown and "other words" not in shown, "a secret is shown"
    until(lambda: received, "the destination gets nothing after a restart")
    gateway.kill()
    server.shutdown()
    print("ok   sources, destinations, secrets and a room are entered in forms, wide and narrow, and survive a restart")


def check_setup(folder, pictures, host):
    """Checks `beacond setup` without a configuration: its link leads through its steps to a file, and to the pages. This
    browser needs no token, even if beacond listens for other machines."""
    from axe_selenium_python import Axe
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    own = os.path.join(folder, f"setup-{host}")
    os.mkdir(own)
    path = os.path.join(own, "beacond.yaml")
    runtime = os.path.join(own, "runtime")
    os.mkdir(runtime, 0o700)
    environment = dict(os.environ, XDG_STATE_HOME=own, XDG_RUNTIME_DIR=runtime, STATE_DIRECTORY=own, TZ="UTC")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = open(os.path.join(own, "log"), "w+")
    process = subprocess.Popen(
        [BEACOND, "setup", "--config", path, "--listen", f"{host}:{port}"], stdin=subprocess.DEVNULL, stdout=log,
        stderr=log, env=environment)
    browser = Browser()
    try:
        link = until(lambda: re.search(r"(http://\S+#code=\S+)", open(log.name).read()), "beacond prints no link")[1]
        def listens():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        until(listens, "the console does not listen")

        def one(tag, is_meant, what):
            def found():
                try:
                    return [node for node in browser.driver.find_elements(By.TAG_NAME, tag) if node.is_displayed() and is_meant(node)]
                except StaleElementReferenceException:
                    # The page was redrawn, as it is when a draft arrives. Looks again.
                    return None
            return until(found, f"{what}:\n{browser.text()}")[0]

        def button(text):
            return one("button", lambda node: node.text.strip() == text and node.is_enabled(), f"no button \"{text}\"")

        def picture(name):
            axe = Axe(browser.driver)
            axe.inject()
            violations = axe.run()["violations"]
            assert not violations, f"the guided setup, {name}: {axe.report(violations)}"
            if pictures:
                browser.driver.save_screenshot(os.path.join(pictures, f"setup-{name}.png"))

        # Uses the loopback address, which exists on every machine.
        browser.driver.get(re.sub(r"//[^/]*/", f"//127.0.0.1:{port}/", link))
        browser.sees("What should listen")
        assert "code" not in browser.driver.current_url, browser.driver.current_url
        picture("1")
        browser.driver.find_element(By.CSS_SELECTOR, "input[value='simulation']").click()
        browser.sees("simulated museum")
        browser.driver.find_element(By.CSS_SELECTOR, "input[value^='simulation:museum']").click()
        button("Continue").click()
        # beacond opens another source, and does not answer for a short time.
        browser.sees("Which beacons are yours")
        form = until(
            lambda: browser.driver.find_elements(By.CSS_SELECTOR, ".name-form input"), "no beacon to name")
        picture("2")
        form[0].send_keys("Till 1", Keys.ENTER)
        browser.sees("Till 1")
        # One more Enter does nothing, and the region has another name than the beacon.
        browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        browser.sees("Till 1")
        assert browser.driver.switch_to.active_element.tag_name == "li", "the focus is on a button"
        assert "None yet" not in browser.text(), browser.text()
        assert browser.driver.find_element(By.CSS_SELECTOR, "[data-key='regions.0.name'] input").get_attribute("value") == "Till 1 nearby"
        button("Continue").click()

        def choose(kind):
            until(lambda: browser.driver.find_elements(By.CSS_SELECTOR, f"input[value='{kind}']"), f"no {kind}")[0].click()

        def field(label):
            name = one("label", lambda node: node.text.startswith(label), f"no field {label}")
            return browser.driver.find_element(By.ID, name.get_attribute("for"))

        # First Home Assistant, whose password must not appear in the file, and then another choice.
        choose("broker")
        button("Continue").click()
        browser.sees("Write the broker's name")
        field("Broker").send_keys("localhost:1883")
        field("User").send_keys("beacond")
        field("Password").send_keys("secret word")
        button("Continue").click()
        browser.sees("[Ww]rite the broker's name or address alone")
        field("Broker").send_keys(Keys.END, *[Keys.BACKSPACE] * len(":1883"))
        # No program listens at this port.
        field("Port").send_keys("1")
        button("Continue").click()
        browser.sees("Connection refused")
        picture("3-broker")
        button("Try again").click()
        browser.sees("Connection refused")
        # It may come later.
        button("Continue anyway").click()
        browser.sees("Is this right")
        until(lambda: "MQTT_PASSWORD" in browser.text() and "home-assistant: true" in browser.text(), "the broker is not shown")
        button("Write the configuration")
        assert "secret word" not in browser.text()
        picture("4-broker")
        button("Back").click()
        choose("rule")
        button("Continue").click()
        until(lambda: browser.driver.switch_to.active_element.tag_name == "textarea", f"no field for the program:\n{browser.text()}")
        picture("3")
        browser.driver.switch_to.active_element.send_keys("/bin/true")
        button("Continue").click()
        browser.sees("Is this right")
        until(lambda: "simulation:museum" in browser.text(), "the file is not shown")
        picture("4")
        button("Write the configuration").click()
        until(lambda: browser.driver.title.startswith("Now"), "the pages do not open")
        browser.sees("Till 1")
        checked = subprocess.run([BEACOND, "check", path], capture_output=True, text=True, env=environment)
        # Only the warning about other machines that could read the token is expected.
        warnings = [line for line in checked.stdout.splitlines() if "in web, the token" not in line]
        assert checked.returncode == 0 and not warnings, checked.stdout
        with open(path) as file:
            text = file.read()
        assert "Till 1" in text and "/bin/true" in text and "simulation:museum" in text, text
        assert ("token-hash" in text) == (host != "127.0.0.1"), text
        again = subprocess.run([BEACOND, "setup", "--config", path], capture_output=True, text=True, env=environment)
        assert again.returncode == 2 and "exists. Edit it" in again.stderr, again
        assert not browser.errors(), browser.errors()
        process.terminate()
        assert process.wait(HANG) == 0
    finally:
        browser.driver.quit()
        process.kill()
        process.wait()
    print(f"ok   the guided setup on {host}: its link leads in four steps to a configuration that beacond runs with")


def check_receivers(folder, pictures):
    """Checks the guided setup of someone who owns receivers at a broker: the browser finds them, names them and their rooms,
    and names a beacon. Then beacond runs with the file, which has no password, and shows the room."""
    from axe_selenium_python import Axe
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    own = os.path.join(folder, "receivers")
    runtime = os.path.join(own, "runtime")
    os.makedirs(runtime, 0o700)
    path, secret = os.path.join(own, "beacond.yaml"), "open sesame"
    environment = dict(os.environ, XDG_STATE_HOME=own, XDG_RUNTIME_DIR=runtime, STATE_DIRECTORY=own, TZ="UTC")

    def free_port():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return free.getsockname()[1]
    port, broker_port = free_port(), free_port()
    passwords, settings = os.path.join(own, "passwords"), os.path.join(own, "mosquitto.conf")
    subprocess.run(["mosquitto_passwd", "-b", "-c", passwords, "house", secret], check=True)
    os.chmod(passwords, 0o644)
    with open(settings, "w") as file:
        file.write(f"listener {broker_port} 127.0.0.1\npassword_file {passwords}\nallow_anonymous false\n"
                   f"user {getpass.getuser()}\n")
    broker = subprocess.Popen(["mosquitto", "-c", settings], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = open(os.path.join(own, "log"), "w+")
    process = subprocess.Popen(
        [BEACOND, "setup", "--config", path, "--listen", f"127.0.0.1:{port}"], stdin=subprocess.DEVNULL, stdout=log,
        stderr=log, env=environment)
    stopped = threading.Event()

    def send():
        bare = UUID.replace("-", "").lower()
        number = 0
        while not stopped.wait(0.2):
            number += 1
            for topic, message in [
                ("home/OMG_kitchen/BTtoMQTT/C00000000001", {
                    "id": "C0:00:00:00:00:01", "rssi": -45 - number % 3, "mfid": "4c00",
                    "manufacturerdata": f"4c000215{bare}00010002c5"}),
                (f"espresense/devices/iBeacon:{UUID.lower()}-1-2/livingroom", {
                    "id": f"iBeacon:{UUID.lower()}-1-2", "rssi": -75 - number % 3, "distance": 4.0}),
            ]:
                subprocess.run(
                    ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(broker_port), "-u", "house", "-P", secret, "-t",
                     topic, "-m", json.dumps(message)], check=False, stderr=subprocess.DEVNULL)
    sender = threading.Thread(target=send)
    browser = Browser()
    try:
        link = until(lambda: re.search(r"(http://\S+#code=\S+)", open(log.name).read()), "beacond prints no link")[1]

        def listens():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        until(listens, "the console does not listen")

        def one(tag, is_meant, what):
            def found():
                try:
                    return [node for node in browser.driver.find_elements(By.TAG_NAME, tag) if node.is_displayed() and is_meant(node)]
                except StaleElementReferenceException:
                    return None
            return until(found, f"{what}:\n{browser.text()}")[0]

        def button(text):
            return one("button", lambda node: node.text.strip() == text and node.is_enabled(), f"no button \"{text}\"")

        def field(label):
            name = one("label", lambda node: node.text.startswith(label), f"no field {label}")
            return browser.driver.find_element(By.ID, name.get_attribute("for"))

        def picture(name):
            for width in [1280, 390]:
                browser.driver.execute_cdp_cmd(
                    "Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
                if pictures:
                    browser.driver.save_screenshot(os.path.join(pictures, f"receivers-{name}-{width}.png"))
                wide = browser.driver.execute_script("return document.documentElement.scrollWidth")
                assert wide <= width, f"{name} is {wide} pixels wide at {width}"
                axe = Axe(browser.driver)
                axe.inject()
                violations = axe.run()["violations"]
                assert not violations, f"the guided setup, {name}: {axe.report(violations)}"
            browser.driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride", {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False})

        browser.driver.get(link)
        browser.sees("What should listen")
        browser.driver.find_element(By.CSS_SELECTOR, "input[value='broker']").send_keys(Keys.SPACE)
        picture("1")
        button("Continue").click()
        browser.sees("Which receivers are yours")
        field("Address").send_keys("127.0.0.1")
        field("Port").send_keys("1")
        button("Connect").click()
        browser.sees("Nothing answers at 127.0.0.1:1")
        port_field = field("Port")
        port_field.send_keys(Keys.BACKSPACE, str(broker_port))
        field("User").send_keys("house")
        field("Password").send_keys("wrong", Keys.ENTER)
        browser.sees("The broker refuses the user or the password")
        password = field("Password")
        password.send_keys(*[Keys.BACKSPACE] * len("wrong"), secret)
        sender.start()
        password.send_keys(Keys.ENTER)
        browser.sees("OMG_kitchen.*OpenMQTTGateway.*hears 1 beacon")
        browser.sees("livingroom.*ESPresense")
        browser.sees("ESPresense smooths its levels")
        rooms = {node.get_attribute("aria-label"): node.get_attribute("value") for node in browser.driver.find_elements(By.CSS_SELECTOR, ".receiver-found input")}
        assert rooms["Room of OMG_kitchen"] == "Kitchen" and rooms["Room of livingroom"] == "Living room", rooms
        name = browser.driver.find_element(By.CSS_SELECTOR, "input[aria-label='Name of OMG_kitchen']")
        name.send_keys(Keys.CONTROL, "a")
        name.send_keys("stove")
        picture("2")
        button("Continue").click()
        browser.sees("Which beacons are yours")
        form = until(lambda: browser.driver.find_elements(By.CSS_SELECTOR, ".name-form input"), "no beacon to name")
        browser.sees("stove −4.*livingroom −7")
        form[0].send_keys("Ann's keys", Keys.ENTER)
        until(lambda: browser.driver.find_elements(By.CSS_SELECTOR, ".named li"), "the name is not listed")
        picture("3")
        button("Continue").click()
        until(lambda: browser.driver.find_elements(By.CSS_SELECTOR, "input[value='broker']"), "no Home Assistant")[0].click()
        assert one("label", lambda node: node.text.startswith("Use the same broker"), "no same broker")
        assert field("Use the same broker").is_selected()
        picture("4")
        button("Continue").click()
        browser.sees("Is this right")
        browser.sees("home-assistant: true")
        assert secret not in browser.driver.page_source
        picture("5")
        button("Write the configuration").click()
        until(lambda: browser.driver.title.startswith("Now"), "the pages do not open")
        browser.sees("Ann's keys")
        browser.sees("Kitchen")
        checked = subprocess.run([BEACOND, "check", path], capture_output=True, text=True, env=environment)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        for file in [path, log.name]:
            with open(file) as text:
                assert secret not in text.read(), f"{file} has the password"
        assert not browser.errors(), browser.errors()
        process.terminate()
        assert process.wait(HANG) == 0
    finally:
        stopped.set()
        if sender.is_alive():
            sender.join()
        browser.driver.quit()
        for each in [process, broker]:
            each.kill()
            each.wait()
    print("ok   the guided setup finds receivers at a broker, and beacond shows the rooms with the file that it writes")


def check_proxies(folder):
    """Checks the guided setup of someone who owns a Bluetooth proxy: it asks for the key, and writes it only to the file of
    secrets."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    own = os.path.join(folder, "proxies")
    runtime = os.path.join(own, "runtime")
    os.makedirs(runtime, 0o700)
    path, key, wrong = os.path.join(own, "beacond.yaml"), base64.b64encode(bytes(range(32))).decode(), base64.b64encode(bytes(32)).decode()
    environment = dict(os.environ, XDG_STATE_HOME=own, XDG_RUNTIME_DIR=runtime, STATE_DIRECTORY=own, TZ="UTC")

    def free_port():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return free.getsockname()[1]
    port, proxy_port = free_port(), free_port()
    proxy = subprocess.Popen(
        [os.path.join(os.path.dirname(BEACOND), "beacon"), "proxy", "--name", "hall", "--port", str(proxy_port), "--no-announce",
         "--source", "simulation:museum?loop"], env=dict(environment, BEACON_PROXY_KEY=key), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = open(os.path.join(own, "log"), "w+")
    process = subprocess.Popen(
        [BEACOND, "setup", "--config", path, "--listen", f"127.0.0.1:{port}"], stdin=subprocess.DEVNULL, stdout=log,
        stderr=log, env=environment)
    browser = Browser()

    def button(text):
        return until(lambda: [
            node for node in browser.driver.find_elements(By.TAG_NAME, "button")
            if node.is_displayed() and node.is_enabled() and node.text.strip() == text], f"no button \"{text}\":\n{browser.text()}")[0]
    try:
        link = until(lambda: re.search(r"(http://\S+#code=\S+)", open(log.name).read()), "beacond prints no link")[1]

        def listens():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        until(listens, "the console does not listen")
        browser.driver.get(link)
        browser.sees("What should listen")
        browser.driver.find_element(By.CSS_SELECTOR, "input[value='esphome']").click()
        button("Continue").click()
        address = until(lambda: browser.driver.find_elements(By.CSS_SELECTOR, "[data-key='esphome.hosts'] input"), "no address")[0]
        address.send_keys(f"127.0.0.1:{proxy_port}", Keys.ENTER)
        field = until(lambda: browser.driver.find_elements(By.CSS_SELECTOR, ".proxy input[type=password]"), "no field for the key")[0]
        field.send_keys(wrong, Keys.ENTER)
        browser.sees("The key is wrong")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(key, Keys.ENTER)
        browser.sees("hall.*hears [1-9][0-9]* beacon")
        button("Continue").click()
        browser.sees("Which beacons are yours")
        browser.sees("hall −")
        button("Continue without a name").click()
        button("Continue").click()
        browser.sees("env: ESPHOME_KEY.*name: Hall")
        assert key not in browser.driver.page_source
        button("Write the configuration").click()
        until(lambda: browser.driver.title.startswith("Now"), "the pages do not open")
        checked = subprocess.run([BEACOND, "check", path], capture_output=True, text=True, env=environment)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        for file in [path, log.name]:
            with open(file) as text:
                assert key not in text.read(), f"{file} has the key"
        assert not browser.errors(), browser.errors()
    finally:
        browser.driver.quit()
        for each in [process, proxy]:
            each.kill()
            each.wait()
    print("ok   the guided setup takes a proxy with its key, which only the file of secrets has")


def main():
    pictures = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
    if pictures:
        os.makedirs(pictures, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="console-")
    gateway = None
    try:
        own = os.path.join(folder, "museum")
        os.mkdir(own)
        gateway = Gateway(own, museum(own))
        check_kills(gateway)
        check_interface(gateway)
        check_hostility(gateway)
        check_connections(gateway)
        check_reload(gateway)
        check_pages(gateway, pictures)
        check_use(gateway)
        check_air(folder)
        check_token(folder)
        check_take_over(folder, pictures)
        check_connections_forms(folder, pictures)
        check_setup(folder, pictures, "127.0.0.1")
        check_setup(folder, None, "0.0.0.0")
        check_receivers(folder, pictures)
        check_proxies(folder)
    finally:
        if gateway and gateway.process:
            gateway.process.kill()
        shutil.rmtree(folder, ignore_errors=True)


main()
