import BeaconDelivery
import BeaconFleet
import BeaconGateway
import Foundation
import HTTPTypes
import Hummingbird

/// The changes of items that requests make: of regions, places, named beacons and rules.
struct ItemChanges: Sendable {
    let gateway: Gateway
    let rules: RuleEngine
    let state: GatewayState
    /// The machine's part in a fleet; nil for none.
    let fleet: FleetMember?

    /// Adds the ways to add, replace and remove items of a kind.
    ///
    /// - Parameters:
    ///   - name: the kind in the names of operations, as `Region`.
    ///   - word: the kind in sentences, as `region`.
    ///   - value: returns an item as the list has it.
    func add<Value: Codable & Sendable>(
        of kind: ConfigurationItem.Kind, _ tag: Operation.Tag, _ name: String, _ word: String, at path: String,
        to router: InterfaceRouter, value: @escaping @Sendable (String) async -> Value?
    ) {
        @Sendable func answer(_ name: String) async throws -> Value {
            guard let value = await value(name) else { throw Problem(.notFound, "another request has removed it") }
            return value
        }
        let settings = Media.json(.component("\(name)Settings"))
        router.on(
            .post, path,
            Operation("add\(name)", tag, "Add a \(word)", "The \(word).", errors: [.taken], bodies: [settings]),
            status: .created
        ) { (sent: Sent<JSONValue>, _) in
            let item = try Self.item(kind, try await sent.value())
            try await make(.add(item))
            return try await answer(item.name)
        }
        router.on(
            .put, path + "/{name}",
            Operation(
                "replace\(name)", tag, "Replace a \(word) that was added here", "The \(word).",
                details: "Another name renames it.",
                parameters: [.itemName], errors: [.taken], bodies: [settings])
        ) { (sent: Sent<JSONValue>, context) in
            let item = try Self.item(kind, try await sent.value())
            try await make(.replace(try context.name("name"), by: item))
            return try await answer(item.name)
        }
        router.on(
            .delete, path + "/{name}",
            Operation(
                "remove\(name)", tag, "Remove a \(word) that was added here", "It is removed.",
                details: "Also removes one that is not in use.", parameters: [.itemName], errors: [.taken])
        ) { _, context in
            try await make(.remove(kind, try context.name("name")))
            return Nothing()
        }
    }

    /// Names that an address cannot have for one, or has for something else.
    static let reserved: Set<String> = [".", "..", "import", "export", "runs", "try"]

    /// Returns the item that settings are of.
    static func item(_ kind: ConfigurationItem.Kind, _ settings: JSONValue) throws -> ConfigurationItem {
        guard case .object(let values) = settings else {
            throw Problem(.unprocessableContent, "send an object, with the keys of a \(kind.rawValue) of the file")
        }
        guard case .string(let name)? = values["name"], !name.isEmpty, name.count <= 100,
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
            // Which an address cannot have for a name.
            !Self.reserved.contains(name)
        else {
            throw Problem(
                .unprocessableContent, "give the \(kind.rawValue) a name of 1 to 100 characters",
                errors: [.init(key: "name", detail: "is a text of 1 to 100 characters on one line")])
        }
        return ConfigurationItem(kind: kind, name: name, settings: settings, origin: .console)
    }

    /// Makes a change, and goes on with it.
    ///
    /// - Throws: ``Problem`` where it cannot be made.
    func make(_ change: ItemChange) async throws {
        do {
            if let fleet, change.isShared {
                _ = try await fleet.change(change)
            } else {
                let (configuration, revision) = try await state.items.apply(
                    change, to: await gateway.base, isInFleet: fleet != nil)
                if fleet == nil {
                    await gateway.apply(configuration, revision: revision)
                } else {
                    await gateway.useOwnRules()
                }
            }
            try await rules.readSwitches()
        } catch let error as FleetError {
            throw Problem(.serviceUnavailable, "\(error)")
        } catch let failure as ItemChange.Failure {
            let status: HTTPResponse.Status =
                switch failure.code {
                case .unknown: .notFound
                case .taken: .conflict
                case .faults: .unprocessableContent
                }
            throw Problem(
                status, failure.description,
                errors: failure.faults.map { .init(key: $0.key, detail: $0.message) })
        }
    }
}
