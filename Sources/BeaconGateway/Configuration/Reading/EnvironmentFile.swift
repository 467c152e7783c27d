import BeaconSupport
import CLibrary
import Foundation

/// The file of secrets beside a configuration: of `/etc/beacond.yaml`, `/etc/beacond.env`.
///
/// It has lines of `NAME=value`, as systemd reads them for a service (`EnvironmentFile=` in systemd.exec(5)): blank
/// lines and those that begin with `#` or `;` say nothing, and a value may have quotes around it. Read here as well,
/// what a service has in its environment is there when somebody tries its configuration by hand.
struct EnvironmentFile {
    /// The path.
    let path: String

    /// The variables; none where the file is not there, or not for this user.
    private(set) var variables: [String: String] = [:]

    /// The numbers of lines that are none.
    private(set) var faults: [Int] = []

    /// Why it cannot be read, though it is there; nil where it can, or is not.
    private(set) var obstacle: String?

    /// The largest file, in bytes.
    private static let largestFile = 1 << 16

    /// Reads the file of a configuration.
    init(beside configuration: String) {
        let name = URL(fileURLWithPath: configuration)
        path = (["yaml", "yml"].contains(name.pathExtension) ? name.deletingPathExtension() : name).path + ".env"
        guard access(path, F_OK) == 0 else { return }
        do {
            let bytes = try SmallFile.contents(path: path, limit: Self.largestFile)
            read(String(decoding: bytes, as: UTF8.self))
        } catch {
            obstacle = error.message
        }
    }

    private mutating func read(_ text: String) {
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil else {
                faults.append(number + 1)
                continue
            }
            variables[String(parts[0])] = Self.unquoted(parts[1].trimmingCharacters(in: .whitespaces))
        }
    }

    /// Returns a value without what quotes it: single ones around it, double ones, between which a backslash is for
    /// some characters, or backslashes alone.
    private static func unquoted(_ value: String) -> String {
        guard value.count > 1, let quote = value.first, quote == value.last, quote == "'" || quote == "\"" else {
            return value.replacing(/\\(.)/) { $0.output.1 }
        }
        let inside = value.dropFirst().dropLast()
        return String(quote == "'" ? inside : inside.replacing(/\\(["\\`$])/) { $0.output.1 })
    }

    /// Returns the line of a variable.
    static func line(_ name: String, _ value: String) -> String {
        "\(name)=\"" + value.replacing(/["\\`$]/) { "\\" + $0.output } + "\"\n"
    }

    /// Adds a variable as the last line, which counts where there are several of a name, and makes the file where there
    /// is none, for its owner alone.
    ///
    /// - Throws: `StateError` where it cannot be written.
    func add(_ name: String, _ value: String) throws {
        var text = ""
        if access(path, F_OK) == 0 {
            text = String(decoding: try SmallFile.contents(path: path, limit: Self.largestFile), as: UTF8.self)
            if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
        }
        try AtomicFile.replace(path, with: (text + Self.line(name, value)).utf8)
    }
}
