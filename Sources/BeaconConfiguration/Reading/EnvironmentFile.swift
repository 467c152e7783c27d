import BeaconSupport
import CLibrary
import Foundation

/// The file of secrets beside a configuration: `/etc/beacond.env` for `/etc/beacond.yaml`.
///
/// It has lines of `NAME=value`, as systemd reads them for a service (`EnvironmentFile=` in systemd.exec(5)). Blank
/// lines and lines that begin with `#` or `;` are ignored. A value may be quoted, and has only one line. Reading the
/// file here too lets a user try a service's configuration at a terminal, with the service's variables.
package struct EnvironmentFile {
    /// The path.
    package let path: String

    /// The variables; empty if the file does not exist or this user may not read it.
    package private(set) var variables: [String: String] = [:]

    /// The line numbers of the variables, from one.
    package private(set) var lines: [String: Int] = [:]

    /// The numbers of invalid lines.
    package private(set) var faults: [Int] = []

    /// Why the existing file cannot be read; nil if it can, or does not exist.
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

    /// The characters that a backslash escapes between double quotes.
    private static let escaped: Set<Character> = ["\"", "\\", "`", "$"]

    /// Returns a value without single quotes, double quotes or backslashes that quote it; nil if a quote is not closed.
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

    /// Adds a variable of one line at the end, and creates a missing file for its owner alone.
    ///
    /// - Throws: `StateError` if the file cannot be written.
    package func add(_ name: String, _ value: String) throws {
        let escaped = value.map { Self.escaped.contains($0) ? "\\\($0)" : "\($0)" }.joined()
        let before = access(path, F_OK) == 0 ? try SmallFile.contents(path: path, limit: Self.largestFile) : []
        let start = before.isEmpty || before.last == UInt8(ascii: "\n") ? "" : "\n"
        // An existing file keeps its owner, its mode and its content.
        try AppendedFile.append(Array("\(start)\(name)=\"\(escaped)\"\n".utf8), to: path)
    }
}
