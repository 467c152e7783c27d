import BeaconDelivery
import Foundation

/// A change in the console's configuration: an item is added, replaced or removed.
package enum ItemChange: Sendable {
    case add(ConfigurationItem)
    /// Replaces the item with this name, perhaps by one with another name.
    case replace(String, by: ConfigurationItem)
    case remove(ConfigurationItem.Kind, String)
    /// Takes an added item back. What belongs to its name stays: its teaching, or its switch.
    case withdraw(ConfigurationItem.Kind, String)
    /// Lets all items follow the new name of a receiver.
    case rename(ReceiverRename)
    /// Several changes at once; either all of them apply or none.
    case several([ItemChange])

    /// The reason why a change is rejected.
    package struct Failure: Error, CustomStringConvertible {
        /// A kind of reason.
        package enum Code: Sendable {
            /// No item has this name.
            case unknown
            /// The item is in the file, or its name is taken.
            case taken
            /// The settings have faults.
            case faults
        }

        package var code: Code
        package var description: String
        package var faults: [ConfigurationItem.Fault] = []
    }
}

extension ItemChange {
    /// Returns the changed items and the resulting configuration, if that is valid.
    ///
    /// - Parameters:
    ///   - items: the items of the console, or of a fleet.
    ///   - base: the configuration without them.
    /// - Throws: ``Failure``.
    func applied(
        to items: [ConfigurationItem], beside base: GatewayConfiguration
    ) throws -> (items: [ConfigurationItem], configuration: GatewayConfiguration) {
        var list = Dictionary(items.map { ($0.key, $0) }) { first, _ in first }
        var next = (items.map(\.order).max() ?? 0) + 1
        for rename in renamedReceivers { try rename.check(base) }
        try apply(to: &list, &next, beside: Set(base.items.map(\.key)), in: base.path)
        let changed = list.values.sorted { $0.order < $1.order }
        guard changed.count <= max(Self.maximumItems, items.count) else {
            throw Failure(
                code: .taken,
                description:
                    "the console has at most \(Self.maximumItems) items; remove some, or write them into the file"
            )
        }
        let after = base.adding(changed)
        try check(after, before: { base.adding(items) })
        return (changed, after)
    }

    /// The most items in the console.
    private static let maximumItems = 50_000

    /// True for a change of items that all machines of a fleet follow.
    package var isShared: Bool {
        switch self {
        case .add(let item), .replace(_, let item): item.kind.isShared
        case .remove(let kind, _), .withdraw(let kind, _): kind.isShared
        case .rename: false
        case .several(let changes): changes.contains(where: \.isShared)
        }
    }

    /// True for a change of a source or a destination.
    package var isOfConnections: Bool {
        switch self {
        case .add(let item), .replace(_, let item): item.kind.isConnection
        case .remove(let kind, _), .withdraw(let kind, _): kind.isConnection
        case .rename: true
        case .several(let changes): changes.contains(where: \.isOfConnections)
        }
    }

    /// Applies the change to the console's items, beside those of the file.
    private func apply(
        to list: inout [ConfigurationItem.Key: ConfigurationItem], _ next: inout Int,
        beside ofFile: Set<ConfigurationItem.Key>, in path: String?
    ) throws {
        func add(_ item: ConfigurationItem, at order: Int) throws {
            let isOfFile = ofFile.contains(item.key)
            guard !isOfFile, list[item.key] == nil else {
                throw Failure(
                    code: .taken,
                    description:
                        "there is a \(item.kind.words) named \"\(item.name)\"\(isOfFile ? " in the file" : "") already; choose another name",
                    faults: [.init(key: "name", message: "is already taken")])
            }
            list[item.key] = item
            list[item.key]?.order = order
        }
        func remove(_ key: ConfigurationItem.Key) throws -> Int {
            if let item = list.removeValue(forKey: key) { return item.order }
            guard ofFile.contains(key) else {
                throw Failure(code: .unknown, description: "there is no \(key.kind.words) of this name")
            }
            let file = path.map { ", \($0)" } ?? ""
            throw Failure(
                code: .taken, description: "this \(key.kind.rawValue) is in the file\(file); change it there")
        }
        // A place of the console that was only taught.
        func isOnlyTaught(_ kind: ConfigurationItem.Kind, _ name: String) -> Bool {
            let key = ConfigurationItem.Key(kind: .place, name: name)
            return kind == .place && list[key] == nil && !ofFile.contains(key)
                && list[.init(kind: .taught, name: name)] != nil
        }
        switch self {
        case .add(let item):
            try add(item, at: next)
            next += 1
        case .replace(let name, let item):
            if isOnlyTaught(item.kind, name) {
                try add(item, at: next)
                next += 1
            } else {
                // It keeps its position.
                try add(item, at: try remove(.init(kind: item.kind, name: name)))
            }
            if item.kind == .place, item.name != name { moveTeaching(of: name, to: item.name, in: &list) }
        case .remove(let kind, let name):
            if !isOnlyTaught(kind, name) { _ = try remove(.init(kind: kind, name: name)) }
            if kind == .place { list[.init(kind: .taught, name: name)] = nil }
        case .withdraw(let kind, let name): _ = try remove(.init(kind: kind, name: name))
        case .rename(let rename): list = list.mapValues { $0.following(rename) }
        case .several(let changes):
            for change in changes { try change.apply(to: &list, &next, beside: ofFile, in: path) }
        }
    }

    /// Lets the teaching of a place follow its name.
    private func moveTeaching(
        of name: String, to new: String, in list: inout [ConfigurationItem.Key: ConfigurationItem]
    ) {
        guard let old = list.removeValue(forKey: .init(kind: .taught, name: name)) else { return }
        var item = old.renamed(to: new)
        item.order = old.order
        list[item.key] = item
    }

    /// Rejects a change that would disable an item in use, or whose new item cannot be used.
    fileprivate func check(_ after: GatewayConfiguration, before: () -> GatewayConfiguration) throws {
        let faulty = after.items.filter { $0.fault != nil }
        guard !faulty.isEmpty else { return }
        for item in added {
            let now = faulty.first { $0.origin == .console && $0.kind == item.kind && $0.name == item.name }
            guard let now, let fault = now.fault else { continue }
            throw Failure(code: .faults, description: fault, faults: now.faults)
        }
        let before = before()
        let used = Dictionary(uniqueKeysWithValues: ConfigurationItem.Kind.allCases.map { ($0, before.itemsInUse($0)) })
        for item in faulty {
            guard used[item.kind]?[item.name]?.origin == item.origin, let fault = item.fault else { continue }
            throw Failure(
                code: .taken,
                description:
                    "the \(item.kind.rawValue) \"\(item.name)\" could no longer be used: \(fault). Change it first")
        }
    }

    /// The rules that the change renames; nil for a removed rule.
    var renamedRules: [(old: String, new: String?)] {
        switch self {
        case .replace(let name, let item): item.kind == .rule && item.name != name ? [(name, item.name)] : []
        case .remove(let kind, let name): kind == .rule ? [(name, nil)] : []
        case .add, .rename, .withdraw: []
        case .several(let changes): changes.flatMap(\.renamedRules)
        }
    }

    /// The receivers that the change renames.
    package var renamedReceivers: [ReceiverRename] {
        switch self {
        case .rename(let rename): [rename]
        case .several(let changes): changes.flatMap(\.renamedReceivers)
        case .add, .replace, .remove, .withdraw: []
        }
    }

    private var added: [ConfigurationItem] {
        switch self {
        case .add(let item), .replace(_, let item): [item]
        case .remove, .rename, .withdraw: []
        case .several(let changes): changes.flatMap(\.added)
        }
    }
}
