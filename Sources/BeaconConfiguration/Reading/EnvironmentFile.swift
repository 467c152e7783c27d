import BeaconSupport
import CLibrary
import Foundation

/// The file of secrets beside a configuration: of `/etc/beacond.yaml`, `/etc/beacond.env`.
///
/// It has lines of `NAME=value`, as systemd reads them for a service (`EnvironmentFile=` in systemd.exec(5)): blank
/// lines and those that begin with `#` or `;` say nothing, and a value may have quotes around it. A value has one line.
/// Read here as well, what a service has in its environment is there when somebody tries its configuration by hand.
package struct EnvironmentFile {
    /// The path.
    package let path: String

    /// The variables; none where the file is not there, or not for this user.
    package private(set) var variables: [String: String] = [:]

    /// The lines of the variables, from one.
    package private(set) var lines: [String: Int] = [:]

    /// The lines that are none.
    package private(set) var faults: [Int] = []

    /// Why it cannot be read, though it is there; nil where it can, or is not.
    package private(set) var obstacle: String?

    /// The largest file, in bytes.
    private static let largestFile = 1 << 16

    /// Reads the file of a configuration.
    package init(beside configuration: String) {
        let name = URL(fileURLWithPath: configuration)
        path = (["yaml", "yml"].contains(name.pathExtension) ? name.deletingPathExtension() : name).path + ".env"
        guard access(path, F_OK) == 0 else { return }
        do {
            read(String(decoding: try SmallFile.contents(path: path, limit: Self.largestFile), as: UTF8.self))
        } catch {
            obstacle = error.message
        }
    }

    private mutating func read(_ text: String) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil,
                let value = Self.value(of: parts[1].trimmingCharacters(in: .whitespaces))
            else {
                faults.append(index + 1)
                continue
            }
            variables[String(parts[0])] = value
            lines[String(parts[0])] = index + 1
        }
    }

    /// The characters before which a backslash counts between double quotes.
    private static let escaped: Set<Character> = ["\"", "\\", "`", "$"]

    /// Returns a value without what quotes it: single quotes, double quotes, or backslashes; nil where a quote has no
    /// end.
    private static func value(of text: String) -> String? {
        var result = ""
        var quote: Character?
        var rest = text[...]
        while let character = rest.popFirst() {
            switch (character, quote) {
            case (quote, _?): quote = nil
            case ("'", nil), ("\"", nil): quote = character
            case ("\\", nil):
                guard let next = rest.popFirst() else { return nil }
                result.append(next)
            case ("\\", "\""):
                guard let next = rest.popFirst() else { return nil }
                if !escaped.contains(next) { result.append(character) }
                result.append(next)
            default: result.append(character)
            }
        }
        return quote == nil ? result : nil
    }

    /// Adds a variable of one line at the end, and makes the file where there is none, for its owner alone.
    ///
    /// - Throws: `StateError` where it cannot be written.
    package func add(_ name: String, _ value: String) throws {
        let escaped = value.map { Self.escaped.contains($0) ? "\\\($0)" : "\($0)" }.joined()
        let before = access(path, F_OK) == 0 ? try SmallFile.contents(path: path, limit: Self.largestFile) : []
        let start = before.isEmpty || before.last == UInt8(ascii: "\n") ? "" : "\n"
        // One that is there keeps its owner and its rights, and what it has.
        try AppendedFile.append(Array("\(start)\(name)=\"\(escaped)\"\n".utf8), to: path)
    }
}
