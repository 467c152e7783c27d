import BeaconDelivery
import Foundation

/// A change of what is configured in the console: an item that is added, replaced or removed.
package enum ItemChange: Sendable {
    case add(ConfigurationItem)
    /// The item of this name is another from now on, perhaps with another name.
    case replace(String, by: ConfigurationItem)
    case remove(ConfigurationItem.Kind, String)
    /// Several at once, of which all can be used or none is taken.
    case several([ItemChange])

    /// Why a change cannot be made.
    package struct Failure: Error, CustomStringConvertible {
        /// What the reason is.
        package enum Code: Sendable {
            /// There is no item of this name.
            case unknown
            /// The file has it, or another item has its name.
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
    /// Returns items with the change, and the configuration with them, where the whole can be used then.
    ///
    /// - Parameters:
    ///   - items: the items of the console, or of a fleet.
    ///   - base: the configuration without them.
    /// - Throws: ``Failure``.
    func applied(
        to items: [ConfigurationItem], beside base: GatewayConfiguration
    ) throws -> (items: [ConfigurationItem], configuration: GatewayConfiguration) {
        var changed = items
        try apply(to: &changed, beside: base)
        guard changed.count <= max(Self.mostItems, items.count) else {
            throw Failure(
                code: .taken,
                description: "the console has at most \(Self.mostItems) items; remove some, or write them into the file"
            )
        }
        let after = base.adding(changed)
        try check(after, before: { base.adding(items) })
        return (changed, after)
    }

    /// The most items of the console.
    private static let mostItems = 50_000

    /// True for a change of what all machines of a fleet follow.
    package var isShared: Bool {
        switch self {
        case .add(let item), .replace(_, let item): item.kind.isShared
        case .remove(let kind, _): kind.isShared
        case .several(let changes): changes.contains(where: \.isShared)
        }
    }

    /// Makes the change in the items of the console.
    fileprivate func apply(to items: inout [ConfigurationItem], beside base: GatewayConfiguration) throws {
        func refuseIfTaken(_ item: ConfigurationItem) throws {
            let isOfFile = base.items.contains { $0.kind == item.kind && $0.name == item.name }
            guard isOfFile || items.contains(where: { $0.kind == item.kind && $0.name == item.name }) else { return }
            throw Failure(
                code: .taken,
                description:
                    "there is a \(item.kind.rawValue) named \"\(item.name)\"\(isOfFile ? " in the file" : "") already; give this one another name",
                faults: [.init(key: "name", message: "is the name of another")])
        }
        func index(of kind: ConfigurationItem.Kind, _ name: String) throws -> Int {
            if let index = items.firstIndex(where: { $0.kind == kind && $0.name == name }) { return index }
            if base.items.contains(where: { $0.kind == kind && $0.name == name }) {
                let file = base.path.map { ", \($0)" } ?? ""
                throw Failure(
                    code: .taken, description: "this \(kind.rawValue) is in the file\(file); change it there")
            }
            throw Failure(code: .unknown, description: "there is no \(kind.rawValue) of this name")
        }
        switch self {
        case .add(let item):
            try refuseIfTaken(item)
            items.append(item)
        case .replace(let name, let item):
            let index = try index(of: item.kind, name)
            if item.name != name { try refuseIfTaken(item) }
            items[index] = item
        case .remove(let kind, let name): items.remove(at: try index(of: kind, name))
        case .several(let changes): for change in changes { try change.apply(to: &items, beside: base) }
        }
    }

    /// Refuses a change by which an item would not be in use that was, or that is new.
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
                    "the \(item.kind.rawValue) \"\(item.name)\" could not be used then: \(fault). Change it first")
        }
    }

    /// The rules that have another name with the change; nil for one that is gone.
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
