import BeaconModel

extension SchemaNotes {
    /// The notes of deliveries, apps, the intake, the plan, the guided start and sessions.
    static let deliveries: [String: [String: SchemaNote]] = [
        "Outbox": [
            "path": "The path of the file."
        ],
        "Queue": [
            "type": .words(["webhook", "kumulos", "mqtt"]),
            "waiting": .count("Waiting notifications."),
            "dead": .count("Dead letters: notifications that the destination permanently refused."),
            "delivered": .count("Notifications delivered until now."),
            "dropped": .count("Notifications dropped until now."),
            "failingSince": .count("The time of the first failure in a row."),
            "lastError": "The last error.",
            "nextAttempt": .count("The time of the next attempt; null for at once."),
        ],
        "Entries": [
            "entries": .list("The oldest first.", atMost: 200)
        ],
        "Entry": [
            "kind": "enter, exit, proximity, gone, place, heartbeat, application, or another.",
            "attempts": .count("Failed attempts."),
            "reason": "The reason why a dead letter was refused.",
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
            "key": "The user name for HTTP Basic.",
            "installs": .count("The number of its installs."),
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
            "key": "The user name for HTTP Basic.",
            "secret": "The password for HTTP Basic.",
        ],
        "Installs": [
            "installs": .list("The newest first.", atMost: 1000)
        ],
        "Install": [
            "user": "The user's name in the app.",
            "attributes": "The attributes of the user, as sent by the app.",
            "firstSeen": .time(),
            "lastSeen": .time(),
            "events": .count("The number of its events."),
            "waiting": .count("The number of waiting messages."),
        ],
        "Messages": [
            "messages": .list("The newest first.", atMost: 200)
        ],
        "Message": [
            "rule": "The rule that sent the message; null for the console.",
            "state": .words(["waiting", "taken"]),
            "taken": .count("The time when the app acknowledged it."),
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
                "The event's type.", ["minLength": 1, "maxLength": 200, "pattern": .string(InterfaceFrame.oneLine)]),
            "uuid": SchemaNote(
                "The app's identifier of the event. It identifies repeated events.",
                ["minLength": 1, "maxLength": 200, "pattern": .string(InterfaceFrame.oneLine)]),
            "timestamp":
                "Milliseconds since 1970. If it is missing, invalid or in the future, the time of arrival counts.",
            "data": "An object; anything else is ignored. At most 16 KiB.",
            "userId": "The user, or the install itself without one. Ignored if longer than 200 bytes.",
        ],
        "AppMessages": [
            "messages": .list("The oldest first.", atMost: 100)
        ],
        "Acknowledgement": [
            "": SchemaNote(nil, ["examples": [["ids": ["018bcfe5-6800-7000-8000-000000000001"]]]]),
            "ids": .list(atMost: 1000),
        ],
        "CloudEvent": [
            "": "An event of a beacond webhook.",
            "id": "Identifies repeated events.",
        ],
        "BeaconNotification": [
            "": "A notification as sent by webhooks.",
            "id": .component("UUIDText"),
            "kind": "enter, exit, proximity, gone, place, suspicious or application; other kinds are ignored.",
            "time": SchemaNote("Seconds since 1970.", ["minimum": 0, "maximum": .number(Timestamp.latest.seconds)]),
            "name": "The name of an application's custom event.",
        ],
        "Plan": [
            "width": SchemaNote("A length in meters; 0 without a plan.", ["minimum": 0, "maximum": 10000]),
            "height": SchemaNote("A length in meters; 0 without a plan.", ["minimum": 0, "maximum": 10000]),
            "image": "The address of the picture. It changes with the picture.",
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
            "width": SchemaNote("A length in meters; 0 without a plan.", ["minimum": 0, "maximum": 10000]),
            "height": SchemaNote("A length in meters; 0 without a plan.", ["minimum": 0, "maximum": 10000]),
            "receivers": SchemaNote("By their names.", points),
            "beacons": SchemaNote("By UUID/MAJOR/MINOR.", points),
        ],
        "Setup": [
            "path": "The path of the configuration to write.",
            "secrets": "The path of the file for secrets.",
            "sources": "auto first.",
            "source": "The source in use until then.",
        ],
        "GuidedStartSource": [
            "source": SchemaNote(nil, ["examples": ["auto"]]),
            "reason": "The reason why it is not usable.",
        ],
        "SourceRequest": [
            "": SchemaNote(nil, ["examples": [["source": "simulation:museum?loop"]]]),
            "source": "auto, an adapter, a capture or a simulation, in the configuration's format.",
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
            "beacons": "Beacons in the format of registered-beacons. The draft reports invalid ones as faults.",
            "regions": "Regions in the format of regions.",
            "rules": "Rules in the format of rules. They may run programs.",
            "webhook": "The address of a webhook that receives enter and exit.",
        ],
        "GuidedStartDraft": [
            "yaml": "The configuration.",
            "faults": "The keys of faults contain the position, such as regions.0.uuid.",
        ],
        "GuidedStartChoiceBroker": [
            "": SchemaNote(
                "The MQTT broker of Home Assistant.",
                ["examples": [["host": "localhost", "user": "beacond", "password": "secret"]]]),
            "password": "Written to the secrets file next to the configuration.",
            "tls": "True if the broker uses TLS.",
            "options": "The other settings of the connection, such as `ca-file`, by their keys in the configuration.",
        ],
        "BrokerTrial": [
            "faults": "The reason why the broker refuses beacond, with its key; empty if it accepts beacond."
        ],
        "WrittenConfiguration": [
            "yaml": "The configuration.",
            "token": "The token that the console asks for from then on; null without one.",
        ],
        "GuidedStartDraftFault": [
            "key": "The key of the choice with its position, such as regions.0.uuid or broker.host."
        ],
    ]

    /// The schema of points on a plan, by the names of receivers or beacons.
    private static let points: [String: JSONValue] = [
        "maxProperties": 1000, "propertyNames": ["maxLength": 200],
        "additionalProperties": [
            "description": "The position in meters: to the right and down from the upper left corner.", "minItems": 2,
            "maxItems": 2,
            "items": ["minimum": -10000, "maximum": 10000],
        ],
    ]
}
