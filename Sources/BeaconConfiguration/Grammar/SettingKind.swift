package import BeaconModel
import BeaconSupport

/// A kind of value: its shape, its reader, and the text of a default.
package struct SettingKind<Value: Sendable>: Sendable {
    /// The shape of the value.
    package let shape: SettingShape
    /// Reads the value of a key and reports its faults; nil without a value, and for a faulty one.
    package let read: @Sendable (ConfigurationSection, String) -> Value?
    /// Returns a default for people; nil for none.
    let show: @Sendable (Value) -> String?

    /// Creates a kind of value from its parts.
    package init(
        _ shape: SettingShape, show: @escaping @Sendable (Value) -> String? = { _ in nil },
        read: @escaping @Sendable (ConfigurationSection, String) -> Value?
    ) {
        (self.shape, self.show, self.read) = (shape, show, read)
    }

    /// Creates a kind of value from a text and a function that parses it.
    ///
    /// - Parameters:
    ///   - shape: the shape of the text.
    ///   - what: the remedy for a text that cannot be parsed.
    package init(
        _ shape: SettingShape, _ what: String, show: @escaping @Sendable (Value) -> String? = { _ in nil },
        parse: @escaping @Sendable (String) -> Value?
    ) {
        self.init(shape, show: show) { $0.value($1, what, parse) }
    }
}

// MARK: - Numbers, spans of time and words

extension SettingKind {
    /// Returns a reader of whole numbers in a range.
    private static func wholeNumber(
        _ range: ClosedRange<Int>, _ unit: String
    ) -> @Sendable (ConfigurationSection, String) -> Int? {
        { section, key in
            var what = "write a whole number from \(range.lowerBound) to \(range.upperBound)\(unit)"
            guard let text = section.text(key, what) else { return nil }
            let number = Int(text)
            if let number, range.contains(number) { return number }
            // People often leave out the minus sign of a signal strength.
            if let number, number > 0, range.contains(-number) { what += ". Was \(-number) meant?" }
            section.report(section.origin(of: key), "\"\(key)\" is \"\(text)\"; \(what)")
            return nil
        }
    }

    /// A whole number in a range, with a unit for people.
    package static func integer(
        _ range: ClosedRange<Int>, unit: String = ""
    ) -> SettingKind where Value: FixedWidthInteger {
        let read = wholeNumber(range, unit)
        return SettingKind(.integer(range, unit: unit), show: { "\($0)" }) { read($0, $1).map { Value($0) } }
    }

    /// A whole number in a range, for a floating-point property.
    package static func integer(_ range: ClosedRange<Int>, unit: String = "") -> SettingKind where Value == Double {
        let read = wholeNumber(range, unit)
        return SettingKind(.integer(range, unit: unit), show: { "\(Int($0))" }) { read($0, $1).map(Double.init) }
    }

    /// A number of bytes, with or without a unit.
    package static func bytes(_ range: ClosedRange<Int>) -> SettingKind where Value == Int {
        SettingKind(.bytes(range), "write a number of bytes, as 500kB, 64MB or 2GB", show: SizeText.text) { text in
            SizeText.bytes(text).flatMap { range.contains(Int($0)) ? Int($0) : nil }
        }
    }

    /// A span of time in a range.
    package static func duration(_ range: ClosedRange<Duration>) -> SettingKind where Value == Duration {
        SettingKind(.duration(range), DurationText.form(in: range), show: { DurationText.text($0) }) { text in
            DurationText.duration(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A span of time in a range, or the word `off`.
    package static func durationOrOff(_ range: ClosedRange<Duration>) -> SettingKind where Value == Duration? {
        let off = SettingShape.words(["off"])
        return SettingKind(
            .either([.duration(range), off]), DurationText.form(in: range) + ", or off",
            show: { $0.map(DurationText.text) ?? "off" }
        ) { text in
            if ["off", "false"].contains(text.lowercased()) { return .some(nil) }
            return DurationText.duration(text).flatMap { range.contains($0) ? .some($0) : nil }
        }
    }

    /// One of several values by its word.
    ///
    /// - Parameter meant: the words of other programs, in lower case, each with the word for the same value here.
    package static func word(_ choices: [(String, Value)], meant: [String: String] = [:]) -> SettingKind
    where Value: Equatable {
        let what = "write \(ConfigurationSection.list(choices.map(\.0)))"
        return SettingKind(.words(choices.map(\.0)), show: { value in choices.first { $0.1 == value }?.0 }) {
            section, key in
            guard let text = section.text(key, what) else { return nil }
            return section.choice(Located(text, section.origin(of: key)), key, choices, meant)
        }
    }

    /// One of the cases of an enumeration, by its word.
    package static func word() -> SettingKind where Value: CaseIterable & RawRepresentable<String> & Equatable {
        word(Value.allCases.map { ($0.rawValue, $0) })
    }

    /// A list of words, or a single one.
    package static func words<Element: Hashable & Sendable>(
        _ choices: [(String, Element)], shortest: Int = 0
    ) -> SettingKind
    where Value == Set<Element> {
        let words = choices.map(\.0)
        return SettingKind(
            .list(.words(words), shortest: shortest),
            show: { set in choices.filter { set.contains($0.1) }.map(\.0).joined(separator: ", ") }
        ) { section, key in
            section.texts(key, "write a list of \(ConfigurationSection.list(words))").map { texts in
                Set(texts.compactMap { section.choice($0, key, choices) })
            }
        }
    }

    /// A word that means nil, or a value of another kind.
    package static func word<Other>(_ word: String, or other: SettingKind<Other>) -> SettingKind where Value == Other? {
        SettingKind(.either([other.shape.without(word), .words([word])]), show: { $0.map(other.show) ?? word }) {
            section, key in
            section.isWord(word, at: key) ? .some(nil) : other.read(section, key).map(Optional.some)
        }
    }
}

extension SettingKind where Value == Bool {
    /// True or false, in the words of YAML 1.1, which people know, and of environment variables.
    package static var boolean: SettingKind {
        SettingKind(.boolean, "write true or false", show: { "\($0)" }) { text in
            switch text.lowercased() {
            case "true", "yes", "on", "1": true
            case "false", "no", "off", "0": false
            default: nil
            }
        }
    }
}

extension SettingKind where Value == ProximityUUID {
    /// A UUID.
    package static var uuid: SettingKind<ProximityUUID> {
        SettingKind(
            .text(pattern: "^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$"),
            "a UUID has 32 hexadecimal digits, as e2c56db5-dffb-48d2-b060-d0f5a71096e0", parse: ProximityUUID.init)
    }
}

// MARK: - Texts

extension SettingKind where Value == String {
    /// A text.
    ///
    /// - Parameter what: the remedy for a value that is not a text.
    package static func text(_ what: String = "write a text") -> SettingKind {
        SettingKind(.text(), show: { $0.isEmpty ? nil : "`\($0)`" }) { $0.text($1, what) }
    }

    /// A text with a length in a range, in characters.
    package static func text(_ length: ClosedRange<Int>, _ what: String) -> SettingKind {
        SettingKind(.text(shortest: length.lowerBound, longest: length.upperBound), what) {
            length.contains($0.count) ? $0 : nil
        }
    }

    /// A text that matches a pattern (ECMA-262) as a whole.
    package static func text(pattern: String, _ what: String) -> SettingKind {
        // An invalid pattern is a mistake in the declaration, and matches nothing.
        SettingKind(.text(pattern: pattern), what) { text in
            (try? Regex(pattern).wholeMatch(in: text)).flatMap { $0 } == nil ? nil : text
        }
    }

    /// A unique name, to which other parts of the file refer.
    ///
    /// - Parameters:
    ///   - what: the kind of thing, for people.
    ///   - group: the group in which the name must be unique; nil for its kind.
    package static func name(_ what: String, among group: String? = nil) -> SettingKind {
        SettingKind(.text(shortest: 1, longest: 100, pattern: #"^[^\u000A-\u000D\u0085\u2028\u2029]+$"#)) {
            section, key in
            guard let name = section.text(key, "write a name") else { return nil }
            let origin = section.origin(of: key)
            guard !name.isEmpty, name.count <= 100, name.allSatisfy({ !$0.isNewline }) else {
                section.report(
                    origin, "\"\(key)\" is \"\(name)\"; write a name of 1 to 100 characters on one line")
                return nil
            }
            guard section.reading.context.take(name, group ?? what) else {
                section.report(origin, taken(name, by: what))
                return nil
            }
            return name
        }
    }

    /// Returns the message for a name that is already in use.
    package static func taken(_ name: String, by what: String) -> String {
        "there is a \(what) named \"\(name)\" already; give this one another name"
    }
}

extension SettingKind {
    /// A list of texts, or a single one.
    package static func texts(_ what: String) -> SettingKind where Value == [String] {
        SettingKind(.list(.text()), show: { $0.isEmpty ? nil : $0.joined(separator: ", ") }) {
            $0.texts($1, what)?.map(\.value)
        }
    }

    /// A list of texts in any order, or a single one.
    package static func texts(_ what: String) -> SettingKind where Value == Set<String> {
        SettingKind(.list(.text())) { section, key in section.texts(key, what).map { Set($0.map(\.value)) } }
    }

    /// Texts with names that the user chooses.
    package static func pairs(_ what: String) -> SettingKind where Value == [String: String] {
        let (most, longest) = (32, 200)
        return SettingKind(.pairs(.text(longest: longest), most: most, longest: longest)) { section, key in
            guard let value = section.value(key) else { return nil }
            guard case .object(let values) = value, values.count <= most else {
                section.report(section.place(of: key), "\"\(key)\" is \(value.summary); \(what), at most \(most)")
                return nil
            }
            var texts: [String: String] = [:]
            for (name, value) in values {
                guard let text = value == .null ? "" : value.scalarText, !name.isEmpty,
                    max(name.count, text.count) <= longest
                else {
                    section.report(
                        section.place(of: key, .key(name)),
                        "\"\(key)\" has \(value.summary); \(what), of at most \(longest) characters")
                    continue
                }
                texts[name] = text
            }
            return texts
        }
    }
}
