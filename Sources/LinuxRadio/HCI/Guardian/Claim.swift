import CLibrary

/// The commands that end a process's adverts and scan, in a file for later processes: if both the process and its
/// guardian die, the next process that uses the adapter sends them.
struct Claim: Hashable {
    /// A process, identified by its number and start time, since process numbers are reused.
    struct Owner: Hashable {
        var process: Int32
        var start: UInt64
    }

    var owner: Owner
    /// The commands that end everything on the air.
    var commands: [HCICommand]

    init(owner: Owner, commands: [HCICommand]) {
        self.owner = owner
        self.commands = commands
    }

    /// Reads the format of ``text``.
    ///
    /// - Returns: nil for any other text.
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

    /// Process, start, and each command as the hexadecimal digits of its packet, separated by spaces.
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

extension Claim.Owner {
    /// This process.
    static var current: Claim.Owner? {
        let process = getpid()
        return start(of: process).map { Claim.Owner(process: process, start: $0) }
    }

    /// True if the process still exists.
    var isAlive: Bool { Self.start(of: process) == start }

    /// Returns a process's start time in clock ticks since the machine started: the 22nd field. The second field is a
    /// name in brackets that may contain any characters (proc_pid_stat(5)).
    private static func start(of process: Int32) -> UInt64? {
        guard let text = TextFile.read("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.count > 19 ? UInt64(fields[19]) : nil
    }
}

/// The folder of claims. It does not survive a restart of the machine, and neither do a controller's adverts.
struct ClaimDirectory {
    let path: String

    init(path: String) { self.path = path }

    /// Returns `$XDG_RUNTIME_DIR/swift-beacon`, or `/run/swift-beacon` if the variable is not set.
    ///
    /// - Returns: nil if the folder does not exist and cannot be created, or if another user owns it, since its claims
    ///   could not be trusted.
    static func standard() -> ClaimDirectory? {
        let parent = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "/run"
        let path = "\(parent)/swift-beacon"
        mkdir(path, 0o700)
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            return nil
        }
        return ClaimDirectory(path: path)
    }

    /// Returns a unique path for a claim on an adapter.
    func place(for adapter: String, owner: Claim.Owner) -> String {
        "\(path)/\(adapter).\(owner.process).\(UInt32.random(in: 0 ... .max))"
    }

    /// Returns the claims on an adapter with their paths.
    func claims(on adapter: String) -> [(place: String, claim: Claim)] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var found: [(String, Claim)] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("\(adapter)."), !name.hasSuffix(".new") else { continue }
            let place = "\(path)/\(name)"
            if let claim = TextFile.read(place).flatMap({ Claim($0) }) { found.append((place, claim)) }
        }
        return found
    }
}

/// Access to small files as a whole.
enum TextFile {
    /// Returns the text of a file, or nil if it cannot be read. Reads 64 KB at most.
    static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            let count = CLibrary.read(file, buffer.baseAddress, buffer.count)
            return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    /// Writes a file that only its owner may read. Replaces an existing file atomically.
    ///
    /// - Returns: true if that succeeded.
    static func write(_ text: String, to path: String) -> Bool {
        let draft = path + ".new"
        let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        let bytes = Array(text.utf8)
        let isWritten = CLibrary.write(file, bytes, bytes.count) == bytes.count
        close(file)
        guard isWritten, rename(draft, path) == 0 else {
            unlink(draft)
            return false
        }
        return true
    }
}
