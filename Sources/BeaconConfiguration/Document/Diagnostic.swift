/// A fault in a configuration: its place, its description, and its remedy.
public struct Diagnostic: Hashable, Sendable {
    /// The origin of a value.
    public enum Origin: Hashable, Sendable {
        /// A place in the file.
        case file(SourceLocation)
        /// A variable of the environment.
        case environment(String)
        /// A line of the file of secrets beside the configuration.
        case secrets(path: String, line: Int)
        /// The files themselves, and this machine.
        case machine
    }

    /// The consequence of a diagnostic.
    public enum Severity: String, Hashable, Sendable {
        /// The daemon does not start with it: the file has a fault, or this machine lacks something that the file
        /// names.
        case error
        /// The daemon starts, but something could be safer.
        case warning
    }

    /// The consequence.
    public var severity: Severity

    /// The place of the fault.
    public var origin: Origin

    /// The fault and its remedy.
    public var message: String

    /// Creates a diagnostic from its parts.
    public init(_ origin: Origin, _ message: String, severity: Severity = .error) {
        self.origin = origin
        self.message = message
        self.severity = severity
    }

    /// Returns a line in the form of compilers, so that editors find the place: `FILE:LINE:COLUMN: error: MESSAGE`.
    public func text(file: String) -> String {
        switch origin {
        case .file(let location): "\(file):\(location.line):\(location.column): \(severity.rawValue): \(message)"
        case .environment(let name): "\(name) in the environment: \(severity.rawValue): \(message)"
        case .secrets(let path, let line): "\(path):\(line): \(severity.rawValue): \(message)"
        case .machine: "\(file): \(severity.rawValue): \(message)"
        }
    }
}

/// A place in a file: its line and column, both counted from one.
public struct SourceLocation: Hashable, Sendable, Comparable {
    /// The line.
    public var line: Int

    /// The column, in Unicode scalars.
    public var column: Int

    /// Creates a location from its line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Returns whether a location comes before another in the file.
    public static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A configuration that cannot be used, with all its diagnostics.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    public enum Code: Sendable {
        case cannotRead, faults
    }

    /// The kind of failure.
    public var code: Code

    /// The faults and their remedies, a line for each.
    public var message: String

    /// The diagnostics, in the order of the file.
    public var diagnostics: [Diagnostic]

    /// The underlying error, if there is one.
    public var cause: (any Error)?

    /// Creates an error from its parts.
    public init(_ code: Code, _ message: String, diagnostics: [Diagnostic] = [], cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.diagnostics = diagnostics
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}
