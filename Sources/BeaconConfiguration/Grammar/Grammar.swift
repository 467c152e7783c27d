/// The keys of a mapping, each declared once, and the value that they make.
///
/// From the declaration come the reader, its faults, the reference in the docs, the JSON Schema and the forms:
///
/// ```swift
/// extension PlaceRules {
///     static let grammar = Grammar(PlaceRules(), [
///         Setting("hold-time", \.holdTime, .duration(.zero...(.seconds(3600))), "The time for which …")
///     ])
/// }
/// ```
package struct Grammar<Root: Sendable>: Sendable {
    /// A check of what keys have to do with each other.
    ///
    /// It gets whether every required key has a value, and returns false where the keys make no value.
    package typealias Check = @Sendable (ConfigurationSection, inout Root, _ isWhole: Bool) -> Bool

    private let start: @Sendable () -> Root

    /// The keys, in the order in which they are read and listed.
    package let settings: [Setting<Root>]

    /// The keys of which one has to be there; none where all may be missing.
    private let choice: [String]

    private let check: Check

    /// Declares the keys of a mapping.
    ///
    /// - Parameters:
    ///   - blank: the value without any key, which has the defaults.
    ///   - settings: the keys.
    ///   - choice: the keys of which one has to be there, which the check reports.
    ///   - check: a check of the whole, also where a key is missing.
    package init(
        _ blank: @autoclosure @escaping @Sendable () -> Root, _ settings: [Setting<Root>], oneOf choice: [String] = [],
        check: @escaping Check = { _, _, isWhole in isWhole }
    ) {
        start = blank
        self.settings = settings
        self.choice = choice
        self.check = check
    }

    /// A value without any key, which has the defaults. It is a new one each time, since a part of it may be an object.
    package var blank: Root { start() }

    /// Reads a mapping.
    ///
    /// - Parameter hasOthers: true for a mapping that has keys of other grammars too; false for one in which other keys
    ///   are a fault.
    /// - Returns: nil where something without which it is nothing is missing or has a fault.
    package func read(_ section: ConfigurationSection, hasOthers: Bool = false) -> Root? {
        defer { if !hasOthers { section.finish() } }
        var root = blank
        return fill(&root, from: section) ? root : nil
    }

    /// Reads the keys of a mapping into a value. Other keys are left to who calls.
    ///
    /// - Returns: false where something without which it is nothing is missing or has a fault.
    package func fill(_ root: inout Root, from section: ConfigurationSection) -> Bool {
        var isWhole = true
        for setting in settings where !setting.read(section, &root) && setting.remedy != nil { isWhole = false }
        for setting in settings {
            guard let remedy = setting.remedy, !section.has(setting.key) else { continue }
            section.reportMissing(setting.key, remedy)
        }
        return check(section, &root, isWhole)
    }

    /// The descriptions of the keys, for people and editors.
    package var descriptions: [SettingDescription] { settings.map { $0.describe(blank) } }

    /// The shape of the mapping.
    package var shape: SettingShape { .mapping(descriptions, oneOf: choice) }
}

/// One key of a mapping: its kind of value, its meaning, and the place of its value.
package struct Setting<Root: Sendable>: Sendable {
    /// The key.
    package let key: String

    /// The remedy where it is missing; nil where it may be.
    let remedy: String?

    /// Reads the value into its place. It returns false without a value.
    let read: @Sendable (ConfigurationSection, inout Root) -> Bool

    /// Returns what is known of the key, with the default that a blank value has.
    let describe: @Sendable (Root) -> SettingDescription

    /// A key whose value is a property.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - place: the property.
    ///   - kind: the kind of value.
    ///   - remedy: the remedy where it is missing; nil where it may be.
    ///   - fallback: the default for people, where the property does not tell it.
    ///   - title: a short name for forms; nil for one that is made of the key.
    ///   - help: its meaning, in a sentence.
    package init<Value>(
        _ key: String, _ place: any WritableKeyPath<Root, Value> & Sendable, _ kind: SettingKind<Value>,
        required remedy: String? = nil, default fallback: String? = nil, title: String? = nil, _ help: String
    ) {
        self.init(
            key, kind.shape, required: remedy, title: title, help,
            default: { fallback ?? (remedy == nil ? kind.show($0[keyPath: place]) : nil) }
        ) { section, root in
            guard let value = kind.read(section, key) else { return false }
            root[keyPath: place] = value
            return true
        }
    }

    /// A key whose value is a property that may be nil.
    package init<Value>(
        _ key: String, _ place: any WritableKeyPath<Root, Value?> & Sendable, _ kind: SettingKind<Value>,
        required remedy: String? = nil, default fallback: String? = nil, title: String? = nil, _ help: String
    ) {
        self.init(
            key, kind.shape, required: remedy, title: title, help,
            default: { fallback ?? (remedy == nil ? $0[keyPath: place].flatMap(kind.show) : nil) }
        ) { section, root in
            guard let value = kind.read(section, key) else { return false }
            root[keyPath: place] = value
            return true
        }
    }

    /// A key whose value is the argument of a function.
    package init<Value>(
        _ key: String, _ kind: SettingKind<Value>, required remedy: String? = nil, default fallback: String? = nil,
        title: String? = nil, _ help: String, take: @escaping @Sendable (inout Root, Value) -> Void
    ) {
        self.init(key, kind.shape, required: remedy, title: title, help, default: { _ in fallback }) { section, root in
            guard let value = kind.read(section, key) else { return false }
            take(&root, value)
            return true
        }
    }

    /// A key that is read together with others.
    ///
    /// - Parameter read: returns false where there is no value.
    package init(
        _ key: String, _ shape: SettingShape, required remedy: String? = nil, title: String? = nil, _ help: String,
        default fallback: @escaping @Sendable (Root) -> String? = { _ in nil },
        read: @escaping @Sendable (ConfigurationSection, inout Root) -> Bool
    ) {
        self.key = key
        self.remedy = remedy
        self.read = read
        describe = {
            SettingDescription(
                key: key, title: title, help: help, shape: shape, isRequired: remedy != nil, fallback: fallback($0))
        }
    }
}

extension Setting {
    /// The key as it is since a version after the first one.
    package func since(_ version: String) -> Setting {
        Setting(key: key, remedy: remedy, read: read) {
            var description = describe($0)
            description.since = version
            return description
        }
    }

    /// The key, which is read into some values alone, and otherwise passed over.
    package func reading(if isWanted: @escaping @Sendable (Root) -> Bool) -> Setting {
        Setting(
            key: key, remedy: remedy,
            read: { section, root in
                guard !isWanted(root) else { return read(section, &root) }
                _ = section.node(key)
                return false
            }, describe: describe)
    }

    /// The key for a value of which this one's is a property.
    package func within<Outer>(_ place: any WritableKeyPath<Outer, Root> & Sendable) -> Setting<Outer> {
        Setting<Outer>(
            key: key, remedy: remedy, read: { read($0, &$1[keyPath: place]) },
            describe: { describe($0[keyPath: place]) })
    }

    private init(
        key: String, remedy: String?, read: @escaping @Sendable (ConfigurationSection, inout Root) -> Bool,
        describe: @escaping @Sendable (Root) -> SettingDescription
    ) {
        (self.key, self.remedy, self.read, self.describe) = (key, remedy, read, describe)
    }
}

extension ConfigurationSection {
    /// Reads a value of a kind.
    package func read<Value>(_ key: String, _ kind: SettingKind<Value>) -> Value? { kind.read(self, key) }
}
