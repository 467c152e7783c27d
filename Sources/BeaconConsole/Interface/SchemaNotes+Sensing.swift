import BeaconModel

extension SchemaNotes {
    /// The notes of state, rules, sensing, events and advertising.
    static let sensing: [String: [String: SchemaNote]] = [
        "UnusedItem": [
            "": "An item of the console that is not in use.",
            "reason": "The reason why it is not in use.",
        ],
        "Problem": [
            "": "An error (RFC 9457).",
            "type": "Always about:blank.",
            "status": SchemaNote(nil, ["minimum": 400, "maximum": 599]),
            "detail": "The cause and the remedy.",
            "errors": SchemaNote(nil, ["minItems": 1]),
        ],
        "ProblemFault": [
            "key": "The parameter, or the key of the body."
        ],
        "Status": [
            "started": .count("The time when beacond started."),
            "time": .count("The newest time of a source."),
            "configuration": "The path of the file.",
            "token": "True if a token is needed.",
            "setup": "True before a configuration exists.",
            "readOnly": "True if the console is read-only.",
            "programs": "True if rules of the console may start programs.",
            "destinations": "The destinations that rules may notify.",
            "listeners": .count("The number of open event streams."),
            "store": "The contents of the event store, with their limits.",
        ],
        "Store": [
            "events": "The history.",
            "memory": "Events in memory that wait for the disk.",
            "consumers": "Events that wait for each destination and for the rules (\".rules\").",
            "state": "Values of the state by kind.",
            "fileBytes": .count("The bytes of the file and its log on the disk."),
            "maximumFileBytes": .count("The largest size of the file in bytes; null without a limit."),
        ],
        "StorePart": [
            "rows": .count(),
            "bytes": .count(),
            "maximumRows": .count("The largest number of rows."),
            "maximumBytes": .count("The largest number of bytes."),
            "age": .count("The longest time that a row is kept, in seconds; null without a limit."),
            "largestSender": .count(
                "The rows of the sender with the most: an app, an install or a rule. Null if rows are not counted by sender."
            ),
            "maximumRowsPerSender": .count("The largest number of rows of one sender."),
        ],
        "Health": [
            "status": .words(["good", "warning", "failing"], "The worst severity."),
            "findings": "The worst first.",
        ],
        "HealthFinding": [
            "severity": .words(["error", "warning", "note", "good"])
        ],
        "Liveness": [
            "live": SchemaNote(nil, ["const": true])
        ],
        "Readiness": [
            "ready": SchemaNote(nil, ["const": true])
        ],
        "Rule": [
            "events": "The events that run it.",
            "regions": "Null for all.",
            "places": "Null for all.",
            "beacons": "Names or identities; null for all.",
            "runs": "The action as text.",
            "started": .count("The number of events for which it ran."),
            "failed": .count("The number of failed runs of its program."),
            "withheld": .count("The number of events for which it did not run, because of the time or an earlier run."),
            "last": .count("The time of the last run."),
            "enabled": "False if it is switched off.",
            "fault": "The reason why its program cannot run, or why it failed the last time; null if neither is so.",
        ],
        "TrialRequest": [
            "": SchemaNote(
                nil,
                [
                    "examples": [
                        [
                            "rule": ["name": "lights", "events": ["enter"], "program": ["/bin/true"]],
                            "from": 1700000000,
                        ]
                    ]
                ]),
            "rule": .component("TrialRule"),
            "from": "Only events from this time on; ignored if invalid.",
            "to": "Only events up to this time; ignored if invalid.",
        ],
        "Trial": [
            "events": SchemaNote("The number of examined events.", ["minimum": 0, "maximum": 100000]),
            "from": .count("The time of the first examined event."),
            "runs": .list("The newest first.", atMost: 200),
            "withheld": .list("The newest first.", atMost: 200),
            "unknown": "The rule's events for which the history is incomplete.",
        ],
        "TrialUnknown": [
            "event": SchemaNote(
                "enter, exit, place, gone, suspicious, immediate, near or far, or one of the last three with a duration: near for 30s.",
                [
                    "pattern":
                        "^ *(enter|exit|place|gone|suspicious|(immediate|near|far)( +for +(([0-9]+\\.?[0-9]*|\\.[0-9]+)(us|ms|[smhd]))+)?) *$"
                ]),
            "reason": "The reason why the history is incomplete.",
        ],
        "TrialRun": [
            "event": "The number of the event.",
            "person": "The subject of the run: a user, an install, a beacon or a region.",
            "reason": "The reason why it would not have run; missing if it would have.",
        ],
        "RuleRuns": [
            "runs": .list("The newest first.", atMost: 500),
            "next": "The value of before for the next page; null at the end.",
        ],
        "RuleRun": [
            "id": "The identifier of the entry.",
            "rule": "The name of the rule.",
            "event": "The number of the event; null if unknown.",
            "summary": "The event.",
            "person": "The subject of the run: a user, an install, a beacon or a region.",
            "action": "The action as text.",
            "outcome": .words(
                ["done", "failed", "waiting", "withheld"], "failed: its program failed; withheld: it did not run."),
            "detail": "The message, or the reason for the failure or for withholding the run.",
        ],
        "Why": [
            "facts": "The values behind the explanation."
        ],
        "Source": [
            "from": "An adapter, a capture or a simulation, in the configuration's format.",
            "state": .words(
                ["starting", "running", "failing", "failed", "ended"],
                "failing: beacond opens it again; failed: it does not."),
            "ended": "True after its last advert.",
            "packets": .count("The number of packets."),
            "beacons": .count("The number of iBeacon adverts."),
            "advertises": "True for a radio, which can advertise.",
        ],
        "Receiver": [
            "hearing": .words(["hearing", "deaf", "unknown"], "unknown: no report yet."),
            "since": .count("The time of the last change."),
            "reason": "The error, if the receiver is deaf.",
            "advertsPerSecond": .count("iBeacon adverts per second, averaged over ten seconds."),
        ],
        "FleetOverview": [
            "node": "The name of this machine.",
            "reason": "The error, if this machine is not connected.",
            "partitions": SchemaNote(
                "The number of partitions; 0 until this machine has connected.", ["minimum": 0, "maximum": 1024]),
            "owners": "The machine that owns each partition, or null. Empty if unknown.",
            "members": "The machines. Empty if this machine is not connected.",
            "log": .count("The number of the newest change."),
            "delivered": .count("The number of the last change up to which all are delivered."),
        ],
        "FleetMember": [
            "node": "The name of the machine.",
            "worker": "The identity of its process, which changes with each start.",
            "works": "False for a machine that only hears: such a machine owns no partitions.",
            "delivers": "True for the machine that currently delivers.",
            "partitions": SchemaNote("The numbers of the partitions that it owns.", ["items": ["minimum": 0]]),
            "unwritten": .count("The number of changes that the machine has decided but not yet written to the log."),
            "shown": .count("The number of the last change that it has processed."),
            "adverts": .count("The number of adverts of beacons in its partitions, from all receivers."),
        ],
        "FleetMemberReceiver": [
            "hears": "False for a deaf receiver."
        ],
        "Region": [
            "major": SchemaNote("Null for all major values.", ["minimum": 0, "maximum": 65535]),
            "minor": SchemaNote("Null for all minor values.", ["minimum": 0, "maximum": 65535]),
            "state": .words(["inside", "outside", "unknown"], "unknown: the receivers that hear cannot decide."),
            "since": .count("The time of the last change."),
        ],
        "PlacesPlace": [
            "dark": "True if none of its receivers hears."
        ],
        "PlacesBeacon": [
            "state": .words(["inside", "outside", "unknown"], "unknown: the receivers that hear cannot decide."),
            "before": "The previous place.",
            "since": .count("The time of the last change."),
            "level": "The signal in the place, in dBm.",
            "margin": "The lead over the next best place, in dB.",
            "runnerUp": "The next best place.",
        ],
        "RegisteredBeacon": [
            "place": "The place where the beacon is installed."
        ],
        "BeaconTableCounts": [
            "added": .count(),
            "changed": .count(),
            "removed": .count(),
            "unchanged": .count(),
        ],
        "Beacons": [
            "beacons": "The nearest first."
        ],
        "RangedBeacon": [
            "accuracy": SchemaNote("The estimated distance in meters; -1 if unknown.", ["minimum": -1]),
            "range": SchemaNote(
                "The interval in meters that contains 68 % of all cases.",
                ["minItems": 2, "maxItems": 2, "items": ["minimum": 0]]),
            "rssi": "The mean signal in dBm; 0 without a reading.",
            "measuredPower": SchemaNote("The signal at one meter, in dBm.", ["minimum": -128, "maximum": -1]),
            "lastHeard": .time(),
            "regions": "The names of its regions.",
        ],
        "Ranging": [
            "": "The beacons of one second: the data of a ranging event.",
            "region": "Null for all beacons.",
        ],
        "Event": [
            "id": "The number in this history; null while the history cannot be written.",
            "eventId": SchemaNote(
                "The id of the event. Its notifications have the same id, and so do all machines of a fleet.",
                ["format": "uuid"]),
            "kind": .component("EventKind"),
            "summary": SchemaNote(nil, ["examples": ["hall was entered"]]),
            "sender": "The app or webhook that sent the event; null for an event of this machine.",
            "install": "The install of the app.",
            "user": "The user's name in the app.",
            "detail": SchemaNote("The event as passed to programs. The keys depend on the kind.", ["type": "object"]),
        ],
        "Events": [
            "events": .list("The newest first.", atMost: 1000),
            "next": "The value of before for the next page; null at the end.",
        ],
        "EventCounts": [
            "from": .time(),
            "to": .time(),
            "steps": SchemaNote(nil, ["minimum": 1, "maximum": 1000]),
            "counts": SchemaNote(
                "The number of events in each step, by kind.",
                ["propertyNames": .component("EventKind"), "additionalProperties": ["items": ["minimum": 0]]]),
        ],
        "Changes": [
            "": "The changed lists: the data of a state event.",
            "regions": SchemaNote(nil, ["const": true]),
            "places": SchemaNote(nil, ["const": true]),
            "receivers": SchemaNote(nil, ["const": true]),
            "advertising": SchemaNote(nil, ["const": true]),
            "rules": SchemaNote(nil, ["const": true]),
            "plan": SchemaNote(nil, ["const": true]),
            "installs": SchemaNote(nil, ["const": true]),
            "registered-beacons": SchemaNote(nil, ["const": true]),
        ],
        "Advertising": [
            "possible": "True if a source is a radio.",
            "reason": "The reason why it cannot advertise.",
            "beacon": "Null until one is set.",
        ],
        "AdvertisingBeacon": [
            "measuredPower": SchemaNote("The signal at one meter, in dBm.", ["minimum": -127, "maximum": -1]),
            "state": .words(["on", "starting", "failed", "off"]),
        ],
        "AdvertisingRequest": [
            "": SchemaNote(
                nil,
                [
                    "examples": [
                        [
                            "uuid": "f7826da6-4fa2-4e98-8024-bc5b71e0893e", "major": 1, "minor": 7,
                            "measuredPower": -59, "enabled": true,
                        ]
                    ]
                ]),
            "measuredPower": SchemaNote("The signal at one meter, in dBm.", ["minimum": -127, "maximum": -1]),
        ],
    ]
}
