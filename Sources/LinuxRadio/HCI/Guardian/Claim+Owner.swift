import Glibc

extension Claim.Owner {
    /// This process.
    static var current: Claim.Owner? {
        let process = getpid()
        return start(of: process).map { Claim.Owner(process: process, start: $0) }
    }

    /// Whether the process still lives.
    var isAlive: Bool { Self.start(of: process) == start }

    /// When a process began, in ticks since the machine started: the 22nd field, of which the second is a name in brackets
    /// that may hold anything (proc_pid_stat(5)).
    private static func start(of process: Int32) -> UInt64? {
        guard let text = TextFile.read("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.count > 19 ? UInt64(fields[19]) : nil
    }
}
