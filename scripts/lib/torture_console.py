"""The console of the beacond of scripts/torture: HTTP requests, an operator who changes items, and its contents."""

import http.client
import json
import urllib.parse

from torture_world import HANG, HISTORY, KEPT, UUID, wait

# Browsers do not let pages of other sites send this header.
CHANGE = {"X-Beacon-Console": "1", "Content-Type": "application/json"}


class Console:
    """A client of the HTTP interface. The daemon may end during any request."""

    def __init__(self, port):
        self.port = port

    def ask(self, method, path, body=b"", headers=None, seconds=15):
        """Returns the status and the body of an answer; 0 without an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error).encode()
        finally:
            connection.close()

    def read(self, path):
        """Returns the body of a successful answer. Retries until there is one."""
        found = []

        def is_answered():
            found[:] = self.ask("GET", path, seconds=HANG)
            return found[0] == 200

        wait(f"GET {path} succeeds", is_answered, step=0.1)
        return found[1]

    def get(self, path):
        return json.loads(self.read(path))

    def change(self, method, path, value=None):
        """Returns the status of a change; 0 without an answer."""
        return self.ask(method, path, json.dumps(value).encode() if value is not None else b"", CHANGE)[0]

    def pages(self, path, key):
        """Returns the entries of all pages, newest first."""
        entries, before = [], ""
        while True:
            page = self.get(path + before)
            entries += page[key]
            if page["next"] is None:
                return entries
            before = f"&before={page['next']}"

    def events(self, query=""):
        return self.pages(f"/v1/events?limit=1000{query}", "events")

    def runs(self):
        return self.pages("/v1/rules/runs?limit=500", "runs")

    def storage_faults(self):
        """Returns the health findings about events that cannot be stored; None without an answer."""
        status, body = self.ask("GET", "/v1/health")
        if status != 200:
            return None
        return [
            finding["what"] for finding in json.loads(body)["findings"]
            if finding["severity"] == "error" and "not stored" in finding["what"]]

    def view(self):
        """Returns everything that the console shows and a backup contains, by kind."""
        lists = {
            "regions": "/v1/regions", "places": "/v1/places", "beacons": "/v1/registered-beacons", "rules": "/v1/rules",
            "apps": "/v1/apps", "installs": "/v1/installs"}
        view = {name: self.get(path)[name] for name, path in lists.items()}
        for rule in view["rules"]:
            # These count since the start.
            for key in ("started", "failed", "fault", "withheld", "last"):
                del rule[key]
        for install in view["installs"]:
            name = install["id"]
            view[f"messages of {name}"] = self.get(f"/v1/installs/{urllib.parse.quote(name)}/messages")["messages"]
        return view | {"events": self.events(), "runs": self.runs()}


class Operator:
    """An operator who adds and removes items, switches a rule, and remembers the acknowledged changes."""

    PATHS = ["regions", "places", "registered-beacons", "apps"]

    def __init__(self, console, generator):
        self.console, self.random = console, generator
        self.number = 0
        # True for items that must exist, false for removed ones. Items with an unacknowledged change are left out.
        self.items = {}
        self.is_enabled = None

    def act(self):
        kind = self.random.choice(["add", "add", "remove", "switch"])
        if kind == "add":
            self.add(self.random.choice(self.PATHS))
        elif kind == "remove":
            self.remove()
        else:
            self.switch(self.random.random() < 0.5)

    def add(self, path):
        self.number += 1
        name = f"added {self.number}"
        values = {
            "regions": {"uuid": UUID, "major": 6000 + self.number}, "places": {"receivers": [f"nowhere {self.number}"]},
            "registered-beacons": {"uuid": UUID, "major": 6000, "minor": self.number}, "apps": {}}
        if self.console.change("POST", f"/v1/{path}", {"name": name} | values[path]) == 201:
            self.items[path, name] = True

    def remove(self):
        there = [item for item, is_there in self.items.items() if is_there]
        if there:
            path, name = self.random.choice(there)
            if 200 <= self.console.change("DELETE", f"/v1/{path}/{urllib.parse.quote(name)}") < 300:
                self.items[path, name] = False
            else:
                del self.items[path, name]

    def switch(self, is_on):
        status = self.console.change("PUT", "/v1/rules/switched/enabled", {"enabled": is_on})
        self.is_enabled = is_on if status == 200 else None

    def check(self, view):
        """Returns the acknowledged changes that are missing."""
        keys = {"registered-beacons": "beacons"}
        names = {path: {item["name"] for item in view[keys.get(path, path)]} for path in self.PATHS}
        faults = [
            f"the console acknowledged that {name} of {path} was {'added' if is_there else 'removed'}, but it was not"
            for (path, name), is_there in self.items.items() if (name in names[path]) != is_there]
        switched = [rule["enabled"] for rule in view["rules"] if rule["name"] == "switched"]
        if self.is_enabled is not None and switched != [self.is_enabled]:
            faults.append(f"the console acknowledged that a rule was switched to {self.is_enabled}, but it is {switched}")
        return faults


def differences(old, new, is_short):
    """Returns the differences between a restored beacond and the old one.

    Both keep running, so entries newer than the old one's newest do not count. A history keeps events beyond its limit
    while they wait for destinations, but a backup does not contain them. So the comparison ends at the limit.
    """
    faults = []
    for name, before in old.items():
        after = new.get(name)
        if name == "events":
            newest = before[0]["id"] if before else 0
            after = [entry for entry in after if entry["id"] <= newest]
            bound = KEPT if is_short else HISTORY
            before, after = before[:bound], after[:bound]
        if name == "runs":
            # They are in the order of the clock, which may have been set.
            known = {entry["id"] for entry in before}
            done = {(entry["rule"], entry["event"]) for entry in before}
            again = [entry for entry in after if entry["id"] not in known and (entry["rule"], entry["event"]) in done]
            if again:
                faults.append(f"restored {name}: {len(again)} ran again, among them {again[0]}")
            after = [entry for entry in after if entry["id"] in known]
        if before != after:
            faults.append(f"restored {name}: {first_difference(before, after)}")
    return faults


def first_difference(before, after):
    if after is None or len(before) != len(after):
        return f"{len(before)} before, {None if after is None else len(after)} after"
    index = next(index for index, (one, other) in enumerate(zip(before, after)) if one != other)
    return f"{before[index]} before, {after[index]} after"
