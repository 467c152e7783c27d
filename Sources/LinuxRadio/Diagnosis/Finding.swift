/// One thing that decides whether radios work on this machine, and how it stands.
public struct Finding: Hashable, Sendable {
    /// How it stands.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        /// As it should be.
        case ok
        /// Something may not work, or not as well.
        case warning
        /// Something does not work.
        case problem
    }

    /// What was looked at: `kernel`, `hci0`, `bluetoothd`.
    public var subject: String

    /// How it stands.
    public var level: Level

    /// What was found, in a sentence.
    public var message: String

    /// The command that mends it, where there is one.
    public var remedy: String?

    /// A finding from its parts.
    public init(_ subject: String, _ level: Level, _ message: String, remedy: String? = nil) {
        self.subject = subject
        self.level = level
        self.message = message
        self.remedy = remedy
    }
}
