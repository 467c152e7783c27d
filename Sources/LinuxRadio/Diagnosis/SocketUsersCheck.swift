import Glibc

/// Which other programs hold Bluetooth's HCI sockets: two that scan with one adapter end each other's scans.
struct SocketUsersCheck {
    let files: SystemFiles

    /// Programs that hold such sockets by design and whose scans show elsewhere.
    private static let expected: Set<String> = ["bluetoothd", "btmon", "btattach"]

    func findings() -> [Finding] {
        let inodes = socketNumbers
        guard !inodes.isEmpty else { return [] }
        var users: [String] = []
        for name in files.names(in: "/proc") {
            guard let process = Int32(name), process != getpid() else { continue }
            let isUser = files.names(in: "/proc/\(name)/fd").contains { descriptor in
                guard let link = files.destination(of: "/proc/\(name)/fd/\(descriptor)"), link.hasPrefix("socket:[")
                else { return false }
                return inodes.contains(String(link.dropFirst(8).dropLast()))
            }
            let program = files.text("/proc/\(name)/comm") ?? "a program"
            if isUser, !Self.expected.contains(program) { users.append("\(program) (process \(name))") }
        }
        guard !users.isEmpty else { return [Finding("scanners", .ok, "No other program uses HCI sockets.")] }
        return [
            Finding(
                "scanners", .warning,
                "\(users.joined(separator: ", ")) \(users.count == 1 ? "has" : "have") an HCI socket open too. Programs "
                    + "that scan with the same adapter end each other's scans.")
        ]
    }

    /// The numbers of all HCI sockets: the sixth column of `/proc/net/hci`, behind a line of headings.
    private var socketNumbers: Set<String> {
        let lines = (files.text("/proc/net/hci") ?? "").split(separator: "\n").dropFirst()
        return Set(
            lines.compactMap { line in
                let columns = line.split(whereSeparator: \.isWhitespace)
                return columns.count > 5 ? String(columns[5]) : nil
            })
    }
}
