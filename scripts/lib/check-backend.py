"""Checks beacond's backend as apps and other machines use it. Run by scripts/check-console, after the pages.

usage: scripts/check-console backend [KILLS]     20 kills by default
"""

import contextlib
import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from beacond_checks import BEACOND, HANG, UUID, Gateway, museum, proximity, until


def folder(parent, name):
    own = os.path.join(parent, name)
    os.mkdir(own)
    return own


def event_id(sender, name):
    """Returns the id that beacond gives an event of another sender: a version 8 UUID (RFC 9562, 5.8)."""
    digest = bytearray(hashlib.sha256(f"{sender}\0{name.lower()}".encode()).digest()[:16])
    digest[6], digest[8] = digest[6] & 0x0F | 0x80, digest[8] & 0x3F | 0x80
    return bytes(digest)


def check_kills(parent, kills):
    """Checks kills while apps send batches: beacond stores and processes each answered event exactly once."""
    own = folder(parent, "kills")
    rule = '{ name: hi, events: [near], message: "{user}" }'
    gateway = Gateway(own, museum(own).replace(
        "launch: { rules: [", "launch: { rules: [" + rule + ", "))
    gateway.fix_port()
    answered, lock, end = {}, threading.Lock(), threading.Event()

    def app(number):
        chance = random.Random(number)
        batch = 0
        while not end.is_set():
            batch += 1
            events = [proximity(f"{number}-{batch}-{index}") for index in range(chance.randint(1, 30))]
            # Like an SDK, resends until the server answers.
            while not end.is_set():
                try:
                    if gateway.send_events(events, install=f"install-{number}") == 204:
                        with lock:
                            for event in events:
                                answered[event["uuid"]] = f"install-{number}"
                        break
                except (OSError, urllib.error.URLError):
                    pass

    threads = [threading.Thread(target=app, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    chance = random.Random(7)
    for _ in range(kills):
        before = len(answered)
        until(lambda: len(answered) > before, "beacond accepts no more events")
        time.sleep(chance.random() * 0.05)
        gateway.kill()
        gateway.start()
    end.set()
    for thread in threads:
        thread.join()
    # beacond may have stored the last batches without an answer. Only answered events count.
    with contextlib.closing(sqlite3.connect(f"file:{own}/beacond.sqlite?mode=ro", uri=True)) as database:
        def waiting():
            return database.execute(
                "SELECT count(*) FROM delivery JOIN destination ON bank = slot / 62 AND destinations >> slot % 62 & 1 "
                "WHERE name = '.rules' AND state < 2"
            ).fetchone()[0]
        until(lambda: waiting() == 0, "beacond has not processed all events")
        ids = [bytes(id) for (id,) in database.execute("SELECT id FROM event WHERE sender IS NOT NULL")]
        per_install = dict(database.execute(
            "SELECT install, count(*) FROM event WHERE sender IS NOT NULL GROUP BY install"))
    missing = [name for name in answered if event_id("museum app", name) not in set(ids)]
    assert not missing, f"{len(missing)} events were answered, but are missing: {missing[:3]}"
    assert len(ids) == len(set(ids)), f"{len(ids)} events have only {len(set(ids))} ids"
    counted = {install["id"]: install["events"] for install in gateway.get("/v1/installs")["installs"]}
    assert per_install == counted, f"{per_install} events are stored, but {counted} were processed"
    gateway.kill()
    print(f"ok   {kills} kills while apps send: {len(answered)} events were answered, and each is stored once")


def check_two(parent):
    """Checks a beacond that sends its events to another one, as to Kumulos and as to a webhook, beside three apps."""
    one, other = folder(parent, "house"), folder(parent, "office")
    os.environ["WEBHOOK_SECRET"] = "whsec_c2VjcmV0IG9mIHRoZSBjaGVjaw=="
    office = Gateway(other, f"""
sources: []
beacons: [{{ name: amber, uuid: {UUID}, major: 1, minor: 1, place: shelf }}]
intake:
  apps: [{{ name: house, api-key: {{ env: APP_KEY }}, secret-key: {{ env: APP_SECRET }} }}]
  webhooks: [{{ name: hook, secret: {{ env: WEBHOOK_SECRET }} }}]
launch: {{ rules: [{{ name: hello, events: [immediate], beacons: [amber], at-most: 1d, message: {{ title: "{{place}}", text: "{{user}} is at {{beacon}}" }} }}] }}
outbox: {{ path: {other}/beacond.sqlite }}
web: {{ listen: "127.0.0.1:0" }}
""")
    house = Gateway(one, f"""
sources: [{{ name: museum, from: "simulation:museum", speed: 10 }}]
regions: [{{ name: museum, uuid: {UUID} }}]
destinations:
  - {{ name: office, type: kumulos, api-key: {{ env: APP_KEY }}, secret-key: {{ env: APP_SECRET }}, url: "{office.address}", install-id: HOUSE }}
  - {{ name: hook, type: webhook, url: "{office.address}/v1/webhooks/hook", secret: {{ env: WEBHOOK_SECRET }} }}
notify: {{ events: [enter, exit, proximity, gone] }}
outbox: {{ path: {one}/beacond.sqlite }}
web: {{ listen: "127.0.0.1:0" }}
""")
    try:
        def events(**query):
            text = "&".join(f"{key}={value}" for key, value in query.items())
            return office.get(f"/v1/events?limit=1000&{text}")["events"]
        until(lambda: any(e["sender"] == "hook" for e in events(kind="enter")), "no enter of the other beacond arrived")
        until(lambda: any(e["beacon"].get("name") == "amber" and e["place"] == "shelf" for e in events(install="HOUSE")),
              "no proximity arrived through the Kumulos interface")
        installs = {install["id"] for install in office.get("/v1/installs")["installs"]}
        assert installs == {"HOUSE"}, installs
        check_apps(parent, office)
        senders = {event["sender"] for event in events()}
        assert senders == {"house", "hook"}, senders
    finally:
        house.kill()
        office.kill()
    print("ok   another beacond's events arrive as at Kumulos and as at a webhook, and three apps send events and get messages")


def check_apps(parent, office):
    """Runs the proximity recipe, unchanged except for its URLs, three times: each gets its own message once."""
    app = os.path.join(os.path.dirname(BEACOND), "ProximityRecipe")
    if not os.path.exists(app):
        sys.exit("FAIL: the examples are not built; run scripts/examples")
    processes = []
    for name in ["mia", "tom", "ada"]:
        own = folder(parent, f"app-{name}")
        environment = dict(
            office.environment, XDG_STATE_HOME=own, XDG_RUNTIME_DIR=own, HOME=own,
            BEACON_SOURCE="simulation:museum", APP_USER=name)
        processes.append((name, subprocess.Popen(
            [app, UUID, office.address], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)))
    try:
        for name, process in processes:
            # Without a line the read would hang, so a timer kills the app.
            alarm = threading.Timer(HANG, process.kill)
            alarm.start()
            line = process.stdout.readline()
            alarm.cancel()
            assert line == f"shelf: {name} is at amber\n", (name, line)
        until(lambda: all(install["waiting"] == 0 for install in office.get("/v1/installs")["installs"]
                          if install["user"] in ("mia", "tom", "ada")), "the apps did not acknowledge their messages")
    finally:
        for _, process in processes:
            process.kill()
            process.communicate()
    users = {install["user"] for install in office.get("/v1/installs")["installs"]}
    assert users - {None} == {"mia", "tom", "ada"}, users


def check_restore(parent):
    """Checks that a backup of one machine can be restored on another."""
    own = folder(parent, "old")
    old = Gateway(own, museum(own))
    assert old.status("/v1/regions", "POST", {"name": "attic", "uuid": UUID, "major": 9}, X_Beacon_Console="1") == 201
    assert old.send_events([proximity(1, user="mia")]) == 204
    until(lambda: old.get("/v1/installs")["installs"], "beacond has not processed the event")
    backup = os.path.join(parent, "beacond.backup")
    with urllib.request.urlopen(old.address + "/v1/backup", timeout=HANG) as answer, open(backup, "wb") as file:
        shutil.copyfileobj(answer, file)
    runs = subprocess.run([BEACOND, "restore", backup, "--config", old.path], capture_output=True, text=True,
                          env=old.environment)
    assert runs.returncode == 1 and "beacond is running" in runs.stderr, runs
    old.kill()
    new = folder(parent, "new")
    path = os.path.join(new, "beacond.yaml")
    subprocess.run([BEACOND, "restore", backup, "--config", path], check=True, capture_output=True,
                   env=dict(old.environment, BEACOND_OUTBOX_PATH=os.path.join(new, "beacond.sqlite")))
    with open(path) as file:
        text = file.read().replace(own, new)
    gateway = Gateway(new, text)
    names = {region["name"]: region["origin"] for region in gateway.get("/v1/regions")["regions"]}
    assert names["attic"] == "console" and names["museum"] == "file", names
    assert [install["user"] for install in gateway.get("/v1/installs")["installs"]] == ["mia"]
    assert any(event["user"] == "mia" for event in gateway.get("/v1/events?kind=proximity&limit=1000")["events"])
    gateway.kill()
    print("ok   a backup restored on another machine has its regions, people and history")


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    parent = tempfile.mkdtemp(prefix="backend-")
    try:
        check_restore(parent)
        check_two(parent)
        check_kills(parent, kills)
    finally:
        shutil.rmtree(parent, ignore_errors=True)


main()
