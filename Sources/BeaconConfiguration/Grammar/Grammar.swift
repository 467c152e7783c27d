package import BeaconModel

/// The keys of a mapping, each declared once, and the value that they make.
///
/// The reader, its diagnostics, the reference in the docs, the JSON Schema and the forms all follow from the
/// declaration:
///
/// ```swift
/// extension PlaceRules {
///     static let grammar = Grammar(PlaceRules(), [
///         Setting("hold-time", \.holdTime, .duration(.zero...(.seconds(3600))), "The time for which …")
///     ])
/// }
/// ```
package struct Grammar<Root: Sendable>: Sendable {
    /// A check of keys that depend on each other.
    ///
    /// `isWhole` is true if every required key has a value. The check returns false if the keys do not make a value.
    package typealias Check = @Sendable (ConfigurationSection, inout Root, _ isWhole: Bool) -> Bool

    private let start: @Sendable () -> Root

    /// The keys, in the order in which they are read and listed.
    package let settings: [Setting<Root>]

    /// Keys of which one is required; empty if all are optional.
    private let choice: [String]

    private let check: Check

    /// Declares the keys of a mapping.
    ///
    /// - Parameters:
    ///   - blank: the value without any key, with the defaults.
    ///   - settings: the keys.
    ///   - choice: keys of which one is required; the check reports it.
    ///   - check: a check of the whole value, which also runs if a key is missing.
    package init(
        _ blank: @autoclosure @escaping @Sendable () -> Root, _ settings: [Setting<Root>], oneOf choice: [String] = [],
        check: @escaping Check = { _, _, isWhole in isWhole }
    ) {
        start = blank
        self.settings = settings
        self.choice = choice
        self.check = check
    }

    /// The value without any key, with the defaults. It is a new one each time, since a part of it may be an object.
    package var blank: Root { start() }

    /// Reads a mapping.
    ///
    /// - Parameter hasOthers: true if the mapping has keys of other grammars too; false if other keys are a fault.
    /// - Returns: nil if a required key is missing or has a fault.
    package func read(_ section: ConfigurationSection, hasOthers: Bool = false) -> Root? {
        defer { if !hasOthers { section.finish() } }
        var root = blank
        return fill(&root, from: section) ? root : nil
    }

    /// Reads the keys of a mapping into a value. The caller handles all other keys.
    ///
    /// - Returns: false if a required key is missing or has a fault.
    package func fill(_ root: inout Root, from section: ConfigurationSection) -> Bool {
        var isWhole = true
        for setting in settings where !setting.read(section, &root) && setting.remedy != nil { isWhole = false }
        for setting in settings {
            guard let remedy = setting.remedy, !section.has(setting.key) else { continue }
            section.reportMissing(setting.key, remedy)
        }
        return check(section, &root, isWhole)
    }

    /// Changes one key of a value.
    ///
    /// - Returns: the fault of the new value; nil if it was changed.
    package func change(_ key: String, to value: JSONValue, in root: inout Root) -> String? {
        guard let setting = settings.first(where: { $0.key == key }) else { return "there is no key \"\(key)\"" }
        let reading = ConfigurationReading(isOverridden: false)
        _ = setting.read(ConfigurationSection(.object([key: value]), in: reading), &root)
        return reading.diagnostics.first?.message
    }

    /// The descriptions of the keys, for people and editors.
    package var descriptions: [SettingDescription] { settings.map { $0.describe(blank) } }

    /// The shape of the mapping.
    package var shape: SettingShape { .mapping(descriptions, oneOf: choice) }
}

/// One key of a mapping: its kind of value, its meaning, and the property for its value.
package struct Setting<Root: Sendable>: Sendable {
    /// The key.
    package let key: String

    /// The remedy if the key is missing; nil for an optional key.
    let remedy: String?

    /// Reads the value into its property. Returns false without a value.
    let read: @Sendable (ConfigurationSection, inout Root) -> Bool

    /// Returns the description of the key, with the default from a blank value.
    let describe: @Sendable (Root) -> SettingDescription

    /// Creates a key whose value is a property.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - place: the property.
    ///   - kind: the kind of value.
    ///   - remedy: the remedy if the key is missing; nil for an optional key.
    ///   - fallback: the default for people, if the property does not show it.
    ///   - title: a short name for forms; nil to derive it from the key.
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

    /// Creates a key whose value is an optional property.
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

    /// Creates a key whose value is the argument of a function.
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

    /// Creates a key that is read together with others.
    ///
    /// - Parameter read: returns false without a value.
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
    /// Returns the key for some values only; for others it is ignored.
    package func reading(if isWanted: @escaping @Sendable (Root) -> Bool) -> Setting {
        Setting(
            key: key, remedy: remedy,
            read: { section, root in
                guard !isWanted(root) else { return read(section, &root) }
                _ = section.value(key)
                return false
            }, describe: describe)
    }

    /// Returns the key for an outer value that has this key's value as a property.
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
