/// Why the outbox could not do something, and what to do about it.
public struct OutboxError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case inUse, full, damaged, cannotOpen, cannotRead, cannotWrite, closed, unknownDestination, notOurs
        }

        private let value: Value

        /// Another process, or another part of this one, delivers from the file.
        public static let inUse = Code(value: .inUse)
        /// The disk, or the bound on the file, is full. Nothing was written, and nothing that was there is lost.
        public static let full = Code(value: .full)
        /// The file holds something that it should not, and could not be moved aside.
        public static let damaged = Code(value: .damaged)
        /// The file cannot be opened.
        public static let cannotOpen = Code(value: .cannotOpen)
        /// The file cannot be read.
        public static let cannotRead = Code(value: .cannotRead)
        /// The file cannot be written. Nothing that was there is lost.
        public static let cannotWrite = Code(value: .cannotWrite)
        /// The outbox was closed.
        public static let closed = Code(value: .closed)
        /// There is no queue of this name.
        public static let unknownDestination = Code(value: .unknownDestination)
        /// The file is somebody else's database, or of a newer version.
        public static let notOurs = Code(value: .notOurs)
    }

    /// What kind of failure it is.
    public var code: Code

    /// What is wrong, and what to do, in a sentence or two.
    public var message: String

    /// What led to it.
    public var cause: (any Error)?

    /// An error from its parts.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}
