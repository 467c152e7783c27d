import BeaconModel

extension SchemaNotes {
    /// The notes of deliveries, apps, the intake, the plan, the guided start and sessions.
    static let deliveries: [String: [String: SchemaNote]] = [
        "Outbox": [
            "path": "The path of the file."
        ],
        "Queue": [
            "type": .words(["webhook", "kumulos", "mqtt"]),
            "waiting": .count("Notifications that wait."),
            "dead": .count("Dead letters: notifications refused for good."),
            "delivered": .count("Notifications delivered so far."),
            "dropped": .count("Notifications dropped so far."),
            "failingSince": .count("The first of the failures in a row."),
            "lastError": "The last error.",
            "nextAttempt": .count("The next attempt; null for at once."),
        ],
        "Entries": [
            "entries": .list("The oldest first.", atMost: 200)
        ],
        "Entry": [
            "kind": "enter, exit, proximity, gone, place, heartbeat, application, or another.",
            "attempts": .count("Failed attempts."),
            "reason": "The refusal of a dead letter.",
        ],
        "RetryRequest": [
            "destination": "The name of a destination."
        ],
        "DropRequest": [
            "destination": "The name of a destination.",
            "state": SchemaNote(
                "dead: dead letters; all: every notification.", ["enum": ["dead", "all"], "default": "dead"]),
        ],
        "Retried": [
            "retried": .count()
        ],
        "Dropped": [
            "dropped": .count()
        ],
        "Login": [
            "": SchemaNote(nil, ["anyOf": [["required": ["token"]], ["required": ["code"]]]]),
            "token": "The token.",
            "code": "The code of a link.",
        ],
        "App": [
            "key": "The user name of HTTP Basic.",
            "installs": .count("Its installs."),
        ],
        "AppRequest": [
            "": SchemaNote(nil, ["examples": [["name": "shop"]]]),
            "name": SchemaNote(
                "A name that no other app or webhook has.",
                [
                    "minLength": 1, "maxLength": 100, "pattern": .string(InterfaceFrame.oneLine),
                    "not": .component("ReservedName"),
                ]),
        ],
        "NewApp": [
            "key": "The user name of HTTP Basic.",
            "secret": "Its password.",
        ],
        "Installs": [
            "installs": .list("The newest first.", atMost: 1000)
        ],
        "Install": [
            "user": "The user, as the app names them.",
            "attributes": "The attributes of the user, as the app sent them.",
            "firstSeen": .time(),
            "lastSeen": .time(),
            "events": .count("Its events so far."),
            "waiting": .count("The messages that wait for it."),
        ],
        "Messages": [
            "messages": .list("The newest first.", atMost: 200)
        ],
        "Message": [
            "rule": "The rule that sent it; null for the console.",
            "state": .words(["waiting", "taken"]),
            "taken": .count("When the app took it."),
        ],
        "MessageRequest": [
            "": SchemaNote(nil, ["examples": [["title": "Welcome", "text": "Coffee is on the left."]]]),
            "title": SchemaNote(nil, ["maxLength": 200]),
            "text": SchemaNote(nil, ["minLength": 1, "maxLength": 1000]),
            "url": SchemaNote("An address to open.", ["maxLength": 2000]),
        ],
        "AppEvent": [
            "": SchemaNote(
                nil,
                [
                    "examples": [
                        [
                            "type": "k.engage.beaconEnteredProximity", "uuid": "018bcfe5-6800-7000-8000-000000000001",
                            "timestamp": 1700000000250,
                            "data": [
                                "uuid": "f7826da6-4fa2-4e98-8024-bc5b71e0893e", "major": 1, "minor": 7, "proximity": 2,
                            ],
                        ]
                    ]
                ]),
            "type": SchemaNote(
                "What it is.", ["minLength": 1, "maxLength": 200, "pattern": .string(InterfaceFrame.oneLine)]),
            "uuid": SchemaNote(
                "The app's name of the event. It recognizes an event that comes twice.",
                ["minLength": 1, "maxLength": 200, "pattern": .string(InterfaceFrame.oneLine)]),
            "timestamp": "Milliseconds since 1970; now without it, or where it is later or no time.",
            "data": "An object; anything else is ignored. At most 16 KiB.",
            "userId": "The user; the install itself where there is no user. Ignored where it is longer than 200 bytes.",
        ],
        "AppMessages": [
            "messages": .list("The oldest first.", atMost: 100)
        ],
        "Acknowledgement": [
            "": SchemaNote(nil, ["examples": [["ids": ["018bcfe5-6800-7000-8000-000000000001"]]]]),
            "ids": .list(atMost: 1000),
        ],
        "CloudEvent": [
            "": "An event of a webhook of beacond's.",
            "id": "Recognizes one that comes twice.",
        ],
        "BeaconNotification": [
            "": "A notification, as webhooks send it.",
            "id": .component("UUIDText"),
            "kind": "enter, exit, proximity, gone, place, suspicious or application; others are passed over.",
            "time": SchemaNote("Seconds since 1970.", ["minimum": 0, "maximum": .number(Timestamp.latest.seconds)]),
            "name": "The name of an application's own event.",
        ],
        "Plan": [
            "width": SchemaNote("A length in metres; 0 where there is no plan.", ["minimum": 0, "maximum": 10000]),
            "height": SchemaNote("A length in metres; 0 where there is no plan.", ["minimum": 0, "maximum": 10000]),
            "image": "Where the picture is: another for another picture.",
            "receivers": SchemaNote("By their names.", points),
            "beacons": SchemaNote("By UUID/MAJOR/MINOR.", points),
        ],
        "BuildingPlan": [
            "": SchemaNote(
                nil,
                [
                    "examples": [
                        [
                            "width": 12, "height": 8.5, "receivers": ["hci0": [1, 2]],
                            "beacons": ["f7826da6-4fa2-4e98-8024-bc5b71e0893e/1/7": [3.5, 4]],
                        ]
                    ]
                ]),
            "width": SchemaNote("A length in metres; 0 where there is no plan.", ["minimum": 0, "maximum": 10000]),
            "height": SchemaNote("A length in metres; 0 where there is no plan.", ["minimum": 0, "maximum": 10000]),
            "receivers": SchemaNote("By their names.", points),
            "beacons": SchemaNote("By UUID/MAJOR/MINOR.", points),
        ],
        "Setup": [
            "path": "The path of the configuration to write.",
            "secrets": "The path of the file into which secrets are written.",
            "sources": "auto first.",
            "source": "The source that is heard until then.",
        ],
        "GuidedStartSource": [
            "source": SchemaNote(nil, ["examples": ["auto"]]),
            "reason": "Why it is not usable.",
        ],
        "SourceRequest": [
            "": SchemaNote(nil, ["examples": [["source": "simulation:museum?loop"]]]),
            "source": "auto, an adapter, a capture or a simulation, as the configuration names it.",
        ],
        "GuidedStartChoice": [
            "": SchemaNote(
                nil,
                [
                    "examples": [
                        [
                            "source": "auto",
                            "regions": [["name": "hall", "uuid": "f7826da6-4fa2-4e98-8024-bc5b71e0893e"]],
                            "webhook": "https://example.com/beacons",
                        ]
                    ]
                ]),
            "beacons": "Beacons as registered-beacons takes them; the draft has the faults of others.",
            "regions": "Regions as regions takes them.",
            "rules": "Rules as rules takes them, also with programs.",
            "webhook": "The address of a webhook that receives enter and exit.",
        ],
        "GuidedStartDraft": [
            "yaml": "The configuration.",
            "faults": "Their keys have places: regions.0.uuid.",
        ],
        "GuidedStartChoiceBroker": [
            "": SchemaNote(
                "The MQTT broker of Home Assistant.",
                ["examples": [["host": "localhost", "user": "beacond", "password": "secret"]]]),
            "password": "It is written into the file of secrets beside the configuration.",
            "tls": "True where the broker wants TLS.",
        ],
        "BrokerTrial": [
            "faults": "The reason why the broker refuses beacond, with its key; empty where it accepts beacond."
        ],
        "WrittenConfiguration": [
            "yaml": "The configuration.",
            "token": "The token that the console asks for from then on; null for none.",
        ],
        "GuidedStartDraftFault": [
            "key": "The key of the choice with its place: regions.0.uuid, broker.host."
        ],
    ]

    /// Points of a plan, by the names of receivers or beacons.
    private static let points: [String: JSONValue] = [
        "maxProperties": 1000, "propertyNames": ["maxLength": 200],
        "additionalProperties": [
            "description": "The metres to the right of and below the upper left corner.", "minItems": 2, "maxItems": 2,
            "items": ["minimum": -10000, "maximum": 10000],
        ],
    ]
}
