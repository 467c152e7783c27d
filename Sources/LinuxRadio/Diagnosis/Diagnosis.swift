/// The checks of everything that radios need on this machine.
public enum Diagnosis {
    /// How long to wait for bluetoothd's answer, in seconds. A healthy one needs some milliseconds.
    private static let patience: UInt64 = 3

    /// Returns the findings, in order of dependency.
    public static func findings() -> [Finding] {
        let files = SystemFiles()
        let kernel = KernelCheck(files: files).findings()
        var adapters: [Finding] = []
        // Without Bluetooth in the kernel there are no adapters to query.
        if let management = ManagementSocket() { adapters = AdapterCheck(adapters: management.adapters()).findings() }
        return kernel + adapters + RfkillCheck(files: files).findings() + PermissionCheck(files: files).findings()
            + DaemonCheck(survey: BlueZSurvey.make(within: patience)).findings()
            + SocketUsersCheck(files: files).findings()
    }
}

/// A finding of a check, with its remedy.
public struct Finding: Hashable, Sendable {
    /// The level of the finding.
    @nonexhaustive
    public enum Level: String, Hashable, Sendable, CaseIterable {
        /// As it should be.
        case ok
        /// Something may not work, or not as well.
        case warning
        /// Something does not work.
        case problem
    }

    /// The subject of the check: `kernel`, `hci0`, `bluetoothd`.
    public var subject: String

    /// The level of the finding.
    public var level: Level

    /// The finding, in a sentence.
    public var message: String

    /// The command that fixes it, if there is one.
    public var remedy: String?

    /// Creates a finding from its parts.
    public init(_ subject: String, _ level: Level, _ message: String, remedy: String? = nil) {
        self.subject = subject
        self.level = level
        self.message = message
        self.remedy = remedy
    }
}
