import BeaconModel

/// The flow of commands: one under way at a time, matched with its answer, and none while other software sends its own.
struct CommandFlow {
    /// The sender of the command that an event answers.
    enum Answer {
        /// One of ours.
        case ours(HCICommand)
        /// One that other software sent.
        case others(HCICommand)
    }

    private let answerTime: Int64
    private let courtesy: Int64
    private var pending: (command: HCICommand, deadline: Timestamp)?
    private var others: (command: HCICommand, expiry: Timestamp)?
    private var courtesyStart = Timestamp.zero

    /// The time until which other software is let alone.
    private(set) var courtesyEnd = Timestamp.zero

    init(_ configuration: ControllerConfiguration) {
        answerTime = configuration.answerTime
        courtesy = configuration.courtesy
    }

    /// True if a command of ours has no answer so far.
    var isBusy: Bool { pending != nil }

    /// The latest time for the answer to a command of ours; ``BeaconModel/Timestamp/latest`` where none is under way.
    var deadline: Timestamp { pending?.deadline ?? .latest }

    /// Returns the command that should have had its answer by now.
    func overdue(at now: Timestamp) -> HCICommand? { now >= deadline ? pending?.command : nil }

    /// Begins a command of ours.
    mutating func begin(_ command: HCICommand, at now: Timestamp) {
        pending = (command, now.advanced(by: answerTime))
    }

    /// Waits anew for the answer, since the controller had no time to give it.
    mutating func waitAnew(at now: Timestamp) {
        if let command = pending?.command { begin(command, at: now) }
    }

    /// Notes a command of other software, which has no answer so far.
    mutating func observe(_ command: HCICommand, at now: Timestamp) {
        others = (command, now.advanced(by: answerTime))
        guard command.opcode.isLE || command.opcode == .reset else { return }
        // Commands that follow each other belong together, but they may delay ours only for a limited time.
        if now > courtesyEnd { courtesyStart = now }
        courtesyEnd = min(now, courtesyStart.advanced(by: courtesy * 5)).advanced(by: courtesy)
    }

    /// Matches an answer with its command.
    ///
    /// The kernel has one command under way at a time, ours or another's, and shows us the others' as they leave. So
    /// where both of us sent the same, theirs is answered first.
    ///
    /// - Returns: the command and its sender, or nil where these are not known.
    mutating func answered(_ opcode: HCIOpcode, at now: Timestamp) -> Answer? {
        if let (command, expiry) = others, command.opcode == opcode, now < expiry {
            others = nil
            return .others(command)
        }
        guard let command = pending?.command, command.opcode == opcode else { return nil }
        pending = nil
        return .ours(command)
    }

    /// Forgets all commands, after a reset of the controller: none is answered any more.
    mutating func forget() {
        pending = nil
        others = nil
    }
}
