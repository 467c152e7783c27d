import BeaconModel

extension SchemaNotes {
    /// The notes of state, rules, sensing, events and advertising.
    static let sensing: [String: [String: SchemaNote]] = [
        "UnusedItem": [
            "": "An item that was added here and is not in use.",
            "reason": "Why it is not in use.",
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
            "started": .count("The start of beacond."),
            "time": .count("The newest time of a source."),
            "configuration": "The path of the file.",
            "token": "True where a token is needed.",
            "setup": "True while there is no configuration.",
            "readOnly": "True where nothing can change.",
            "programs": "True where rules that are added here may start programs.",
            "destinations": "The destinations that rules may notify.",
            "listeners": .count("Open event streams."),
            "store": "The contents of the event store, with their bounds.",
        ],
        "Store": [
            "events": "The history.",
            "memory": "Events that wait in memory for the disk.",
            "consumers": "Events that wait for each destination, and for the rules (\".rules\").",
            "state": "Values of the state, by their kind.",
            "fileBytes": .count("The bytes of the file and its log on the disk."),
            "mostFileBytes": .count("The most bytes of the file; null for no bound."),
        ],
        "StorePart": [
            "rows": .count(),
            "bytes": .count(),
            "mostRows": .count("The most rows."),
            "mostBytes": .count("The most bytes."),
            "age": .count("The seconds that a row is kept at most; null for no bound."),
            "largestSender": .count(
                "The rows of the sender that has the most: an app, an install or a rule. Null where they are not counted by sender."
            ),
            "mostRowsPerSender": .count("The most rows of one sender."),
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
            "events": "The events that count.",
            "regions": "Null for all.",
            "places": "Null for all.",
            "beacons": "Names or identities; null for all.",
            "runs": "The action, in words.",
            "started": .count("The events for which it ran."),
            "failed": .count("Failed runs of its program."),
            "withheld": .count("The events for which it did not run, since it was not the time or it had run already."),
            "last": .count("The last run."),
            "enabled": "False where it is switched off.",
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
            "from": "Only events from then on; ignored where it is no time.",
            "to": "Only events up to then; ignored where it is no time.",
        ],
        "Trial": [
            "events": SchemaNote("The events that were looked at.", ["minimum": 0, "maximum": 100000]),
            "from": .count("The time of the first of them."),
            "runs": .list("The newest first.", atMost: 200),
            "withheld": .list("The newest first.", atMost: 200),
            "unknown": "The events of the rule of which the history does not say each time that they happened here.",
        ],
        "TrialUnknown": [
            "event": SchemaNote(
                "enter, exit, place, gone, suspicious, immediate, near or far, or for how long: near for 30s.",
                [
                    "pattern":
                        "^ *(enter|exit|place|gone|suspicious|(immediate|near|far)( +for +(([0-9]+\\.?[0-9]*|\\.[0-9]+)(us|ms|[smhd]))+)?) *$"
                ]),
            "reason": "Why.",
        ],
        "TrialRun": [
            "event": "The number of the event.",
            "person": "For whom: a user, an install, a beacon or a region.",
            "reason": "Why it would not have run; missing where it would have.",
        ],
        "RuleRuns": [
            "runs": .list("The newest first.", atMost: 500),
            "next": "The value of before for the next page; null at the end.",
        ],
        "RuleRun": [
            "id": "The name of the entry.",
            "rule": "The name of the rule.",
            "event": "The number of the event; null where it is not known.",
            "summary": "The event.",
            "person": "For whom: a user, an install, a beacon or a region.",
            "action": "The action, in words.",
            "outcome": .words(
                ["done", "failed", "waiting", "withheld"], "failed: its program did; withheld: it did not run."),
            "detail": "The message, or why it failed or was withheld.",
        ],
        "Why": [
            "facts": "The values behind."
        ],
        "Source": [
            "from": "An adapter, a capture or a simulation, as the configuration names it.",
            "state": .words(
                ["starting", "running", "failing", "failed", "ended"],
                "failing: beacond opens it again; failed: it does not."),
            "ended": "True after its last advert.",
            "packets": .count("Packets so far."),
            "beacons": .count("iBeacon adverts so far."),
            "advertises": "True for a radio, which can send.",
        ],
        "Receiver": [
            "hearing": .words(["hearing", "deaf", "unknown"], "unknown: no report yet."),
            "since": .count("The last change."),
            "reason": "The error, where it is deaf.",
            "advertsPerSecond": .count("iBeacon adverts per second, a mean of ten seconds."),
        ],
        "FleetOverview": [
            "node": "The name of this machine.",
            "reason": "The error, where this machine is not connected.",
            "partitions": SchemaNote(
                "Their number; 0 before this machine was connected.", ["minimum": 0, "maximum": 1024]),
            "owners": "The machine that owns each partition, or null. Empty where that is not known.",
            "members": "The machines. Empty where this machine is not connected.",
            "log": .count("The number of the newest change."),
            "delivered": .count("The number of the change up to which all are delivered."),
        ],
        "FleetMember": [
            "node": "The name of the machine.",
            "worker": "An identity of its run, another after each start.",
            "works": "False for a machine that only hears: it owns no partitions.",
            "delivers": "True for the machine that delivers now.",
            "partitions": SchemaNote("The numbers of those that it owns.", ["items": ["minimum": 0]]),
            "unwritten": .count("Changes that the machine decided, and that are not in the log yet."),
            "shown": .count("The number of the change up to which it has followed."),
            "adverts": .count("Adverts of the beacons of its partitions, from all receivers."),
        ],
        "FleetMemberReceiver": [
            "hears": "False for one that is deaf."
        ],
        "Region": [
            "major": SchemaNote("Null for all major values.", ["minimum": 0, "maximum": 65535]),
            "minor": SchemaNote("Null for all minor values.", ["minimum": 0, "maximum": 65535]),
            "state": .words(["inside", "outside", "unknown"], "unknown: the receivers that hear cannot decide."),
            "since": .count("The last change."),
        ],
        "PlacesPlace": [
            "dark": "True where none of its receivers hears."
        ],
        "PlacesBeacon": [
            "state": .words(["inside", "outside", "unknown"], "unknown: the receivers that hear cannot decide."),
            "before": "The place before.",
            "since": .count("The last change."),
            "level": "The signal in the place, in dBm.",
            "margin": "The lead over the next place, in dB.",
            "runnerUp": "The next place.",
        ],
        "RegisteredBeacon": [
            "place": "The place that it is fixed in."
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
            "accuracy": SchemaNote("The estimated distance in metres; -1 where unknown.", ["minimum": -1]),
            "range": SchemaNote(
                "The bounds in metres of 68 % of all cases.", ["minItems": 2, "maxItems": 2, "items": ["minimum": 0]]),
            "rssi": "The mean signal in dBm; 0 without a reading.",
            "measuredPower": SchemaNote("The signal at one metre, in dBm.", ["minimum": -128, "maximum": -1]),
            "lastHeard": .time(),
            "regions": "The names of its regions.",
        ],
        "Ranging": [
            "": "The beacons of a second: the data of a ranging event.",
            "region": "Null for all beacons.",
        ],
        "Event": [
            "id": "The number in this history; null while it cannot be written.",
            "eventId": SchemaNote(
                "The id of the event, which notifications of it have as well; in a fleet, it is the same on all machines.",
                ["format": "uuid"]),
            "kind": .component("EventKind"),
            "summary": SchemaNote(nil, ["examples": ["hall was entered"]]),
            "sender": "The app or webhook that sent it; null for an event of this machine.",
            "install": "The install of the app.",
            "user": "The user, as the app names them.",
            "detail": SchemaNote("The event as programs receive it; the keys depend on the kind.", ["type": "object"]),
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
            "possible": "True where a source is a radio.",
            "reason": "Why it cannot send.",
            "beacon": "Null until one is set.",
        ],
        "AdvertisingBeacon": [
            "measuredPower": SchemaNote("The signal at one metre, in dBm.", ["minimum": -127, "maximum": -1]),
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
            "measuredPower": SchemaNote("The signal at one metre, in dBm.", ["minimum": -127, "maximum": -1]),
        ],
    ]
}
