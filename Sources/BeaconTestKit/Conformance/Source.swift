extension Conformance {
    /// How well a statement about iOS is known.
    public enum Trust: String, Hashable, Sendable, CaseIterable {
        /// Apple's documentation, a header or a sample states it.
        case apple = "A"
        /// An Apple engineer wrote it in Apple's forum.
        case engineer = "E"
        /// A field report: a measurement, a public issue, a vendor's page.
        case field = "F"
        /// A guess. Nothing public confirms it.
        case guess = "G"
    }

    /// A public source of a statement about iOS.
    public struct Source: Hashable, Sendable, CustomStringConvertible {
        /// The document, thread or issue.
        public let name: String
        /// How well it is known.
        public let trust: Trust

        init(_ trust: Trust, _ name: String) {
            self.name = name
            self.trust = trust
        }

        /// The source with its trust, such as "owntracks/ios#537 (F)".
        public var description: String { "\(name) (\(trust.rawValue))" }
    }

    /// The weight of a finding.
    public enum Severity: String, Hashable, Sendable, Comparable {
        /// Advice that does not count as a finding: a right app may decide otherwise.
        case remark
        /// A finding that rests on field reports or guesses alone.
        case warning
        /// A finding that Apple's documents or engineers confirm.
        case error

        /// Orders severities by weight.
        public static func < (left: Severity, right: Severity) -> Bool { left.weight < right.weight }

        private var weight: Int {
            switch self {
            case .remark: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// A fault of the app in one situation.
    public struct Finding: Hashable, Sendable, CustomStringConvertible {
        /// The number of the situation, 1 to 40.
        public let situation: Int
        /// The weight.
        public let severity: Severity
        /// The app's behavior.
        public let text: String
        /// The expected behavior.
        public let expected: String
        /// The time in the situation, in seconds since its start.
        public let time: Double
        /// The public sources of the expectation.
        public let sources: [Source]

        /// The finding as a line of text.
        public var description: String {
            """
            \(severity.rawValue) in situation \(situation) at \(Conformance.clock(time)): \(text). Expected: \
            \(expected). Source: \(sources.map(\.description).joined(separator: ", "))
            """
        }
    }

    /// Returns a time in a situation as minutes and seconds, such as "1:05".
    static func clock(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded(.down))
        return "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)"
    }
}
