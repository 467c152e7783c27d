import BeaconGateway
import BeaconModel

/// The fixed parts of the description: its head, the security schemes, and shared schemas.
enum InterfaceFrame {
    /// The pattern of text on one line.
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
        The HTTP interface of beacond, an iBeacon gateway. Times are seconds since 1970, distances meters, signals dBm. \
        If a token is configured, requests need it or a session cookie. Apps, webhooks and gateways use their own \
        keys, signatures and tokens. A read-only console refuses changes. Each GET has a HEAD.
        """

    private static let securitySchemes: JSONValue = [
        "bearer": ["type": "http", "scheme": "bearer"],
        "cookie": [
            "type": "apiKey", "in": "cookie", "name": "beacond-session",
            "description": "Over HTTPS its name is __Host-beacond-session.",
        ],
        "app": ["type": "http", "scheme": "basic", "description": "The key and the secret of an app."],
        "gateway": ["type": "http", "scheme": "bearer", "description": "The token of the source."],
        "gatewayPassword": [
            "type": "http", "scheme": "basic",
            "description": "Any user name, with the token of the source as password.",
        ],
        "gatewayAddress": [
            "type": "apiKey", "in": "query", "name": "token",
            "description": "The token of the source, for gateways that only have a setting for an address.",
        ],
        "signature": [
            "type": "apiKey", "in": "header", "name": "webhook-signature",
            "description": "v1 and the HMAC-SHA256 of webhook-id, webhook-timestamp and the body.",
        ],
    ]

    /// The schemas that several values share.
    private static let schemas: JSONValue = [
        "PathName": ["type": "string", "minLength": 1, "maxLength": 200, "pattern": .string(oneLine)],
        "ItemName": [
            "type": "string", "description": "On one line.", "minLength": 1, "maxLength": 100,
            "pattern": #"^[^\u0000-\u001F\u007F-\u009F\u2028\u2029]+$"#, "not": .component("ReservedName"),
            "examples": ["hall"],
        ],
        "ReservedName": [
            "type": "string", "description": "A name that an address cannot contain or uses for something else.",
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
            cloned; receiver: a receiver started or stopped hearing; app: a custom event of an app; user: an app \
            reported its user.
            """,
        ],
    ]

    private static let uuid = "([0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"
    private static let uint16 =
        "([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
}

extension JSONValue {
    /// Returns a reference to a schema of the description.
    static func component(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

    /// Returns an object merged with other values. Objects with the same key are merged too; a reference replaces the
    /// whole object.
    func merging(_ others: [String: JSONValue]) -> JSONValue {
        guard case .object(let own) = self, others["$ref"] == nil else { return .object(others) }
        return .object(
            own.merging(others) { before, new in
                if case .object(let values) = new { before.merging(values) } else { new }
            })
    }
}
