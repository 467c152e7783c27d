/// The reference of the keys in Markdown: a table for each mapping, with kinds of values, defaults and meanings.
package struct ReferenceTable {
    /// The lines of the reference.
    private var lines: [String] = []

    /// Returns the reference of the keys of a file.
    package static func markdown(_ keys: [SettingDescription]) -> String {
        var table = ReferenceTable()
        for key in keys {
            table.lines += ["### `\(key.key)`", "", "\(key.help) \(sentence(key))", ""]
            for (word, keys) in key.shape.mappings {
                if let word { table.lines += ["With `type: \(word)`:", ""] }
                table.lines += ["| key | value | default | meaning |", "|---|---|---|---|"]
                table.add(keys, within: "")
                table.lines.append("")
            }
        }
        return table.lines.joined(separator: "\n")
    }

    /// Returns the kind of value of a key of the file, and its default.
    private static func sentence(_ key: SettingDescription) -> String {
        let value = key.shape.words
        return value.prefix(1).uppercased() + value.dropFirst() + (key.fallback.map { "; \($0) without it." } ?? ".")
    }

    /// Adds the rows of a mapping, and of the mappings inside it.
    private mutating func add(_ keys: [SettingDescription], within path: String) {
        for key in keys {
            let fallback = key.isRequired ? "required" : key.fallback ?? ""
            let cells = ["`\(path)\(key.key)`", key.shape.words, fallback, key.help]
            lines.append("| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |")
            for (_, inside) in key.shape.mappings { add(inside, within: "\(path)\(key.key).") }
        }
    }
}
