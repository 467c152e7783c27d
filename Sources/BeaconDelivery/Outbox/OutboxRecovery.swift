public import Foundation

/// What was done about a damaged outbox.
public struct OutboxRecovery: Hashable, Sendable {
    /// Where the damaged file is now.
    public var movedTo: URL

    /// How many notifications were found whole in it, and wait again, for every destination.
    public var salvaged: Int

    /// What was wrong with the file.
    public var damage: String
}
