import BeaconDelivery
import BeaconFleet
import BeaconGateway
import BeaconSupport
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
            let item = try Self.item(kind, try await request.value(of: JSONValue.self))
            try await make(.add(item))
            return try await answer(item.name)
        }
        router.on(.put, path + "/{name}") { request, context in
            let item = try Self.item(kind, try await request.value(of: JSONValue.self))
            try await make(.replace(try context.name("name"), by: item))
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

    /// Makes a change and applies it.
    ///
    /// - Throws: ``Problem`` if the change is not possible.
    func make(_ change: ItemChange) async throws {
        try await reportingFailures {
            if let fleet, change.isShared {
                _ = try await fleet.change(change)
            } else {
                try await state.items.turn.run {
                    let configuration = try await state.items.apply(
                        change, to: await gateway.base, isInFleet: fleet != nil)
                    if fleet == nil { await gateway.apply(configuration) } else { await gateway.useOwnRules() }
                }
            }
            try await rules.readSwitches()
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
                let move = try TakeOver(kind, name, in: base)
                for item in move.items { try Self.check(item.name, of: kind.rawValue) }
                let rest = move.rest(of: base)
                let configuration = try await state.items.apply(.several(move.items.map(ItemChange.add)), to: rest)
                let copy: String
                do throws(StateError) {
                    let folder = URL(fileURLWithPath: base.outbox.path).deletingLastPathComponent().path
                    copy = try move.write(stateFolder: folder)
                } catch {
                    let undo = move.items.map { ItemChange.remove(kind, $0.name) }
                    _ = try await state.items.apply(.several(undo), to: base)
                    throw Problem(.conflict, error.message)
                }
                current.withLock { $0 = move.rest(of: $0) }
                await gateway.apply(configuration, base: rest)
                return (move, copy)
            }
            try await rules.readSwitches()
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
