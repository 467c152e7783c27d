import BeaconGateway
import BeaconModel

/// The fixed parts of the description: its head, the security schemes, and the schemas of names.
enum InterfaceFrame {
    /// A text on one line, as a pattern.
    static let oneLine = #"^[^\u0000-\u001F\u007F-\u009F]+$"#

    /// The description without paths.
    static var value: JSONValue {
        [
            "openapi": "3.1.0",
            "info": [
                "title": "beacond", "version": "1", "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
                "description": .string(about),
            ],
            "servers": [["url": "/"]],
            "security": [[:], ["bearer": []], ["cookie": []]],
            "tags": .array(
                Operation.Tag.allCases.map {
                    ["name": .string($0.title), "description": .string($0.description)]
                }),
            "components": ["securitySchemes": securitySchemes, "schemas": schemas],
        ]
    }

    private static let about = """
        The HTTP interface of beacond, an iBeacon gateway. Times are seconds since 1970, distances metres, signals dBm. \
        Where a token is set, requests need it or the cookie of a session; apps, webhooks and gateways have keys, \
        signatures and tokens of their own. A console that only shows refuses changes. Each GET \
        has a HEAD.
        """

    private static let securitySchemes: JSONValue = [
        "bearer": ["type": "http", "scheme": "bearer"],
        "cookie": [
            "type": "apiKey", "in": "cookie", "name": "beacond-session",
            "description": "Over HTTPS it is __Host-beacond-session.",
        ],
        "app": ["type": "http", "scheme": "basic", "description": "The key and the secret of an app."],
        "gateway": ["type": "http", "scheme": "bearer", "description": "The token of the source."],
        "gatewayPassword": [
            "type": "http", "scheme": "basic", "description": "Any user, and the token of the source.",
        ],
        "gatewayAddress": [
            "type": "apiKey", "in": "query", "name": "token",
            "description": "The token of the source, for gateways that can be given an address alone.",
        ],
        "signature": [
            "type": "apiKey", "in": "header", "name": "webhook-signature",
            "description": "v1, and the HMAC-SHA256 of webhook-id, webhook-timestamp and the body.",
        ],
    ]

    /// The schemas of texts that several values have.
    private static let schemas: JSONValue = [
        "PathName": ["type": "string", "minLength": 1, "maxLength": 200, "pattern": .string(oneLine)],
        "ItemName": [
            "type": "string", "description": "On one line.", "minLength": 1, "maxLength": 100,
            "pattern": #"^[^\u0000-\u001F\u007F-\u009F\u2028\u2029]+$"#, "not": .component("ReservedName"),
            "examples": ["hall"],
        ],
        "ReservedName": [
            "type": "string", "description": "What an address cannot have for a name, or has for something else.",
            "enum": .array(ItemChanges.reserved.sorted().map(JSONValue.string)),
        ],
        "UUIDText": [
            "type": "string", "description": "32 hexadecimal digits, with or without hyphens.",
            "pattern": .string("^\(uuid)$"),
        ],
        "ConstraintText": [
            "type": "string", "description": "UUID, UUID/MAJOR or UUID/MAJOR/MINOR.",
            "pattern": .string("^\(uuid)(/0*\(uint16)){0,2}$"),
        ],
        "EventKind": [
            "type": "string", "enum": .array(HistoryEvent.Kind.allCases.map { .string($0.rawValue) }),
            "description": """
            enter, exit, state: a region was entered, left, or became known or unknown; place, proximity: a beacon \
            changed its place or proximity; gone: a beacon is no longer heard; suspicious: a beacon may have been \
            cloned; receiver: a receiver hears again, or no longer; app: an event of an app's own; user: an app said who \
            its user is.
            """,
        ],
    ]

    private static let uuid = "([0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"
    private static let uint16 =
        "([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
}

extension JSONValue {
    /// A reference to a schema of the description.
    static func component(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

    /// Returns an object with the values of another one. Objects of the same key are merged too; a reference replaces
    /// the whole.
    func merging(_ others: [String: JSONValue]) -> JSONValue {
        guard case .object(let own) = self, others["$ref"] == nil else { return .object(others) }
        return .object(
            own.merging(others) { before, new in
                if case .object(let values) = new { before.merging(values) } else { new }
            })
    }
}
