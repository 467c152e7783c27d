import BeaconModel

/// A problem answer in the description.
enum ProblemAnswer: String, CaseIterable, Sendable {
    case invalid = "400"
    case noToken = "401"
    case noKeys = "401-app"
    case noSignature = "401-webhook"
    case noSourceToken = "401-source"
    case forbidden = "403"
    case notTheirs = "403-app"
    case otherSite = "403-site"
    case unknown = "404"
    case noFleet = "404-fleet"
    case noRadio = "409"
    case taken = "409-item"
    case isSetUp = "409-setup"
    case tooLarge = "413"
    case otherType = "415"
    case noPicture = "415-picture"
    case noCloudEvent = "415-webhook"
    case otherHost = "421"
    case badValue = "422"
    case emptyPicture = "422-picture"
    case tooMany = "429"
    case deaf = "503"
    case notStored = "503-intake"
    case tooManyAdverts = "503-adverts"
    case other = "default"

    /// The status, or `default`.
    var status: String { String(rawValue.prefix { $0 != "-" }) }

    /// The answer in the description.
    var value: JSONValue {
        var value: [String: JSONValue] = [
            "description": .string(meaning),
            "content": ["application/problem+json": ["schema": .component("Problem")]],
        ]
        if let header {
            value["headers"] = [header.name: ["required": true, "schema": header.schema]]
        }
        return .object(value)
    }

    private var header: (name: String, schema: JSONValue)? {
        switch self {
        case .noToken: ("WWW-Authenticate", ["const": "Bearer"])
        case .noKeys, .noSignature, .noSourceToken: ("WWW-Authenticate", ["const": "Basic realm=\"beacond\""])
        case .notStored, .tooManyAdverts: ("Retry-After", ["type": "string"])
        default: nil
        }
    }

    private var meaning: String {
        switch self {
        case .invalid: "A parameter is invalid, or the body is not a valid JSON object."
        case .noToken: "The token is missing or wrong."
        case .noKeys: "The keys are missing, or they are wrong, which is answered after one second."
        case .noSignature: "The signature is missing or wrong, or its timestamp is more than five minutes off."
        case .noSourceToken: "The token of the source is missing or wrong. The answer comes after one second."
        case .otherSite: "A page of another site sent the request."
        case .forbidden:
            "A page of another site sent the request, X-Beacon-Console is missing, the console is read-only, or the token or code of a session is wrong."
        case .notTheirs: "A page of another site sent the request, or the install belongs to another app."
        case .unknown: "Nothing has this name."
        case .noFleet: "This machine is not in a fleet."
        case .noRadio: "No source is a radio."
        case .taken: "The name is taken, the item is in the file, or the change would make an item in use invalid."
        case .isSetUp: "A configuration exists already, or it cannot be written."
        case .tooLarge:
            "The body is too large: more than 64 KiB, 4 KiB for a session, 1 MiB or 1000 events for an app, 1 MiB for a table, 4 MiB for a picture."
        case .otherType: "The body is not of the type described."
        case .noPicture: "The body is not one of these kinds of picture."
        case .noCloudEvent: "The body is not a CloudEvent in JSON."
        case .otherHost: "No token is configured, and Host is not a name of this machine."
        case .badValue: "A value of the body is missing, of another type, out of bounds or unknown."
        case .emptyPicture: "The picture is empty."
        case .tooMany: "64 connections are ranging, 8 are recording, or a backup is being written."
        case .deaf: "No receiver hears yet."
        case .notStored:
            "The events are not stored: the disk fails, or too many events wait for rules. Retry-After gives the time until the next attempt."
        case .tooManyAdverts:
            "Adverts arrive faster than they can be processed. Retry-After gives the time until the next attempt."
        case .other: "Any other error."
        }
    }
}
