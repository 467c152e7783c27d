import BeaconModel

/// The flow of commands: sends one at a time, matches answers to commands, and pauses while other software sends
/// commands.
struct CommandFlow {
    /// The sender of an answered command.
    enum Answer {
        /// A command of ours.
        case ours(HCICommand)
        /// A command of other software.
        case others(HCICommand)
    }

    private let answerTime: Int64
    private let courtesy: Int64
    private var pending: (command: HCICommand, deadline: Timestamp)?
    private var others: (command: HCICommand, expiry: Timestamp)?
    private var courtesyStart = Timestamp.zero

    /// The end of the pause for other software's commands.
    private(set) var courtesyEnd = Timestamp.zero

    init(_ configuration: ControllerConfiguration) {
        answerTime = configuration.answerTime
        courtesy = configuration.courtesy
    }

    /// True if a command of ours has no answer yet.
    var isBusy: Bool { pending != nil }

    /// The latest time for the answer to our command; ``BeaconModel/Timestamp/latest`` if none is pending.
    var deadline: Timestamp { pending?.deadline ?? .latest }

    /// Returns our command if its answer is overdue.
    func overdue(at now: Timestamp) -> HCICommand? { now >= deadline ? pending?.command : nil }

    /// Begins a command of ours.
    mutating func begin(_ command: HCICommand, at now: Timestamp) {
        pending = (command, now.advanced(by: answerTime))
    }

    /// Restarts the wait for the answer, since the controller had no time to send it.
    mutating func restartWait(at now: Timestamp) {
        if let command = pending?.command { begin(command, at: now) }
    }

    /// Notes a command of other software, which has no answer yet.
    mutating func observe(_ command: HCICommand, at now: Timestamp) {
        others = (command, now.advanced(by: answerTime))
        guard command.opcode.isLE || command.opcode == .reset else { return }
        // Consecutive commands belong together, but they may delay ours only for a limited time.
        if now > courtesyEnd { courtesyStart = now }
        courtesyEnd = min(now, courtesyStart.advanced(by: courtesy * 5)).advanced(by: courtesy)
    }

    /// Matches an answer with its command.
    ///
    /// The kernel sends one command at a time, ours or another process's, and shows us the others when it sends them.
    /// So if both sent the same command, the other one is answered first.
    ///
    /// - Returns: the command and its sender, or nil if they are unknown.
    mutating func answered(_ opcode: HCIOpcode, at now: Timestamp) -> Answer? {
        if let (command, expiry) = others, command.opcode == opcode, now < expiry {
            others = nil
            return .others(command)
        }
        guard let command = pending?.command, command.opcode == opcode else { return nil }
        pending = nil
        return .ours(command)
    }

    /// Forgets all commands after a reset of the controller, which no longer answers them.
    mutating func forget() {
        pending = nil
        others = nil
    }
}
