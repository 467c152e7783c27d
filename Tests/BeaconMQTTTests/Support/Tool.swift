import Foundation

/// Programs of the system.
enum Tool {
    /// Where a program is.
    static func path(of name: String) throws -> String {
        let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
        guard
            let path = folders.map({ $0 + "/" + name }).first(where: FileManager.default.isExecutableFile(atPath:))
        else { throw Failure("\(name) is not installed; scripts/setup does that") }
        return path
    }

    /// Runs a program to its end.
    static func run(_ name: String, _ arguments: String...) throws {
        let status = try ChildProcess(name, arguments).wait()
        guard status == 0 else { throw Failure("\(name) \(arguments) ended with \(status)") }
    }
}
