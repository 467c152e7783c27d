import BeaconConfiguration

/// The receivers of a source that move among the beacons, such as phones, robots and carts.
public enum MovingReceivers: Hashable, Sendable {
    /// None or all of them.
    case none, all
    /// Those with these names.
    case named(Set<String>)

    /// Returns true if a receiver with one of these names moves.
    func contains(_ names: String?...) -> Bool {
        switch self {
        case .none: false
        case .all: true
        case .named(let moving): names.contains { $0.map(moving.contains) ?? false }
        }
    }
}

extension SettingKind<MovingReceivers> {
    private static let what = "write true, false, or the names of the receivers that move, as in [cart, phone]"

    /// `true`, `false`, or the names of receivers.
    static let moving = SettingKind(.either([.boolean, .items(.text(shortest: 1))])) { section, key in
        switch section.value(key)?.scalarText {
        case "true": return .all
        case "false": return MovingReceivers.none
        // A single name would hide a misspelt "true".
        case let word?:
            section.report(section.origin(of: key), "\"\(key)\" is \"\(word)\"; \(what)")
            return nil
        case nil: return section.texts(key, what).map { .named(Set($0.map(\.value))) }
        }
    }
}
