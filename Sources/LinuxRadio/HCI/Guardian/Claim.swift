import Glibc

/// What a process has on an adapter, written where a later one finds it: if the process and its guardian both died, the next
/// to use the adapter takes it back.
struct Claim: Hashable {
    /// Whose it is. A process number is given out again; with the time at which the process began it is one of a kind.
    struct Owner: Hashable {
        var process: Int32
        var start: UInt64
    }

    var owner: Owner
    /// What takes back what is on the air.
    var commands: [HCICommand]

    init(owner: Owner, commands: [HCICommand]) {
        self.owner = owner
        self.commands = commands
    }

    /// Reads what ``text`` wrote.
    ///
    /// - Returns: nil if the text is anything else.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true).map {
            $0.filter { !$0.isWhitespace }
        }
        guard words.count >= 2, let process = Int32(words[0]), let start = UInt64(words[1]) else { return nil }
        owner = Owner(process: process, start: start)
        commands = []
        for word in words.dropFirst(2) {
            guard let packet = Self.bytes(word), let command = HCICommand(packet: packet.span.bytes) else { return nil }
            commands.append(command)
        }
    }

    /// Process, start, and each command as its packet in hexadecimal digits, with spaces between them.
    var text: String {
        let packets = commands.map { command in
            command.packet.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        return (["\(owner.process)", "\(owner.start)"] + packets).joined(separator: " ") + "\n"
    }

    private static func bytes(_ word: String) -> [UInt8]? {
        let digits = word.compactMap(\.hexDigitValue)
        guard digits.count == word.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
