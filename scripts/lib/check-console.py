"""Checks beacond's console and its HTTP interface. Run by scripts/check-console, which installs the packages."""

import contextlib
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

from beacond_checks import BEACOND, HANG, UUID, Browser, Gateway, museum, proximity, until
from guided_setup import check_proxies, check_receivers, check_setup

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
        # More bytes than the buffers in between hold, at a rate for which they take longer than any stall may last, but
        # less than 60 s: for the kernel, a buffer smaller than a segment of the loopback interface is always full
        # (TCP_USER_TIMEOUT).
        ask = b"GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: %b\r\n\r\n"
        connection.sendall(ask % b"keep-alive" * 3 + ask % b"close")
        data, begin = b"", time.monotonic()
        while part := connection.recv(2_000):
            data += part
            time.sleep(max(0, begin + len(data) / 16_000 - time.monotonic()))
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


def check_app_page(gateway, pictures):
    """Checks the page with which Kumulos' own SDK shows messages, with a stand-in for the app around it."""
    from selenium.webdriver.common.by import By
    for width, scheme in [(390, "light"), (844, "dark")]:
        browser = Browser(width, scheme=scheme)
        driver = browser.driver

        def post(type, **data):
            driver.execute_script("postHostMessage(arguments[0])", {"type": type, "data": data})

        def expect(*types):
            told = driver.execute_script("return told.splice(0).map((one) => one.type)")
            assert told == list(types), f"the page tells the app {told} instead of {list(types)}"

        try:
            driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
                window.told = []; window.webkit = { messageHandlers: { inAppHost: { postMessage: (one) => told.push(one) } } };"""})
            driver.get(f"{gateway.address}/in-app.html")
            expect("READY")
            post("PRESENT_MESSAGE", title="Welcome to the <b>hall</b>", text="Ask for Mia.\nShe is at the desk.", url="https://example.com")
            expect("MESSAGE_OPENED")
            assert driver.find_element(By.ID, "title").text == "Welcome to the <b>hall</b>"
            examine(browser, f"in-app-{width}", pictures)
            # A second choice must not close the message after this one.
            for button in ("close", "close", "open"):
                driver.find_element(By.ID, button).click()
            expect("EXECUTE_ACTIONS")
            post("CLOSE_MESSAGE")
            post("CLOSE_MESSAGE")
            expect("MESSAGE_CLOSED")
            post("PRESENT_MESSAGE", text="word " * 2_000)
            expect("MESSAGE_OPENED")
            bottom, height = driver.execute_script("return [document.getElementById('message').getBoundingClientRect().bottom, innerHeight]")
            assert bottom <= height, "a long message is higher than the screen"
            assert not browser.errors(), browser.errors()
        finally:
            driver.quit()
    print("ok   an app's page shows a message, tells the app what the user chose, and fits a long message")


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


def shown_button(browser, condition):
    """Returns the last shown button that meets a condition of XPath, as the one of an open dialog."""
    from selenium.webdriver.common.by import By
    path = f"//button[({condition}) and not(@hidden)]"
    return until(
        lambda: [one for one in browser.driver.find_elements(By.XPATH, path) if one.is_displayed()],
        f"there is no button with {condition}")[-1]


def examine(browser, name, pictures, isWhole=False):
    """Checks that axe-core finds no problem on the page and that it is not wider than the window, and saves a screenshot,
    of the whole page if `isWhole`."""
    from axe_selenium_python import Axe
    driver = browser.driver
    axe = Axe(driver)
    axe.inject()
    violations = axe.run()["violations"]
    assert not violations, f"{name}: {axe.report(violations)}"
    assert driver.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"), f"{name} is wider than the window"
    if pictures:
        size = driver.get_window_size()
        if isWhole:
            driver.set_window_size(size["width"], driver.execute_script("return document.documentElement.scrollHeight") + 200)
            driver.execute_script("scrollTo(0, 0)")
        driver.save_screenshot(os.path.join(pictures, f"{name}.png"))
        driver.set_window_size(size["width"], size["height"])


def check_teaching(folder, pictures):
    """Checks that a room is taught by keyboard: points arrive, what they would change is shown, they are kept, undone and
    thrown away."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    own = os.path.join(folder, "teaching")
    os.mkdir(own)
    scenario = os.path.join(own, "flat.json")
    with open(scenario, "w") as file:
        json.dump({
            "name": "flat", "duration": 100_000, "seed": 1, "uuid": UUID.lower(),
            "people": [{"name": "Ann", "walk": [{"to": [1, 1, 1]}] + [
                {"to": point, "arrive": 3 * number} for number, point in enumerate([[4, 4, 1], [1, 1, 1]] * 2_000, 1)]}],
            "receivers": [{"name": "hall", "position": [0, 2, 1]}, {"name": "kitchen", "position": [9, 2, 1]}],
            "beacons": [
                {"name": "keys", "major": 1, "minor": 1, "carriedBy": "Ann", "interval": 0.5},
                {"name": "cat", "major": 1, "minor": 2, "position": [8, 3, 0.2], "interval": 0.5}]}, file)
    gateway = Gateway(own, f"""sources: [{{ name: flat, from: "simulation:{scenario}" }}]
web: {{ listen: "127.0.0.1:0" }}
outbox: {{ path: {own}/beacond.sqlite }}
beacons:
  - {{ name: keys, uuid: {UUID}, major: 1, minor: 1 }}
  - {{ name: cat, uuid: {UUID}, major: 1, minor: 2 }}
places:
  - {{ name: hall, receivers: [hall] }}
  - {{ name: kitchen, receivers: [kitchen] }}
""")
    for width, scheme in [(1280, "light"), (390, "dark")]:
        browser = Browser(width, scheme=scheme)
        driver = browser.driver

        def press(words):
            shown_button(browser, f"normalize-space()='{words}' and not(@disabled)").send_keys(Keys.ENTER)

        def picture(name):
            examine(browser, f"teaching-{name}-{width}-{scheme}", pictures)

        def confirm(sentence):
            browser.sees(re.escape(sentence))
            driver.find_elements(By.CSS_SELECTOR, "dialog[open] button[value=yes]")[-1].send_keys(Keys.ENTER)

        try:
            driver.get(f"{gateway.address}/#/settings/places")
            press("Teach a room" if width == 390 else "Teach this room")
            browser.sees("The one that moves most is chosen")
            until(lambda: driver.execute_script(
                "return document.querySelector('dialog [data-key=beacon] select').selectedOptions[0].text").startswith("keys"),
                "the tag that moves is not chosen")
            if width == 390:
                room = driver.find_element(By.CSS_SELECTOR, "dialog [data-key=place] select")
                room.send_keys(Keys.END)
                driver.find_element(By.CSS_SELECTOR, "dialog [data-key=name] input").send_keys("bath")
            picture("choose")
            press("Start")
            browser.sees("What it would change")
            picture("points")
            second = gateway.status(
                "/v1/teaching", "POST", {"place": "x", "beacon": {"uuid": UUID, "major": 1, "minor": 1}},
                X_Beacon_Console="1")
            assert second == 409, f"a second teaching is answered with {second}"
            if width == 1280:
                press("Throw away")
                confirm("Throw away these points?")
                until(lambda: not driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), "the dialog stays")
                assert gateway.get("/v1/taught")["places"] == [], "points were kept"
                continue
            press("Keep")
            browser.sees("Undo the last: bath")
            assert [one["name"] for one in gateway.get("/v1/taught")["places"]] == ["bath"]
            assert "bath" in [one["name"] for one in gateway.get("/v1/places")["places"]], "the place is not in use"
            picture("kept")
            press("Undo the last: bath")
            confirm("Undo the last teaching of bath?")
            browser.sees("No place is taught")
            assert gateway.get("/v1/taught") == {"places": [], "last": None}
        finally:
            assert not browser.errors(), browser.errors()
            driver.quit()
    gateway.kill()
    print("ok   a room is taught by keyboard, wide and narrow: points, what they change, keep, undo and throw away")


def check_forecast(folder, pictures):
    """Checks that a plan is drawn and predicted by keyboard, that a receiver is tried, and that the work ends with its
    reader."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    own = os.path.join(folder, "forecast")
    os.mkdir(own)
    gateway = Gateway(own, f"""sources: [air]
web: {{ listen: "127.0.0.1:0" }}
outbox: {{ path: {own}/beacond.sqlite }}
places:
  - {{ name: hall, receivers: [hall] }}
  - {{ name: kitchen, receivers: [kitchen] }}
""")
    plan = {
        "width": 13, "height": 5, "receivers": {"hall": [1, 1, 1.5], "kitchen": [5, 1]}, "beacons": {},
        "rooms": [
            {"name": "hall", "polygon": [[0.5, 0.5], [4.5, 0.5], [4.5, 4.5], [0.5, 4.5]]},
            {"name": "kitchen", "polygon": [[4.5, 0.5], [8.5, 0.5], [8.5, 4.5], [4.5, 4.5]]},
            {"name": "bath", "polygon": [[8.5, 0.5], [12.5, 0.5], [12.5, 4.5], [8.5, 4.5]]}],
        "doors": [[4.5, 2.5], [8.5, 2.5]]}
    assert gateway.status("/v1/plan", "PUT", plan, X_Beacon_Console="1") == 200
    walled = dict(plan, doors=plan["doors"][:1])
    assert gateway.status("/v1/plan/forecast", "POST", {"plan": walled}, X_Beacon_Console="1") == 422
    for width, scheme in [(1280, "light"), (390, "dark")]:
        browser = Browser(width, scheme=scheme)
        driver = browser.driver

        def press(words):
            shown_button(browser, f"normalize-space()='{words}' and not(@disabled)").send_keys(Keys.ENTER)

        def picture(name):
            examine(browser, f"forecast-{name}-{width}-{scheme}", pictures, isWhole=True)

        try:
            driver.get(f"{gateway.address}/#/settings/plan")
            browser.sees("What will it hear")
            press("Predict")
            browser.sees("No receiver covers bath")
            assert driver.find_elements(By.CSS_SELECTOR, ".room-area[data-state=uncovered]"), "the plan has no colors"
            assert len(driver.find_elements(By.CSS_SELECTOR, ".forecast-table tbody tr")) == 3
            picture("told")
            press("Try one more receiver")
            spot = until(lambda: driver.find_elements(By.CSS_SELECTOR, ".spot.trial"), "there is no receiver to try")[0]
            browser.sees("has changed since this prediction")
            spot.send_keys(*[Keys.SHIFT + Keys.ARROW_RIGHT] * 4, Keys.NULL)
            press("Predict")
            browser.sees("One receiver more in bath: rooms are right")
            picture("tried")
            press("Do not try it")
            press("+ Room")
            corner = driver.switch_to.active_element
            assert corner.get_attribute("data-key") == "corners 0", "the new room's first corner has no focus"
            before = corner.get_attribute("aria-label")
            corner.send_keys(Keys.ARROW_LEFT)
            until(lambda: corner.get_attribute("aria-label") != before, "a corner does not move by keys")
            press("Predict")
            browser.sees("overlaps")
            picture("drawn")
            press("Revert")
            until(lambda: len(driver.find_elements(By.CSS_SELECTOR, ".room-area")) == 3, "the room stays")
            assert [one for one in browser.errors() if "422" not in str(one)] == [], browser.errors()
        finally:
            driver.quit()
    # A reader that leaves ends the work, so the next one does not wait for it.
    large = dict(plan, receivers={f"{number}": [1 + number / 10, 1] for number in range(64)})
    body = json.dumps({"plan": large}).encode()
    with contextlib.closing(socket.create_connection(("127.0.0.1", gateway.port))) as connection:
        connection.sendall(
            b"POST /v1/plan/forecast HTTP/1.1\r\nHost: localhost\r\nX-Beacon-Console: 1\r\n"
            b"Content-Type: application/json\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
        until(lambda: gateway.status("/v1/plan/forecast", "POST", {"plan": plan}, X_Beacon_Console="1") == 429, "two run at once")
    until(lambda: gateway.status("/v1/plan/forecast", "POST", {"plan": plan}, X_Beacon_Console="1") == 200, "the work does not end")
    gateway.kill()
    print("ok   a plan's rooms are drawn and predicted by keyboard, wide and narrow; a receiver is tried")


def check_history(folder, pictures):
    """Checks that the history of a beacon is shown, explained and compared by keyboard, with real adverts of a simulation."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
    own = os.path.join(folder, "history")
    os.mkdir(own)
    gateway = Gateway(own, f"""sources: ["simulation:museum?loop"]
regions: [{{ name: museum, uuid: {UUID} }}]
beacons:
  - {{ name: Visitor, uuid: {UUID}, major: 1, minor: 1 }}
  - {{ name: Case, uuid: {UUID}, major: 1, minor: 2 }}
places:
  - {{ name: hall, receivers: [hci0] }}
  - {{ name: study, receivers: [elsewhere] }}
web: {{ listen: "127.0.0.1:0" }}
outbox: {{ path: {own}/beacond.sqlite }}
""")
    begin = until(lambda: gateway.get("/v1/status")["time"], "no time passes")
    until(lambda: gateway.get("/v1/status")["time"] > begin + 20, "the simulation does not go on")
    now = gateway.get("/v1/status")["time"]
    for width, scheme in [(1280, "light"), (390, "dark")]:
        browser = Browser(width, scheme=scheme)
        driver = browser.driver
        try:
            driver.get(f"{gateway.address}/#/history/{UUID.upper()}/1/1?span=900&at={now:.0f}")
            until(lambda: driver.find_elements(By.CSS_SELECTOR, ".history .levels path[d^=M]"), "no signal is shown")
            assert driver.find_elements(By.CSS_SELECTOR, ".history .distances rect"), "no distance is shown"
            assert Select(driver.find_element(By.ID, "history-beacon")).first_selected_option.text == "Visitor"
            slider = driver.find_element(By.ID, "history-moment")
            before = slider.get_attribute("aria-valuetext")
            slider.send_keys(Keys.ARROW_LEFT)
            until(lambda: slider.get_attribute("aria-valuetext") != before, "the moment does not move by keys")
            shown_button(browser, "normalize-space()='Why?'").send_keys(Keys.ENTER)
            until(lambda: driver.find_elements(By.CSS_SELECTOR, ".why-sentences li"), "nothing explains the place")
            margin = driver.find_element(By.ID, "what-if-margin")
            margin.send_keys("0", Keys.ENTER)
            until(lambda: "difference" in driver.find_element(By.CSS_SELECTOR, ".what-if + p").text.lower(), "nothing is compared")
            examine(browser, f"history-{width}-{scheme}", pictures, isWhole=True)
            assert browser.errors() == [], browser.errors()
        finally:
            driver.quit()
    gateway.kill()
    print("ok   the history of a beacon is shown, explained and compared, wide and narrow")


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
            return shown_button(browser, f"@aria-label='{label}'")

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
    """Checks the forms of sources, destinations, secrets and a receiver's room and name, wide and narrow, and that all of it
    survives a restart. A destination that is added while beacond runs gets the events."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
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
            return shown_button(browser, f"@aria-label='{label}' or .='{label}'")

        def field(key):
            path = f"dialog[open] [data-key='{key}'] input, dialog[open] [data-key='{key}'] textarea"
            return until(lambda: driver.find_elements(By.CSS_SELECTOR, path), f"there is no field {key}:\n{browser.text()}")[0]

        def fault(key):
            return driver.find_element(By.CSS_SELECTOR, f"dialog[open] [data-key='{key}'] .field-problem").text

        def kind(word):
            Select(driver.find_element(By.CSS_SELECTOR, "dialog[open] select")).select_by_value(word)

        def picture(name):
            if pictures:
                time.sleep(0.3)
                driver.save_screenshot(os.path.join(pictures, f"connections-{name}-{width}-{scheme}.png"))

        def check(name):
            time.sleep(0.3)
            examine(browser, f"connections-{name}-{width}-{scheme}", pictures)

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
            # Two destinations of one broker would announce the same devices.
            host = f"127.0.0.{2 if width == 1280 else 3}"
            field("host").send_keys(host)
            field("port").send_keys("1")
            field("user").send_keys("ann")
            field("password").send_keys("open sesame")
            submit("Try")
            browser.sees(host, "the result of the trial")
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
            path = "//li[.//span[@class='source' and .='air']]//button[starts-with(@aria-label, 'Rename')]"
            until(lambda: driver.find_elements(By.XPATH, path), "no receiver has a button for its name")[0].send_keys(Keys.ENTER)
            if width == 1280:
                # Its source is a word in the file.
                until(lambda: driver.find_elements(By.CSS_SELECTOR, "dialog[open] button[value=yes]"), "nothing is taken over")[0].click()
            field("name").clear()
            field("name").send_keys("Hall " + suffix)
            check("receiver-name")
            submit("Save")
            closed()
            browser.sees(f"Hall {suffix}")
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
        check_app_page(gateway, pictures)
        check_air(folder)
        check_token(folder)
        check_take_over(folder, pictures)
        check_teaching(folder, pictures)
        check_forecast(folder, pictures)
        check_history(folder, pictures)
        check_connections_forms(folder, pictures)
        check_setup(folder, pictures, "127.0.0.1")
        check_setup(folder, None, "0.0.0.0")
        check_receivers(folder, pictures)
        check_proxies(folder, pictures)
    finally:
        if gateway and gateway.process:
            gateway.process.kill()
        shutil.rmtree(folder, ignore_errors=True)


main()
