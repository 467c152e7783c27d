import BeaconModel

/// The description of a request that the interface answers, beside the handler that answers it.
struct Operation: Sendable {
    /// A subject of the interface.
    enum Tag: String, Sendable, CaseIterable {
        case status, sensing, fleet, rules, events, advertising, deliveries, people, intake, plan, setup, session

        /// The name in the description.
        var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

        /// The requests of the subject.
        var description: String {
            switch self {
            case .status: "State, health, metrics and the backup."
            case .sensing: "Sources, receivers, regions, places and beacons."
            case .fleet: "The machines that decide together."
            case .rules: "Rules for events, their runs, and trials of new rules."
            case .events: "Past events and new ones."
            case .advertising: "The beacon that this machine sends."
            case .deliveries: "Destinations and their queues."
            case .people: "Apps, their installs, and messages to these."
            case .intake: "What apps, other beacond and gateways send, and the messages that apps take."
            case .plan: "The plan of the building."
            case .setup: "The guided start, while there is no configuration."
            case .session: "Sign-in of browsers."
            }
        }
    }

    /// The way in which a sender says who it is.
    enum Security: Sendable {
        /// The console's token, or the cookie of a session, where there is a token.
        case console
        /// Nothing: everybody may ask.
        case open
        /// The cookie of a session, if there is one.
        case cookie
        /// One of several schemes, of programs that are no browsers.
        case sender([String])

        /// True where a page of another site could use a browser's cookie.
        var isOfBrowsers: Bool { if case .sender = self { false } else { true } }
    }

    /// The name for programs, as `getStatus`.
    var id: String
    var tag: Tag
    /// The purpose, in a few words that begin with a verb.
    var summary: String
    /// The answer, in a sentence.
    var result: String
    /// More about it; nil for nothing.
    var details: String?
    var parameters: [Parameter] = []
    var security = Security.console
    /// The answers with a problem beside those that follow from its form.
    var errors: [ProblemAnswer] = []
    /// The answers with a problem that follow from its form, and that it never has.
    var omitted: Set<ProblemAnswer> = []
    /// The bodies that are no JSON of a type.
    var bodies: [Media] = []
    /// The answers that are no JSON of a type.
    var answers: [Media] = []
    /// The headers of the answer that clients need.
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

/// A body or an answer that is no JSON of a type.
struct Media: Sendable {
    /// The kind of content.
    enum Content: Sendable {
        /// Anything, of this schema; nil for bytes.
        case schema(JSONValue?)
        /// JSON that a type decodes.
        case value(any (Decodable & Sendable).Type)
        /// A text that contains JSON of types, as a stream of events does.
        case text([any (Decodable & Sendable).Type])
    }

    /// The media type, as `text/csv`.
    var type: String
    var content: Content
    var example: JSONValue?

    /// Bytes, as of a picture.
    static func bytes(_ type: String) -> Media { Media(type: type, content: .schema(nil)) }

    /// A text, which may contain JSON of types.
    static func text(
        _ type: String, of values: [any (Decodable & Sendable).Type] = [], example: JSONValue? = nil
    ) -> Media { Media(type: type, content: .text(values), example: example) }

    /// JSON of a schema, by default any object.
    static func json(_ schema: JSONValue = ["type": "object"]) -> Media {
        Media(type: "application/json", content: .schema(schema))
    }
}
