import BeaconModel

/// The names of the receivers that a capture has shown so far, each with a small number.
struct ReceiverTable {
    /// The names by number.
    private(set) var names: [String] = []

    /// Numbers by what the format itself calls the receiver: an interface or controller number.
    private var numbers: [UInt32: ReceiverID] = [:]
    private var numbersByName: [String: ReceiverID] = [:]

    /// More than any site has; beyond it, receivers share the last number.
    private static let most = Int(UInt16.max)

    /// The receiver that the format calls `key`, under the name that `name` gives if it is new.
    mutating func receiver(_ key: UInt32, name: @autoclosure () -> String) -> ReceiverID {
        if let known = numbers[key] { return known }
        let new = named(name())
        numbers[key] = new
        return new
    }

    /// Gives the receiver that the format calls `key` a name, unless it has one.
    mutating func name(_ key: UInt32, _ name: String) {
        _ = receiver(key, name: name)
    }

    /// Forgets what the format's own numbers meant, as at the start of a new section, but not the names.
    mutating func forgetKeys() { numbers.removeAll() }

    /// The receiver of this name.
    mutating func named(_ name: String) -> ReceiverID {
        if let known = numbersByName[name] { return known }
        guard names.count < Self.most else { return ReceiverID(UInt16(names.count - 1)) }
        let new = ReceiverID(UInt16(names.count))
        names.append(name)
        numbersByName[name] = new
        return new
    }
}
