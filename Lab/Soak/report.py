"""Checks what a soak has left behind, and writes report.md beside it. Ends with status 1 where something was wrong.

usage: report.py FOLDER      with plan.json, happened, hook, broker, samples, outbox and journal
"""

import collections
import json
import os
import sys

EXIT_TIMEOUT = 30
# Somebody is heard within seconds where nothing fails; a scan that died is restarted after 20 s, and the machine is emulated.
TO_BE_HEARD = 40
# How long after a fault's end something may still be its consequence: the watchdog's 90 s, a retry of the adapter, an exit time-out.
AFTERMATH = 150
# Reading the clock, writing down and the air's own steps.
TOLERANCE = 3


def lines(folder, name):
    path = os.path.join(folder, name)
    found = []
    if os.path.exists(path):
        for line in open(path, errors="replace"):
            try:
                found.append(json.loads(line))
            except ValueError:
                # A line that the end has cut.
                pass
    return found


class Soak:
    def __init__(self, folder):
        self.folder = folder
        self.plan = json.load(open(os.path.join(folder, "plan.json")))
        self.happened = lines(folder, "happened")
        self.samples = lines(folder, "samples")
        self.wrong = []
        # Begin and end of each fault, as it was and not as it was planned.
        self.spans = {}
        for line in self.happened:
            if "number" in line:
                begin, _ = self.spans.get(line["number"], (line["at"], None))
                self.spans[line["number"]] = (begin, line["at"])
        self.ends = max((line["at"] for line in self.happened), default=0)
        # What the wall clock was, by the difference to the time of the air: the clock is set now and then.
        self.clocks = [(line["at"], line["clock"]) for line in self.happened]
        self.kills = sum(fault["kind"] == "kill" for fault in self.plan["faults"])

    def fault(self, sentence):
        self.wrong.append(sentence)

    def moments(self, wall):
        """The times of the air at which the wall clock may have shown this."""
        found = []
        for index, (at, clock) in enumerate(self.clocks):
            end = self.clocks[index + 1][0] if index + 1 < len(self.clocks) else self.ends
            moment = wall - clock
            # Setting it is noted just after it.
            if at - TOLERANCE - 2 <= moment <= end + TOLERANCE + 2:
                found.append(moment)
        return found

    def is_quiet(self, begin, end):
        """True where no fault, and no consequence of one, was between the two."""
        return all(end < first or last + AFTERMATH < begin for first, last in self.spans.values())

    def received(self, name):
        """What a receiver got, each once, in the order in which it came, and how often something came twice."""
        found, twice = {}, 0
        for line in lines(self.folder, name):
            body = line["body"]
            for event in body if isinstance(body, list) else [body]:
                # A webhook's is in an envelope.
                event = event.get("data", event)
                if event["id"] in found:
                    twice += 1
                else:
                    found[event["id"]] = (line["at"], event)
        return found, twice

    def check_course(self, receiver, events):
        """Checks who came and left. Returns the numbers of what was told, and of visits that had to be told."""
        told = due = 0
        truth = {"hall": [[0, self.ends + 1]], **self.plan["visits"]}
        for region, stays in truth.items():
            course = []
            for _, event in events.values():
                if event["kind"] in ("enter", "exit") and (event.get("region") or {}).get("name") == region:
                    # After a kill -9 a change may be told again: two files cannot be written at once.
                    if not course or course[-1]["kind"] != event["kind"]:
                        course.append(event)
            told += len(course)
            if course and course[0]["kind"] != "enter":
                self.fault(f"{receiver}, {region}: it began with an exit")
            for event in course:
                moments = self.moments(event["time"])
                if not moments:
                    self.fault(f"{receiver}, {region}: {event['kind']} at {event['time']}, which no clock showed")
                elif not any(self.is_true(event["kind"], moment, stays) for moment in moments):
                    self.fault(
                        f"{receiver}, {region}: a false {event['kind']} at {' or '.join(f'{m:.0f} s' for m in moments)}")
            enters = [m for event in course if event["kind"] == "enter" for m in self.moments(event["time"])]
            for first, last in stays:
                heard_by = first + TO_BE_HEARD
                if last < heard_by or not self.is_quiet(first, heard_by):
                    continue
                due += 1
                before = [end for _, end in stays if end < first]
                # Whose exit could not be told yet has not entered anew.
                if before and not self.is_quiet(before[-1], first):
                    continue
                if not any(first - TOLERANCE <= moment <= heard_by for moment in enters):
                    self.fault(f"{receiver}, {region}: nobody told of the visit at {first:.0f} s, when nothing failed")
        return told, due

    @staticmethod
    def is_true(kind, moment, stays):
        if kind == "enter":
            return any(first - TOLERANCE <= moment <= last + TOLERANCE for first, last in stays)
        # One who is away, and has been for as long as it takes; what was heard last may have come late.
        return not any(first - TOLERANCE <= moment <= last - TOLERANCE for first, last in stays)

    def check_loss(self, events):
        """Checks that each receiver has what the other has."""
        hook, broker = events["hook"], events["broker"]
        kills = [self.spans[n][0] for n, fault in enumerate(self.plan["faults"])
                 if fault["kind"] == "broker-kill" and n in self.spans]
        excused = 0
        # Some are for one of the two alone.
        kinds = [{event["kind"] for _, event in found.values()} for found in (hook, broker)]
        common = {"enter", "exit"} | kinds[0] & kinds[1]
        for identity in hook.keys() ^ broker.keys():
            at, event = hook.get(identity) or broker.get(identity)
            # A newer heartbeat replaces those that wait.
            if event["kind"] == "heartbeat" or event["kind"] not in common:
                continue
            # What a broker has acknowledged and not kept is its own.
            if identity not in broker and any(kill - 10 <= at <= kill + 1 for kill in kills):
                excused += 1
                continue
            has, lacks = ("hook", "broker") if identity in hook else ("broker", "hook")
            self.fault(f"the {event['kind']} {identity} at {at} s is at the {has}, and not at the {lacks}")
        return excused

    def check_outbox(self):
        try:
            rows = json.load(open(os.path.join(self.folder, "outbox")))
        except (OSError, ValueError):
            self.fault("the outbox was not read")
            return
        for row in rows:
            for column in ("waiting", "deadLetters", "droppedByAge", "droppedBySize", "droppedByFilter"):
                if row.get(column):
                    self.fault(f"{row['name']}: {column} is {row[column]}")

    def check_growth(self):
        """Checks memory and files, by the first and the last third of what was measured once it had run for two minutes."""
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
            self.fault("it did not come to its end")
            return
        if not settled["settled"]:
            self.fault("not all was delivered within seven minutes of the end of all faults")
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
            events[name], twice = self.received(name)
            told, due = self.check_course(name, events[name])
            rows.append(f"| {name} | {len(events[name])} | {told} | {due} | {twice} |")
            if due and not told:
                self.fault(f"the {name} got no enter and no exit")
        excused = self.check_loss(events)
        self.check_outbox()
        growth = self.check_growth()
        self.check_end()
        counts = collections.Counter(fault["kind"] for fault in self.plan["faults"])
        report = [
            f"# A soak of {self.plan['seconds']} s, seed {self.plan['seed']}", "",
            "Passed." if not self.wrong else f"**{len(self.wrong)} faults of beacond's:**", "",
            *(f"- {sentence}" for sentence in self.wrong), *([""] if self.wrong else []),
            "| receiver | notifications | enters and exits | visits that had to be told | came twice |", "|---|---|---|---|---|",
            *rows, "",
            f"The broker lost {excused} that it had acknowledged when it was killed.", "",
            "| measured | most in the first third | in the last | at all |", "|---|---|---|---|",
            *(f"| {key} | {first} | {last} | {most} |" for key, (first, last, most) in growth.items()), "",
            "What failed: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) + ".",
        ]
        text = "\n".join(report) + "\n"
        with open(os.path.join(self.folder, "report.md"), "w") as file:
            file.write(text)
        print(text)
        return 1 if self.wrong else 0


sys.exit(Soak(sys.argv[1]).run())
