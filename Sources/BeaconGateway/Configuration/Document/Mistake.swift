/// Something wrong with a configuration: where, what was found, and what was meant.
public struct Mistake: Hashable, Sendable {
    /// Where a value comes from.
    public enum Origin: Hashable, Sendable {
        /// A place in the file.
        case file(Place)
        /// A variable of the environment.
        case environment(String)
    }

    /// How bad it is.
    public enum Severity: String, Hashable, Sendable {
        /// The daemon does not start with it.
        case error
        /// It may be right, on another machine for instance.
        case warning
    }

    /// How bad it is.
    public var severity: Severity

    /// Where it is.
    public var origin: Origin

    /// What was found, and what was meant.
    public var message: String

    /// A mistake from its parts.
    public init(_ origin: Origin, _ message: String, severity: Severity = .error) {
        self.origin = origin
        self.message = message
        self.severity = severity
    }

    /// The mistake as compilers print theirs, so that editors find the place: `FILE:LINE:COLUMN: error: MESSAGE`.
    public func text(file: String) -> String {
        switch origin {
        case .file(let place): "\(file):\(place.line):\(place.column): \(severity.rawValue): \(message)"
        case .environment(let name): "\(name) in the environment: \(severity.rawValue): \(message)"
        }
    }
}
