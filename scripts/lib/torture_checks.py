"""Checks of scripts/torture after all faults have stopped."""

import base64
import collections
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time

from torture_apps import KEYS
from torture_console import differences
from torture_world import HANG, KEPT, REGIONS, RUNS, UUID, Failure, Receiver, hashed_id, wait

# The limit of waiting entries per destination. Random identities can reach it when a receiver fails for some seconds.
# beacond then drops proximities and heartbeats, but never enters or exits.
ENTRIES = 20000
# The limit of stored dead letters (`ConsumerLimits`). There are more if a receiver refuses random identities.
LETTERS = 1000
SUMMARIES = {"entered": "enter", "left": "exit"}
SECRETS = ["s3cret-webhook-0f8a", "s3cret-header-77d1", "s3cret-api-90ab", "s3cret-key-1c2d", KEYS[1]]


class Records:
    """Events and deliveries in the event store that the console does not show."""

    def __init__(self, path):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            # For each consumer, the reasons of dead letters by id.
            self.dead = collections.defaultdict(dict)
            # Their bodies and times, by id.
            self.bodies = {}
            for name, identity, reason, *record in database.execute(
                "SELECT name, lower(hex(id)), reason, coalesce(delivery.body, event.body), time "
                "FROM delivery JOIN event USING (number) "
                "JOIN destination ON bank = slot / 62 AND destinations >> slot % 62 & 1 WHERE state = 2"
            ):
                self.dead[name][identity] = reason
                self.bodies[identity] = record
            self.drops = {
                name: counts for name, *counts in database.execute(
                    "SELECT name, droppedByAge, droppedBySize, droppedByFilter FROM destination")}
            self.refused = dict(database.execute("SELECT name, refused FROM destination"))
            # Number, id, kind, region and time.
            self.events = database.execute(
                "SELECT number, lower(hex(id)), kind, region, time FROM event "
                "WHERE kind IN ('enter', 'exit') ORDER BY number").fetchall()
            # Includes events that the history no longer has.
            self.stored = {identity for (identity,) in database.execute("SELECT lower(hex(id)) FROM known")}
            self.count, self.newest = database.execute("SELECT count(*), max(number) FROM event").fetchone()

    def dropped(self, name):
        return sum(self.drops.get(name, ()))


class Checks:
    """The invariants of `Torture`. Each check returns its faults."""

    def check_events(self):
        """Compares the event store and the console with the air, destinations, rules and apps."""
        records = Records(os.path.join(self.state, "beacond.sqlite"))
        mqtt = self.mqtt_events()
        faults = self.check_destination("hook", self.webhook.accepted, records)
        faults += self.check_destination("broker", mqtt, records)
        faults += self.check_history(mqtt, records) + self.check_rule(records) + self.check_notifications(records)
        faults += self.check_proximities(mqtt, records) + self.operator.check(self.view)
        for app in self.apps:
            faults += app.check(self.view, records, self.is_short, self.counts["clock"] > 0)
        return faults

    def check_destination(self, name, events, records):
        letters = records.dead[name]
        faults = [
            f"{name}: the dead letter {identity} has no reason" for identity, reason in letters.items() if not reason]
        age, size, settings = records.drops.get(name, (0, 0, 0))
        if age or settings:
            faults.append(f"{name}: {age} notifications were dropped by their age, {settings} by settings")
        # Dropped dead letters count too: at most the refused notifications beyond the limit.
        refused = records.refused.get(name, 0)
        # Half the limit, since the waiting entries are only sampled.
        if size > max(0, refused - LETTERS) and self.most_waiting[name] < ENTRIES / 2:
            faults.append(
                f"{name}: {size} notifications were dropped although there was space "
                f"(at most {self.most_waiting[name]} waited, {refused} were refused)")
        lettered = [self.event_of(*records.bodies[identity]) for identity in letters]
        known = {event["id"] for event in events}
        both = events + [event for event in lettered if event and event["id"] not in known]
        for region in self.truth:
            faults += self.check_course(name, region, self.of_region(both, region))
            # In order, except for notifications that were refused for a while. mosquitto reorders the messages that it
            # kept over a restart.
            if name == "broker" and self.counts["broker"]:
                continue
            times = [
                event["time"] for event in self.of_region(events, region) if event["id"] not in self.webhook.refused]
            if times != sorted(times):
                faults.append(f"{name}, {region}: events are not in order")
        if self.counts[f"repeats at {name}"]:
            faults.append(f"{name}: {self.counts[f'repeats at {name}']} repeats with another id: {self.repeats[:8]}")
        return faults

    def of_region(self, events, region):
        return [event for event in events if event["kind"] in ("enter", "exit") and self.region(event) == region]

    def check_course(self, name, region, events):
        """Compares the enters and exits of a region with those of the air, and counts repeats."""
        course = sorted(events, key=lambda event: event["time"])
        kinds = [event["kind"] for event in course]
        collapsed = [kind for index, kind in enumerate(kinds) if index == 0 or kinds[index - 1] != kind]
        repeats = [event for before, event in zip(course, course[1:]) if before["kind"] == event["kind"]]
        self.counts[f"repeats at {name}"] += len(repeats)
        self.repeats += [f"{region} at {event['time']}" for event in repeats]
        if collapsed == self.truth[region]:
            return []
        return [f"{name}, {region}: {self.difference(course, self.truth[region], self.truth_times[region])}"]

    def check_proximities(self, mqtt, records):
        proximities = {event["id"] for event in mqtt if event["kind"] == "proximity" and event.get("beacon")}
        missing = proximities - self.kumulos.seen - set(
            f"{i[:8]}-{i[8:12]}-{i[12:16]}-{i[16:20]}-{i[20:]}" for i in records.dead["kumulos"])
        allowed = records.dropped("kumulos")
        if len(missing) <= allowed:
            return []
        return [f"kumulos: {len(missing)} of {len(proximities)} proximities are missing, {allowed} were dropped"]

    def check_history(self, mqtt, records):
        """Compares the history with the air and with the destinations.

        A short history has only the newest events of each region.
        """
        faults = []
        numbers = {number for number, *_ in records.events}
        shown = {event["id"] for event in self.view["events"] if event["kind"] in ("enter", "exit")}
        if numbers - shown:
            faults.append(f"the console does not show the events {sorted(numbers - shown)[:5]}")
        if self.is_short and records.count < KEPT:
            faults.append(f"the history has {records.count} events, but should keep {KEPT}")
        if not self.is_short and shown - numbers:
            faults.append(f"the console shows events that are not stored: {sorted(shown - numbers)[:5]}")
        # Older events of a short history are dead letters, between which others are deleted.
        oldest = records.newest - KEPT + 1 if self.is_short else 0
        for region, truth in self.truth.items():
            kinds = [kind for number, _, kind, name, _ in records.events if name == region and number >= oldest]
            if kinds != (truth[len(truth) - len(kinds):] if self.is_short else truth):
                faults.append(f"the history has {len(kinds)} events of {region}, the air had {len(truth)}")
        known = records.stored if self.is_short else {identity for _, identity, *_ in records.events}
        for name, events in (("hook", self.webhook.accepted), ("broker", mqtt)):
            sent = {self.hex(event["id"]) for event in events if event["kind"] in ("enter", "exit")}
            if sent - known:
                faults.append(f"{name} got {len(sent - known)} enters and exits that the history does not have")
        return faults

    def check_rule(self, records):
        """Compares the runs of the rule for all enters and exits with the history and with the air."""
        faults = []
        runs = sorted((run["event"], run["summary"]) for run in self.view["runs"] if run["rule"] == "always")
        ran = collections.Counter(number for number, _ in runs)
        # A full audit trail has lost its oldest entries.
        is_full = len(self.view["runs"]) >= RUNS
        numbers = {number for number, *_ in records.events if not is_full or number >= runs[0][0]}
        again = len(runs) - len(ran)
        if numbers - set(ran) or again or not self.is_short and set(ran) - numbers:
            faults.append(
                f"a rule ran {len(runs)} times for {len(numbers)} events: not for {sorted(numbers - set(ran))[:5]}, "
                f"for {sorted(set(ran) - numbers)[:5]} that do not exist, {again} repeats")
        for region, truth in self.truth.items():
            texts = [summary.rpartition(" was ") for _, summary in runs]
            kinds = [SUMMARIES[text] for name, _, text in texts if name == region]
            if kinds != (truth[len(truth) - len(kinds):] if is_full else truth):
                faults.append(f"a rule ran {len(kinds)} times for {region}, but the air had {len(truth)}")
        return faults

    def check_notifications(self, records):
        """Checks that the webhook or the dead letters have the notification of each event."""
        delivered = {self.hex(event["id"]) for event in self.webhook.accepted if event["kind"] == "application"}
        got = delivered | set(records.dead["hook"])
        expected, missing = set(), []
        for number, _, kind, region, time in records.events:
            identity = self.rule_id("always", number, time, kind)
            expected.add(identity)
            if identity not in got:
                missing.append(f"{number} {kind} {region}{'' if identity in records.stored else ', never stored'}")
        faults = []
        if len(missing) > records.dropped("hook"):
            faults.append(
                f"{len(missing)} notifications of a rule are missing, {records.dropped('hook')} were dropped: "
                f"{missing[:5]}")
        # A short history no longer has the events of earlier notifications.
        unknown = delivered - (records.stored if self.is_short else expected)
        if unknown:
            faults.append(f"{len(unknown)} notifications of a rule belong to no event")
        return faults + self.check_count(delivered, records)

    def check_count(self, delivered, records):
        """Compares the number of runs with the number of notifications, including those of deleted events."""
        runs = [run for run in self.view["runs"] if run["rule"] == "always"]
        lettered = {
            identity for identity in records.dead["hook"]
            if (self.event_of(*records.bodies[identity]) or {}).get("kind") == "application"}
        count = len(delivered | lettered)
        if len(self.view["runs"]) >= RUNS or len(runs) - records.dropped("hook") <= count <= len(runs):
            return []
        return [f"a rule ran {len(runs)} times, but {count} of its notifications arrived or are dead letters"]

    @staticmethod
    def hex(identity):
        return identity.replace("-", "").lower()

    @staticmethod
    def rule_id(rule, number, time, kind):
        """Returns the id of a rule's notification of an event."""
        return hashed_id(f"{rule}\0{number}\0{time}\0{kind}")

    def difference(self, course, truth, times):
        """Describes the first difference between a destination's events and the air's, and other events at that time.

        Enters and exits alternate, so their order alone proves nothing. A correct event is later than the air's change,
        and earlier than the air's next change of that region: a round ends when all changes are stored.
        """
        known, wrong, place = None, None, 0
        for event in course:
            if event["kind"] == known:
                continue
            known = event["kind"]
            end = times[place + 1] if place + 1 < len(times) else float("inf")
            if place >= len(truth) or truth[place] != known or not times[place] - 0.2 <= event["time"] <= end + 0.2:
                wrong = event["time"]
                break
            place += 1
        if wrong is None:
            wrong = times[place] if place < len(times) else self.air.time
        near = [(time, "air " + kind) for time, kind in zip(times, truth)]
        near += [(event["time"], f"{event['kind']} {event['id'][:8]}") for event in course]
        near += [(time, "fault " + kind) for time, kind in self.history]
        near = sorted((round(time - wrong, 1), what) for time, what in near if abs(time - wrong) < 30)
        return f"{len(course)} events, but the air had {len(truth)}; around change {place}: {near}"

    @staticmethod
    def region(event):
        region = event.get("region")
        return region["name"] if isinstance(region, dict) else region

    @staticmethod
    def event_of(record, time):
        start, end = record.find(b"{"), record.rfind(b"}")
        try:
            # The body does not repeat the time.
            return {"time": time / 1e9} | json.loads(record[start : end + 1])
        except ValueError:
            return None

    def check_capture(self):
        """Plays a capture at full speed with a failing receiver, and compares the received events with the capture."""
        truth = collections.defaultdict(list)
        self.air.time += 1000
        with open(os.path.join(self.folder, "capture.ndjson"), "wb") as file:
            for visit in range(60):
                for region in range(REGIONS):
                    truth[region] += ["enter", "exit"]
                for step in range(30):
                    self.air.time += 0.2
                    file.write(self.air.line(9999, 1))
                    if step < 10:
                        for region in range(REGIONS):
                            file.write(self.air.line(region, 1))
        with open(os.path.join(self.folder, "capture.yaml"), "w") as file:
            json.dump(
                {
                    "sources": ["capture.ndjson"],
                    "regions": [
                        {"name": f"room {region}", "uuid": UUID, "major": region, "exit-timeout": "2s"}
                        for region in range(REGIONS)
                    ],
                    "notify": {"events": ["enter", "exit", "proximity"]},
                    "destinations": [
                        {"name": "hook", "type": "webhook", "url": f"http://127.0.0.1:{self.webhook.port}/hook",
                         "timeout": "2s", "batch": 50, "events": ["enter", "exit"]}],
                    "outbox": {"path": "state/capture.sqlite"},
                },
                file)
        self.webhook.accepted, self.webhook.seen = [], set()
        modes = [mode for mode in Receiver.MODES if mode != "status"]
        process = subprocess.Popen(
            [self.options.beacond, "--config", "capture.yaml", "--linger", f"{HANG}s"], cwd=self.folder,
            env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)
        for _ in range(10):
            self.webhook.set(self.random.choice(modes))
            time.sleep(0.2)
        self.webhook.set("ok")
        try:
            status = process.wait(timeout=2 * HANG)
        except subprocess.TimeoutExpired:
            process.kill()
            return ["the capture was not delivered"]
        faults = [] if status == 0 else [f"the capture ended with status {status}"]
        for region, course in truth.items():
            got = [event["kind"] for event in self.webhook.accepted if self.region(event) == f"room {region}"]
            if got != course:
                faults.append(f"capture, room {region}: {len(got)} events instead of {len(course)}")
        return faults

    def check_restore(self):
        """Restores the backup in another folder, and compares that beacond with what the console showed before."""
        folder = os.path.join(self.folder, "restored")
        os.mkdir(folder)
        # A source without adverts.
        os.mkfifo(os.path.join(folder, "air.ndjson"))
        environment = self.environment() | {"BEACOND_OUTBOX_PATH": os.path.join(folder, "state", "beacond.sqlite")}
        restored = subprocess.run(
            [self.options.beacond, "restore", self.backup, "--config", os.path.join(folder, "beacond.yaml")],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG)
        if restored.returncode:
            return [f"cannot restore the backup: {restored.stderr}"]
        process = subprocess.Popen(
            [self.options.beacond, "--config", "beacond.yaml"], cwd=folder, env=self.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)
        try:
            return differences(self.view, self.console.view(), self.is_short)
        except Failure as failure:
            return [f"restored: {failure}"]
        finally:
            process.kill()
            process.wait()

    def check_replay(self):
        """Compares a replay of the journal with what the broker has. What a kill has lost is not in the journal."""
        replay = subprocess.run(
            [self.options.beacond, "replay", "--config", "beacond.yaml", "--from", "1", "--to", "4000000000", "--json"],
            cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=4 * HANG)
        if replay.returncode:
            return [f"cannot replay: {replay.stderr}"]
        happened = collections.Counter(
            (self.region(event), event["kind"], round(event["time"], 3)) for event in self.mqtt_events()
            if str(self.region(event)).startswith("room") and event["kind"] in ("enter", "exit"))
        played = [json.loads(line) for line in replay.stdout.splitlines()]
        played = collections.Counter(
            (event["region"]["name"], event["event"], round(event["time"], 3)) for event in played
            if event["event"] in ("enter", "exit") and event["region"]["name"].startswith("room"))
        self.replayed = (sum((played & happened).values()), sum(happened.values()))
        strange = played - happened
        # A run that is killed, or that ends while the disk is full or slow, may have written the journal, and not yet the
        # store. The next run decides such an event again, at another time.
        undone = [event for event in strange if next((lost for time, lost in self.ends if time >= event[2]), False)]
        strange = [event for event in strange if event not in undone]
        if undone:
            print(f"seed {self.options.seed}: {len(undone)} events were kept for a replay, and undone by an end: {undone[:3]}; "
                  f"ends at {self.ends}; faults {self.history}", file=sys.stderr)
        faults = [f"{len(strange)} replayed events did not happen: {strange[:5]}; ends at {self.ends}"] if strange else []
        # Kills may leave nothing of the journal, and a clock that goes forward by days makes it old.
        if not self.replayed[0] and not self.kills and not self.counts["clock"]:
            faults.append("no event was replayed")
        return faults

    def check_secrets(self):
        faults = []
        credentials = base64.b64encode(f"{SECRETS[2]}:{SECRETS[3]}".encode()).decode()
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        content = file.read()
                    for secret in SECRETS + [credentials]:
                        if secret.encode() in content:
                            faults.append(f"a secret is in {name}")
                    if name == "log" and (b"\x1b" in content or b"\x07" in content):
                        faults.append("the log has control characters")
        return faults

    def check_programs(self):
        def left():
            found = []
            for process in os.listdir("/proc"):
                if process.isdigit():
                    try:
                        with open(f"/proc/{process}/environ", "rb") as file:
                            if f"TORTURE_MARKER={self.marker}".encode() in file.read():
                                with open(f"/proc/{process}/cmdline", "rb") as line:
                                    found.append(line.read().replace(b"\0", b" ").decode())
                    except OSError:
                        pass
            return found

        # Programs that were running at a kill -9, and children left by programs, end by themselves after a few seconds.
        try:
            wait("no program is left", lambda: not left(), seconds=40, step=0.5)
        except Failure:
            return [f"a program is left: {program}" for program in left()]
        return []
