/// A failure to read or write state on the disk, and its remedy.
package struct StateError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure. Later versions may add some, so a `switch` over codes needs a default.
    package struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case cannotRead, cannotWrite, damagedState, decidedByAdministrator
        }

        private let value: Value

        /// A file cannot be read.
        package static let cannotRead = Code(value: .cannotRead)
        /// A file cannot be written.
        package static let cannotWrite = Code(value: .cannotWrite)
        /// A file has invalid content.
        package static let damagedState = Code(value: .damagedState)
        /// An administrator controls the setting that the caller wants to change.
        package static let decidedByAdministrator = Code(value: .decidedByAdministrator)
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
