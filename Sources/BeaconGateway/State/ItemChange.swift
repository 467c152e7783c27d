import BeaconDelivery
import Foundation

/// A change in the console's configuration: an item is added, replaced or removed.
package enum ItemChange: Sendable {
    case add(ConfigurationItem)
    /// Replaces the item with this name, perhaps by one with another name.
    case replace(String, by: ConfigurationItem)
    case remove(ConfigurationItem.Kind, String)
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
        var list = ItemList(items)
        try apply(to: &list, beside: ItemList(base.items), in: base.path)
        let changed = list.items.compactMap(\.self)
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
        case .remove(let kind, _): kind.isShared
        case .several(let changes): changes.contains(where: \.isShared)
        }
    }

    /// Applies the change to the console's items, beside those of the file.
    private func apply(to list: inout ItemList, beside ofFile: ItemList, in path: String?) throws {
        func refuseIfTaken(_ item: ConfigurationItem) throws {
            let isOfFile = ofFile.place(of: item.kind, item.name) != nil
            guard isOfFile || list.place(of: item.kind, item.name) != nil else { return }
            throw Failure(
                code: .taken,
                description:
                    "there is a \(item.kind.rawValue) named \"\(item.name)\"\(isOfFile ? " in the file" : "") already; choose another name",
                faults: [.init(key: "name", message: "is already taken")])
        }
        func index(of kind: ConfigurationItem.Kind, _ name: String) throws -> Int {
            if let index = list.place(of: kind, name) { return index }
            if ofFile.place(of: kind, name) != nil {
                let file = path.map { ", \($0)" } ?? ""
                throw Failure(
                    code: .taken, description: "this \(kind.rawValue) is in the file\(file); change it there")
            }
            throw Failure(code: .unknown, description: "there is no \(kind.rawValue) of this name")
        }
        switch self {
        case .add(let item):
            try refuseIfTaken(item)
            list.append(item)
        case .replace(let name, let item):
            let index = try index(of: item.kind, name)
            if item.name != name { try refuseIfTaken(item) }
            list.set(item, at: index)
        case .remove(let kind, let name): list.set(nil, at: try index(of: kind, name))
        case .several(let changes): for change in changes { try change.apply(to: &list, beside: ofFile, in: path) }
        }
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
        case .add: []
        case .several(let changes): changes.flatMap(\.renamedRules)
        }
    }

    private var added: [ConfigurationItem] {
        switch self {
        case .add(let item), .replace(_, let item): [item]
        case .remove: []
        case .several(let changes): changes.flatMap(\.added)
        }
    }
}

/// A list of items in which each is found by its kind and name without a search: a table changes thousands of them.
private struct ItemList {
    /// The items in order; nil for a removed one.
    private(set) var items: [ConfigurationItem?]
    private var places: [ItemReadings.Key: Int]

    init(_ items: [ConfigurationItem]) {
        self.items = items
        places = Dictionary(items.indices.map { (Self.key(of: items[$0]), $0) }) { first, _ in first }
    }

    private static func key(of item: ConfigurationItem) -> ItemReadings.Key {
        ItemReadings.Key(kind: item.kind, name: item.name)
    }

    func place(of kind: ConfigurationItem.Kind, _ name: String) -> Int? { places[.init(kind: kind, name: name)] }

    mutating func set(_ item: ConfigurationItem?, at place: Int) {
        if let old = items[place] { places[Self.key(of: old)] = nil }
        items[place] = item
        if let item { places[Self.key(of: item)] = place }
    }

    mutating func append(_ item: ConfigurationItem) {
        items.append(nil)
        set(item, at: items.count - 1)
    }
}
