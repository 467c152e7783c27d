import BeaconDelivery
import BeaconFleet
import BeaconGateway
import Foundation
import HTTPTypes
import Hummingbird

/// The changes that requests make to regions, places, named beacons and rules.
struct ItemChanges: Sendable {
    let gateway: Gateway
    let rules: RuleEngine
    let state: GatewayState
    /// The machine's part in a fleet, or nil without one.
    let fleet: FleetMember?

    /// Adds the routes that add, replace and remove items of a kind.
    ///
    /// - Parameters:
    ///   - name: the kind in the names of operations, such as `Region`.
    ///   - word: the kind in sentences, such as `region`.
    ///   - value: returns an item in the form of the list.
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
                "replace\(name)", tag, "Replace a \(word) of the console", "The \(word).",
                details: "A different name renames it.",
                parameters: [.itemName], errors: [.taken], bodies: [settings])
        ) { (sent: Sent<JSONValue>, context) in
            let item = try Self.item(kind, try await sent.value())
            try await make(.replace(try context.name("name"), by: item))
            return try await answer(item.name)
        }
        router.on(
            .delete, path + "/{name}",
            Operation(
                "remove\(name)", tag, "Remove a \(word) of the console", "It is removed.",
                details: "Also removes an item that is not in use.", parameters: [.itemName], errors: [.taken])
        ) { _, context in
            try await make(.remove(kind, try context.name("name")))
            return Nothing()
        }
    }

    /// Names that an address cannot contain or uses for something else.
    static let reserved: Set<String> = [".", "..", "import", "export", "runs", "try"]

    /// Returns the item with these settings.
    static func item(_ kind: ConfigurationItem.Kind, _ settings: JSONValue) throws -> ConfigurationItem {
        guard case .object(let values) = settings else {
            throw Problem(.unprocessableContent, "send an object with the keys of a \(kind.rawValue) in the file")
        }
        guard case .string(let name)? = values["name"], !name.isEmpty, name.count <= 100,
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
            !Self.reserved.contains(name)
        else {
            throw Problem(
                .unprocessableContent, "give the \(kind.rawValue) a name of 1 to 100 characters",
                errors: [.init(key: "name", detail: "must be a text of 1 to 100 characters on one line")])
        }
        return ConfigurationItem(kind: kind, name: name, settings: settings, origin: .console)
    }

    /// Makes a change and applies it.
    ///
    /// - Throws: ``Problem`` if the change is not possible.
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
