"""Apps with wrong clocks, which send events to the beacond of scripts/torture."""

import base64
import collections
import json
import threading
import time

from torture_world import HANG, KEPT, RUNS, UUID, Failure, hashed_id

KEYS = ("app-key", "s3cret-app-4e2b")
# Timestamps in JSON, in milliseconds since 1970: of that year, in the future, and impossible ones.
EARLY = ["0", "1", "-0.0", "86400000"]
AHEAD = ["2147483647000", "2147483648000", "4102444800000", "9007199254740993"]
ABSURD = [
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551616", "-1", "1e18", "1e300", "-1e300", "1.7976931348623157e308", "null"]
# beacond refuses events with these.
NONSENSE = [
    '"soon"', '"0"', '"2038-01-19T03:14:08Z"', "true", "{}", "[0]", "1e400", "-1e400", "NaN", "Infinity", "0x10", "-"]


class App(threading.Thread):
    """An install of an app. Like an SDK, it resends a batch until the server answers."""

    def __init__(self, number, console, generator):
        super().__init__(daemon=True)
        self.console, self.random = console, generator
        self.install, self.major = f"app-{number}", 8000 + number
        # The timestamps of answered events, by the minor value of their beacon, which is unique.
        self.answered, self.refused = {}, []
        self.count = self.retries = self.repeats = 0
        self.faults, self.is_ended = [], False
        self.began = time.time()
        self.headers = {"Authorization": "Basic " + base64.b64encode(":".join(KEYS).encode()).decode()}

    def run(self):
        while not self.is_ended:
            if self.random.random() < 0.15:
                self.send_nonsense()
            else:
                self.send_events()
            time.sleep(self.random.uniform(0.1, 0.4))

    def timestamp(self):
        right = str(int(time.time() * 1000))
        return self.random.choice([right, right, right, *[self.random.choice(kind) for kind in (EARLY, AHEAD, ABSURD)]])

    def make(self, timestamp):
        """Returns the minor value and the JSON of a new event, in the format of Kumulos' SDK."""
        self.count += 1
        data = {"type": 1, "uuid": UUID, "major": str(self.major), "minor": str(self.count), "proximity": 2}
        event = {
            "type": "k.engage.beaconEnteredProximity", "uuid": f"{self.install}-{self.count}", "data": data,
            "userId": self.install}
        # As text, since Python cannot encode all these timestamps.
        return self.count, json.dumps(event)[:-1] + f', "timestamp": {timestamp}}}'

    def send_events(self):
        times = [self.timestamp() for _ in range(self.random.randint(1, 6))]
        events = [self.make(timestamp) for timestamp in times]
        body = "[" + ", ".join(text for _, text in events) + "]"
        is_repeated = self.random.random() < 0.1
        for _ in range(2 if is_repeated else 1):
            status, answer = self.send(body)
            if status != 204:
                self.faults.append(f"{self.install}: events with the times {times} got {status} {answer[:200]}")
                return
        self.repeats += is_repeated
        self.answered |= {minor: timestamp for (minor, _), timestamp in zip(events, times)}

    def send_nonsense(self):
        """Sends a batch with one impossible time. beacond stores the other event, and keeps that one as refused."""
        times = [self.timestamp(), self.random.choice(NONSENSE)]
        events = [self.make(timestamp) for timestamp in times]
        (good, _), (bad, _) = events
        self.random.shuffle(events)
        status, answer = self.send("[" + ", ".join(text for _, text in events) + "]")
        if not (status == 200 and self.is_explained(answer)):
            self.faults.append(f"{self.install}: an event with the time {times[1]} got {status} {answer[:200]}")
            return
        self.answered[good] = times[0]
        self.refused.append(bad)

    def send(self, body):
        """Sends until the server answers. Retries while the disk fails, or while beacond does not run."""
        path = f"/v1/app-installs/{self.install}/events"
        end = time.monotonic() + 2 * HANG
        while True:
            status, answer = self.console.ask("POST", path, body.encode(), self.headers)
            if status not in (0, 503) or time.monotonic() > end:
                return status, answer
            self.retries += 1
            time.sleep(0.2)

    @staticmethod
    def is_explained(answer):
        try:
            return [bool(one["detail"]) for one in json.loads(answer)["refused"]] == [True]
        except (ValueError, KeyError, TypeError):
            return False

    def finish(self):
        self.is_ended = True
        self.join(3 * HANG)
        if self.is_alive():
            raise Failure(f"{self.install} got no answer")

    # The invariants

    def check(self, view, records, is_short, was_set):
        """Compares the store, the history and the rules' runs with the answered events.

        A short history has only the newest events. If beacond's wall clock was set, it may be before or after any
        event.
        """
        kept = self.kept(view, records.newest) if is_short else set(self.answered)
        faults = self.check_stored(records.stored)
        faults += self.check_events(view["events"], kept, is_short, was_set)
        return self.faults + faults + self.check_rules(view["runs"], was_set)

    def check_stored(self, stored):
        """Checks that the store has had each answered event, also those that a short history has deleted."""
        lost = {minor for minor in self.answered if hashed_id(f"app\0{self.install}-{minor}") not in stored}
        return [f"{self.install}: {self.listed(lost)} were answered, but never stored"] if lost else []

    def kept(self, view, newest):
        """Returns the answered events that a short history must have, by their numbers in the audit trail.

        Some older events are there, too: dead letters, and what beacond has yet to delete. They prove nothing about the
        events between them.
        """
        runs = self.own_runs(view["runs"], "apps")
        return {minor for minor in self.answered if any(run["event"] > newest - KEPT for run in runs[minor])}

    def check_events(self, events, kept, is_short, was_set):
        faults = []
        own = [event for event in events if event["install"] == self.install]
        refused = [event for event in own if event["kind"] == "refused"]
        if len(refused) > len(self.refused):
            faults.append(f"{self.install}: the history has {len(refused) - len(self.refused)} refused events twice")
        if not is_short and len(refused) < len(self.refused):
            faults.append(f"{self.install}: {len(self.refused) - len(refused)} refused events are missing")
        own = [event for event in own if event["kind"] != "refused"]
        minors = [event["beacon"]["minor"] for event in own]
        there = set(minors)
        if len(minors) != len(there):
            faults.append(f"{self.install}: the history has {len(minors) - len(there)} events twice")
        if kept - there:
            faults.append(f"{self.install}: {self.listed(kept - there)} were answered, but are missing")
        if there & set(self.refused):
            faults.append(f"{self.install}: {self.listed(there & set(self.refused))} were rejected, but are there")
        for event in own:
            timestamp = self.answered.get(event["beacon"]["minor"])
            if timestamp and not self.is_right(event["time"], timestamp, was_set):
                faults.append(f"{self.install}: an event of {timestamp} has the time {event['time']}")
        return faults

    def is_right(self, time, timestamp, was_set):
        """Returns true for the app's time, or for the time of arrival if the app's time is in the future or impossible."""
        if timestamp in AHEAD + ABSURD:
            return time < float(AHEAD[0]) / 1000 and (was_set or time >= self.began)
        return abs(time - float(timestamp) / 1000) < 0.001 or was_set and timestamp not in EARLY

    def check_rules(self, runs, was_set):
        """Checks that a rule with `late` runs once per event, and that a rule without it withholds events of 1970."""
        faults = []
        for rule in ("apps", "prompt"):
            own = self.own_runs(runs, rule)
            # A full audit trail has lost its oldest entries.
            counts = {1} if len(runs) < RUNS else {0, 1}
            wrong = {minor for minor in self.answered if len(own[minor]) not in counts}
            if wrong:
                faults.append(f"{self.install}: rule {rule} did not run once for {self.listed(wrong)}")
            if any(own[minor] for minor in self.refused):
                faults.append(f"{self.install}: rule {rule} ran for rejected events")
            for minor, timestamp in self.answered.items():
                is_late = rule == "prompt" and timestamp in EARLY
                # If the clock was set in between, any event may be late.
                is_known = rule == "apps" or is_late or not was_set
                if is_known and any((run["outcome"] == "withheld") != is_late for run in own[minor]):
                    faults.append(f"{self.install}: for an event of {timestamp}, rule {rule} has {own[minor]}")
        return faults

    def own_runs(self, runs, rule):
        """Returns the runs of a rule, by the beacon's minor value at the end of their summaries."""
        own = collections.defaultdict(list)
        for run in runs:
            major, _, minor = run["summary"].rpartition(" at ")[2].partition("/")
            if run["rule"] == rule and major == str(self.major):
                own[int(minor)].append(run)
        return own

    def listed(self, minors):
        some = [f"{minor} ({self.answered.get(minor)})" for minor in sorted(minors)[:5]]
        return f"{len(minors)} events {some}"
