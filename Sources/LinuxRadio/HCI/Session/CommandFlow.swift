import BeaconModel

/// One command under way at a time, whose answer it is that comes, and when others are in the middle of something.
struct CommandFlow {
    /// Whose command an event answers.
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

    /// Until when other software is let alone.
    private(set) var courtesyEnd = Timestamp.zero

    init(_ configuration: SessionConfiguration) {
        answerTime = configuration.answerTime
        courtesy = configuration.courtesy
    }

    /// Whether a command of ours has no answer yet.
    var isBusy: Bool { pending != nil }

    /// When a command of ours should have its answer at the latest; ``BeaconModel/Timestamp/latest`` where none is under way.
    var deadline: Timestamp { pending?.deadline ?? .latest }

    /// The command that should have had its answer by now.
    func overdue(at now: Timestamp) -> HCICommand? { now >= deadline ? pending?.command : nil }

    /// A command of ours is sent.
    mutating func begin(_ command: HCICommand, at now: Timestamp) {
        pending = (command, now.advanced(by: answerTime))
    }

    /// Waits anew for the answer, since the controller had no time to give it.
    mutating func waitAnew(at now: Timestamp) {
        if let command = pending?.command { begin(command, at: now) }
    }

    /// Other software sent a command, and has not got its answer yet.
    mutating func observe(_ command: HCICommand, at now: Timestamp) {
        others = (command, now.advanced(by: answerTime))
        guard command.opcode.isLE || command.opcode == .reset else { return }
        // Commands that follow each other belong together, but nobody keeps us waiting for ever.
        if now > courtesyEnd { courtesyStart = now }
        courtesyEnd = min(now, courtesyStart.advanced(by: courtesy * 5)).advanced(by: courtesy)
    }

    /// A command of this kind was answered.
    ///
    /// The kernel has one command under way at a time, ours or another's, and shows us the others' as they leave. So where
    /// both of us sent the same, theirs is answered first.
    ///
    /// - Returns: whose it was, or nil where that is not known.
    mutating func answered(_ opcode: HCIOpcode, at now: Timestamp) -> Answer? {
        if let (command, expiry) = others, command.opcode == opcode, now < expiry {
            others = nil
            return .others(command)
        }
        guard let command = pending?.command, command.opcode == opcode else { return nil }
        pending = nil
        return .ours(command)
    }

    /// The controller was reset: nothing is answered any more.
    mutating func forget() {
        pending = nil
        others = nil
    }
}
