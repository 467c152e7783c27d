import BeaconConfiguration
import BeaconDelivery
import BeaconFleet
import BeaconGateway
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// The changes that requests make to the items of the console.
struct ItemChanges: Sendable {
    let gateway: Gateway
    let rules: RuleEngine
    let state: GatewayState
    /// The machine's part in a fleet, or nil without one.
    let fleet: FleetMember?
    /// Uses a configuration with the console's items, and another one of the file if that has changed.
    let use: @Sendable (GatewayConfiguration, GatewayConfiguration?) async throws -> Void

    /// Adds the routes that add, replace and remove items of a kind.
    ///
    /// - Parameters:
    ///   - path: the path of the list.
    ///   - router: the router.
    ///   - value: returns an item in the form of the list.
    func add<Value: Encodable & Sendable>(
        of kind: ConfigurationItem.Kind, at path: String, to router: RouterGroup<WebContext>,
        value: @escaping @Sendable (String) async -> Value?
    ) {
        @Sendable func answer(_ name: String) async throws -> Value {
            guard let value = await value(name) else { throw Problem(.notFound, "another request has removed it") }
            return value
        }
        router.on(.post, path, status: .created) { request, _ in
            let (item, secrets) = try await prepared(kind, try await request.value(of: JSONValue.self), replacing: nil)
            try await make(.add(item), secrets)
            return try await answer(item.name)
        }
        router.on(.put, path + "/{name}") { request, context in
            let name = try context.name("name")
            let (item, secrets) = try await prepared(
                kind, try await request.value(of: JSONValue.self), replacing: name)
            try await make(.replace(name, by: item), secrets)
            return try await answer(item.name)
        }
        router.on(.delete, path + "/{name}") { _, context in
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
        let name = if case .string(let name)? = values["name"] { name } else { "" }
        try check(name, of: kind.rawValue)
        return ConfigurationItem(kind: kind, name: name, settings: settings, origin: .console)
    }

    /// Refuses a name that is empty, too long or not on one line, or that an address cannot contain.
    static func check(_ name: String, of what: String, key: String = "name") throws {
        guard !name.isEmpty, name.count <= 100,
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
            !reserved.contains(name)
        else {
            let others = reserved.sorted().joined(separator: ", ")
            throw Problem(
                .unprocessableContent, "give the \(what) a name of 1 to 100 characters", key: key,
                "must be a text of 1 to 100 characters on one line, and none of \(others)")
        }
    }

    /// Returns the item with these settings, and the secrets in it, which it then refers to.
    ///
    /// - Parameter name: the name of the item that it replaces; nil for none.
    func prepared(
        _ kind: ConfigurationItem.Kind, _ settings: JSONValue, replacing name: String?
    ) async throws -> (item: ConfigurationItem, secrets: [String: Secret]) {
        let item = try Self.item(kind, settings)
        guard kind.isConnection else { return (item, [:]) }
        let configuration = await gateway.configuration
        let input = ConnectionInput(
            item, replacing: configuration.items.first { $0.kind == kind && $0.name == name }, in: configuration)
        guard input.faults.isEmpty else {
            throw Problem(
                .unprocessableContent, input.faults.map(\.message).joined(separator: "; "),
                errors: input.faults.map { .init(key: $0.key, detail: $0.message) })
        }
        return (input.item, input.secrets)
    }

    /// Makes a change and applies it.
    ///
    /// - Parameter secrets: secrets to store with the change, by their names.
    /// - Throws: ``Problem`` if the change is not possible.
    func make(_ change: ItemChange, _ secrets: [String: Secret] = [:]) async throws {
        try await reportingFailures {
            guard fleet == nil || !change.isOfConnections else {
                throw Problem(.conflict, "in a fleet, write sources and destinations into the file of their machine")
            }
            if let fleet, change.isShared {
                _ = try await fleet.change(change)
            } else {
                try await state.items.turn.run {
                    var base = await gateway.base
                    let before = await gateway.configuration
                    let stored = StoredSecrets(besideStore: base.outbox.path)
                    base.secretSources.stored = stored
                    base.secretSources.stored?.pending = secrets
                    var configuration = try await state.items.apply(change, to: base, isInFleet: fleet != nil) {
                        do throws(StateError) {
                            for (name, value) in secrets { try stored.set(name, to: value) }
                        } catch {
                            throw Problem(.conflict, error.message)
                        }
                    }
                    configuration.secretSources.stored = stored
                    for rename in change.renamedReceivers {
                        await gateway.follow(rename, try await state.buildingPlan())
                    }
                    if fleet == nil { try await use(configuration, nil) } else { await gateway.useOwnItems() }
                    // If one stays, Settings lists it as not used.
                    for name in before.leftSecrets(in: configuration) { try? stored.remove(name) }
                }
            }
            try await rules.readSwitches()
            await gateway.recordRules()
        }
    }

    /// Moves items of the file to the console, and keeps a copy of the file.
    ///
    /// The console's items are stored before the file is written. Until the file lacks them, they are not in use, so a
    /// crash loses nothing.
    ///
    /// - Parameters:
    ///   - kind: the kind of the items.
    ///   - name: the name of one item; nil for all of the kind.
    ///   - current: the configuration of the file in use.
    /// - Returns: the items, and the paths of the file and of its copy.
    /// - Throws: ``Problem`` if an item cannot be moved.
    func takeOver(
        _ kind: ConfigurationItem.Kind, _ name: String?, from current: CurrentConfiguration
    ) async throws -> (move: TakeOver, copy: String) {
        guard fleet == nil else {
            throw Problem(
                .conflict,
                "in a fleet, rules stay in the file of their machine, and all other items of files are the fleet's already"
            )
        }
        return try await reportingFailures {
            let result = try await state.items.turn.run {
                let base = await gateway.base
                let receivers = Dictionary(grouping: await gateway.receiverValues, by: \.source)
                let move = try TakeOver(kind, name, in: base, receivers: receivers.mapValues { $0.map(\.name) })
                for item in move.items { try Self.check(item.name, of: kind.rawValue) }
                let rest = move.rest(of: base)
                let configuration = try await state.items.apply(.several(move.items.map(ItemChange.add)), to: rest)
                let copy: String
                do throws(StateError) {
                    let folder = URL(fileURLWithPath: base.outbox.path).deletingLastPathComponent().path
                    copy = try move.write(stateFolder: folder)
                } catch {
                    let undo = move.items.map { ItemChange.withdraw(kind, $0.name) }
                    _ = try await state.items.apply(.several(undo), to: base)
                    throw Problem(.conflict, error.message)
                }
                current.withLock { $0 = move.rest(of: $0) }
                try await use(configuration, rest)
                return (move, copy)
            }
            try await rules.readSwitches()
            await gateway.recordRules()
            return result
        }
    }

    /// Runs a change, and turns its failures into problems.
    private func reportingFailures<Value>(_ change: () async throws -> Value) async throws -> Value {
        do {
            return try await change()
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
