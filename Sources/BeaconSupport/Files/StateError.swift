/// A failure to read or write state on the disk, and its remedy.
package struct StateError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    package enum Code: Sendable {
        case cannotRead, cannotWrite, damagedState, decidedByAdministrator
    }

    /// The kind of failure.
    package var code: Code

    /// The cause and the remedy, in a sentence or two.
    package var message: String

    /// The error behind it, if there is one.
    package var cause: (any Error)?

    /// Creates an error from its parts.
    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message.
    package var description: String { message }
}
