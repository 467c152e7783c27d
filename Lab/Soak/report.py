"""Checks the results of a soak and writes report.md beside them. The exit status is 1 if something was wrong.

usage: report.py FOLDER      with plan.json, happened, hook, broker, samples, outbox and journal
"""

import collections
import json
import os
import sys

EXIT_TIMEOUT = 30
# A beacon is heard within seconds if nothing fails. A dead scan is restarted after 20 s, and the machine is emulated.
TO_BE_HEARD = 40
# How long after a fault's end something may still be its consequence: the watchdog's 90 s, a retry of the adapter, an
# exit time-out.
AFTERMATH = 150
# The clock readings, the logging and the air's own steps.
TOLERANCE = 3


def lines(folder, name):
    path = os.path.join(folder, name)
    found = []
    if os.path.exists(path):
        for line in open(path, errors="replace"):
            try:
                found.append(json.loads(line))
            except ValueError:
                # A truncated line at the end.
                pass
    return found


class Soak:
    def __init__(self, folder):
        self.folder = folder
        self.plan = json.load(open(os.path.join(folder, "plan.json")))
        self.happened = lines(folder, "happened")
        self.samples = lines(folder, "samples")
        self.wrong = []
        # The actual begin and end of each fault.
        self.spans = {}
        for line in self.happened:
            if "number" in line:
                begin, _ = self.spans.get(line["number"], (line["at"], None))
                self.spans[line["number"]] = (begin, line["at"])
        self.ends = max((line["at"] for line in self.happened), default=0)
        # The offset of the wall clock from the air's time. The clock is set from time to time.
        self.clocks = [(line["at"], line["clock"]) for line in self.happened]
        self.kills = sum(fault["kind"] == "kill" for fault in self.plan["faults"])

    def fault(self, sentence):
        self.wrong.append(sentence)

    def air_times(self, wall):
        """Returns the times of the air at which the wall clock may have had this value."""
        found = []
        for index, (at, clock) in enumerate(self.clocks):
            end = self.clocks[index + 1][0] if index + 1 < len(self.clocks) else self.ends
            time = wall - clock
            # A change of the clock is noted just after it.
            if at - TOLERANCE - 2 <= time <= end + TOLERANCE + 2:
                found.append(time)
        return found

    def is_quiet(self, begin, end):
        """Returns true if there was no fault, and no consequence of one, between the two times."""
        return all(end < first or last + AFTERMATH < begin for first, last in self.spans.values())

    def received(self, name):
        """Returns the events that a receiver got, in order without duplicates, and the number of duplicates."""
        found, duplicates = {}, 0
        for line in lines(self.folder, name):
            body = line["body"]
            for event in body if isinstance(body, list) else [body]:
                # A webhook wraps the event in an envelope.
                event = event.get("data", event)
                if event["id"] in found:
                    duplicates += 1
                else:
                    found[event["id"]] = (line["at"], event)
        return found, duplicates

    def check_course(self, receiver, events):
        """Checks enters and exits. Returns the number of reported ones, and of visits that had to be reported."""
        reported = due = 0
        truth = {"hall": [[0, self.ends + 1]], **self.plan["visits"]}
        for region, stays in truth.items():
            course = []
            for _, event in events.values():
                if event["kind"] in ("enter", "exit") and (event.get("region") or {}).get("name") == region:
                    # After a kill -9 a change may be reported again: two files cannot be written at once.
                    if not course or course[-1]["kind"] != event["kind"]:
                        course.append(event)
            reported += len(course)
            if course and course[0]["kind"] != "enter":
                self.fault(f"{receiver}, {region}: the first event is an exit")
            for event in course:
                times = self.air_times(event["time"])
                if not times:
                    self.fault(f"{receiver}, {region}: {event['kind']} at {event['time']}, a time that no clock had")
                elif not any(self.is_true(event["kind"], time, stays) for time in times):
                    self.fault(
                        f"{receiver}, {region}: a false {event['kind']} at {' or '.join(f'{m:.0f} s' for m in times)}")
            enters = [m for event in course if event["kind"] == "enter" for m in self.air_times(event["time"])]
            for first, last in stays:
                heard_by = first + TO_BE_HEARD
                if last < heard_by or not self.is_quiet(first, heard_by):
                    continue
                due += 1
                before = [end for _, end in stays if end < first]
                # A region whose exit could not be reported yet is not entered again.
                if before and not self.is_quiet(before[-1], first):
                    continue
                if not any(first - TOLERANCE <= time <= heard_by for time in enters):
                    self.fault(f"{receiver}, {region}: the visit at {first:.0f} s was not reported, although nothing failed")
        return reported, due

    @staticmethod
    def is_true(kind, time, stays):
        if kind == "enter":
            return any(first - TOLERANCE <= time <= last + TOLERANCE for first, last in stays)
        # An exit is true if the visitor was away; the last advert may have arrived late.
        return not any(first - TOLERANCE <= time <= last - TOLERANCE for first, last in stays)

    def check_loss(self, events):
        """Checks that both receivers have the same events."""
        hook, broker = events["hook"], events["broker"]
        kills = [self.spans[n][0] for n, fault in enumerate(self.plan["faults"])
                 if fault["kind"] == "broker-kill" and n in self.spans]
        excused = 0
        # Some kinds of events are delivered to only one of the two.
        kinds = [{event["kind"] for _, event in found.values()} for found in (hook, broker)]
        common = {"enter", "exit"} | kinds[0] & kinds[1]
        for identity in hook.keys() ^ broker.keys():
            at, event = hook.get(identity) or broker.get(identity)
            # A newer heartbeat replaces waiting ones.
            if event["kind"] == "heartbeat" or event["kind"] not in common:
                continue
            # The broker acknowledged the event but did not save it.
            if identity not in broker and any(kill - 10 <= at <= kill + 1 for kill in kills):
                excused += 1
                continue
            has, lacks = ("hook", "broker") if identity in hook else ("broker", "hook")
            self.fault(f"the {event['kind']} {identity} at {at} s is at the {has}, but not at the {lacks}")
        return excused

    def check_outbox(self):
        try:
            rows = json.load(open(os.path.join(self.folder, "outbox")))
        except (OSError, ValueError):
            self.fault("the outbox could not be read")
            return
        for row in rows:
            for column in ("waiting", "deadLetters", "droppedByAge", "droppedBySize", "droppedByFilter"):
                if row.get(column):
                    self.fault(f"{row['name']}: {column} is {row[column]}")

    def check_growth(self):
        """Compares memory, files and threads in the first and the last third of the settled measurements."""
        began = {}
        for sample in self.samples:
            began.setdefault(sample["process"], sample["at"])
        settled = [s for s in self.samples if s["at"] - began[s["process"]] >= 20]
        if len(settled) < 6:
            self.fault(f"only {len(settled)} measurements")
            return {}
        third = len(settled) // 3
        found = {}
        for key, most in (("kilobytes", 1.25), ("files", 1.25), ("threads", 1.5)):
            first, last = max(s[key] for s in settled[:third]), max(s[key] for s in settled[-third:])
            found[key] = (first, last, max(s[key] for s in settled))
            if last > first * most:
                self.fault(f"{key} grew: at most {first} in the first third, {last} in the last")
        return found

    def check_end(self):
        end = next((line for line in self.happened if line["what"] == "the end"), None)
        settled = next((line for line in self.happened if line["what"] == "all is well"), None)
        for line in self.happened:
            if "error" in line:
                self.fault(f"at {line['at']} s {line['what']}: {line['error']}")
        if not end or not settled:
            self.fault("the job did not reach its end")
            return
        if not settled["settled"]:
            self.fault("not everything was delivered within seven minutes after the last fault")
        if end["active"] != "active":
            self.fault(f"beacond is {end['active']} at the end")
        if int(end["restarts"] or 0) > self.kills:
            self.fault(f"systemd started it {end['restarts']} times, after {self.kills} kills")
        journal = open(os.path.join(self.folder, "journal"), errors="replace").read()
        for word in ("Fatal error", "dumped core", "code=exited, status=1"):
            if word in journal:
                self.fault(f"the journal has \"{word}\"")

    def run(self):
        events, rows = {}, []
        for name in ("hook", "broker"):
            events[name], duplicates = self.received(name)
            reported, due = self.check_course(name, events[name])
            rows.append(f"| {name} | {len(events[name])} | {reported} | {due} | {duplicates} |")
            if due and not reported:
                self.fault(f"the {name} received no enter and no exit")
        excused = self.check_loss(events)
        self.check_outbox()
        growth = self.check_growth()
        self.check_end()
        counts = collections.Counter(fault["kind"] for fault in self.plan["faults"])
        report = [
            f"# A soak of {self.plan['seconds']} s, seed {self.plan['seed']}", "",
            "Passed." if not self.wrong else f"**{len(self.wrong)} problems:**", "",
            *(f"- {sentence}" for sentence in self.wrong), *([""] if self.wrong else []),
            "| receiver | notifications | enters and exits | visits that had to be reported | duplicates |", "|---|---|---|---|---|",
            *rows, "",
            f"Events that the broker lost when it was killed, although it had acknowledged them: {excused}.", "",
            "| measured | maximum in the first third | in the last | overall |", "|---|---|---|---|",
            *(f"| {key} | {first} | {last} | {most} |" for key, (first, last, most) in growth.items()), "",
            "Faults: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) + ".",
        ]
        text = "\n".join(report) + "\n"
        with open(os.path.join(self.folder, "report.md"), "w") as file:
            file.write(text)
        print(text)
        return 1 if self.wrong else 0


sys.exit(Soak(sys.argv[1]).run())
