import BeaconModel

/// The description of an operation, written next to its handler.
struct Operation: Sendable {
    /// A topic of the interface.
    enum Tag: String, Sendable, CaseIterable {
        case status, sensing, fleet, rules, events, advertising, deliveries, people, intake, plan, setup, session

        /// The title in the description.
        var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

        /// The topic's requests.
        var description: String {
            switch self {
            case .status: "State, health, metrics and the backup."
            case .sensing: "Sources, receivers, regions, places and beacons."
            case .fleet: "The machines of the fleet."
            case .rules: "Rules for events, their runs, and trials of new rules."
            case .events: "Past events and new ones."
            case .advertising: "The beacon that this machine sends."
            case .deliveries: "Destinations and their queues."
            case .people: "Apps, their installs, and messages to them."
            case .intake: "Events and adverts from apps, other beacond instances and gateways, and messages to apps."
            case .plan: "The plan of the building."
            case .setup: "The guided start, before a configuration exists."
            case .session: "Sign-in of browsers."
            }
        }
    }

    /// The way in which a client authenticates.
    enum Security: Sendable {
        /// The console's token or a session cookie, if a token is configured.
        case console
        /// None: the request is open to all clients.
        case open
        /// The session cookie, if the client has one.
        case cookie
        /// One of several schemes for programs other than browsers.
        case sender([String])

        /// True if a page of another site could use a browser's cookie.
        var isOfBrowsers: Bool { if case .sender = self { false } else { true } }
    }

    /// The operation's identifier for programs, such as `getStatus`.
    var id: String
    var tag: Tag
    /// The purpose in a few words, beginning with a verb.
    var summary: String
    /// The answer in one sentence.
    var result: String
    /// More details, or nil without any.
    var details: String?
    var parameters: [Parameter] = []
    var security = Security.console
    /// The operation's own problem answers, in addition to the ones that follow from its form.
    var errors: [ProblemAnswer] = []
    /// The problem answers that follow from its form but never occur.
    var omitted: Set<ProblemAnswer> = []
    /// The bodies other than typed JSON.
    var bodies: [Media] = []
    /// The answers other than typed JSON.
    var answers: [Media] = []
    /// The answer's headers that clients need.
    var headers: [String] = []

    init(
        _ id: String, _ tag: Tag, _ summary: String, _ result: String, details: String? = nil,
        parameters: [Parameter] = [], security: Security = .console, errors: [ProblemAnswer] = [],
        omitted: Set<ProblemAnswer> = [], bodies: [Media] = [], answers: [Media] = [], headers: [String] = []
    ) {
        (self.id, self.tag, self.summary, self.result, self.details) = (id, tag, summary, result, details)
        (self.parameters, self.security, self.errors, self.omitted) = (parameters, security, errors, omitted)
        (self.bodies, self.answers, self.headers) = (bodies, answers, headers)
    }
}

/// A body or an answer other than typed JSON.
struct Media: Sendable {
    /// The kind of content.
    enum Content: Sendable {
        /// Any content of this schema, or bytes without one.
        case schema(JSONValue?)
        /// The JSON of a type.
        case value(any (Decodable & Sendable).Type)
        /// Text that contains the JSON of types, such as an event stream.
        case text([any (Decodable & Sendable).Type])
    }

    /// The media type, such as `text/csv`.
    var type: String
    var content: Content
    var example: JSONValue?

    /// Returns bytes, for example a picture.
    static func bytes(_ type: String) -> Media { Media(type: type, content: .schema(nil)) }

    /// Returns text, which may contain the JSON of types.
    static func text(
        _ type: String, of values: [any (Decodable & Sendable).Type] = [], example: JSONValue? = nil
    ) -> Media { Media(type: type, content: .text(values), example: example) }

    /// Returns JSON with a schema, by default any object.
    static func json(_ schema: JSONValue = ["type": "object"]) -> Media {
        Media(type: "application/json", content: .schema(schema))
    }
}
