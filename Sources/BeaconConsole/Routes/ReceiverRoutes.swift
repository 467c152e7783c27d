import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import HTTPTypes
import Hummingbird

/// The routes of receivers: their list, and the place and the name of each.
struct ReceiverRoutes: Sendable {
    let gateway: Gateway
    let changes: ItemChanges
    let broadcast: EventBroadcast

    private struct PlaceRequest: Decodable, Sendable {
        /// The name of the place; nil or empty for none.
        var place: String?
    }

    private struct NameRequest: Decodable, Sendable {
        var name: String
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "receivers") { _, _ in await gateway.receiversValue }
        router.on(.put, "receivers/{name}/place") { request, context in
            let name = try context.name("name")
            let wanted = try await request.value(of: PlaceRequest.self).place.flatMap { $0.isEmpty ? nil : $0 }
            if let wanted { try ItemChanges.check(wanted, of: "place", key: "place") }
            guard await receiver(name) != nil else { throw Problem(.notFound, "there is no receiver of this name") }
            let moves = try Self.changes(moving: name, to: wanted, in: await gateway.configuration)
            if !moves.isEmpty { try await changes.make(.several(moves)) }
            guard let value = await receiver(name) else { throw Problem(.notFound, "the receiver is gone") }
            return value
        }
        router.on(.put, "receivers/{name}/name") { request, context in
            let (old, new) = (try context.name("name"), try await request.value(of: NameRequest.self).name)
            try ItemChanges.check(new, of: "receiver")
            guard var value = await receiver(old) else {
                throw Problem(.notFound, "there is no receiver of this name")
            }
            if new != old {
                try await rename(value, to: new)
                // Its source opens again, and has not named it yet.
                value.name = new
            }
            return value
        }
    }

    /// Renames a receiver, and everything that names it.
    private func rename(_ receiver: ReceiverValue, to new: String) async throws {
        let others = await gateway.receiverValues.filter { $0.name != receiver.name }
        let configuration = await gateway.configuration
        let isTaken =
            others.contains { $0.name == new } || configuration.places?.receiverNames.contains(new) == true
            || configuration.sources.contains { $0.receiver == new }
        guard !isTaken else {
            throw Problem(
                .conflict, "another receiver has this name, or a place expects one; choose another name", key: "name",
                "is already taken")
        }
        guard let source = configuration.sources.first(where: { $0.name == receiver.source }),
            let item = configuration.itemsInUse(.source)[source.name], item.origin == .console
        else {
            throw Problem(
                .conflict,
                "the source \"\(receiver.source)\" is in the file; take it over first (Settings, Sources), or name its receiver there"
            )
        }
        let isOnly = !others.contains { $0.source == receiver.source }
        guard let settings = source.settings(item.settings, naming: receiver.key, new, isOnly: isOnly) else {
            throw Problem(
                .conflict,
                "the source \"\(source.name)\" cannot name each of its receivers; add a source for each, such as hci:hci0"
            )
        }
        let rename = ReceiverRename(receiver.name, to: new)
        try await changes.make(
            .several([.replace(source.name, by: try ItemChanges.item(.source, settings)), .rename(rename)]))
        broadcast.send(.changed([.plan]))
    }

    private func receiver(_ name: String) async -> ReceiverValue? {
        await gateway.receiverValues.first { $0.name == name }
    }

    /// Returns the changes of places that move a receiver. A place without receivers is removed, and a new name adds a
    /// place.
    ///
    /// - Throws: ``Problem`` for a place of the file.
    private static func changes(
        moving receiver: String, to wanted: String?, in configuration: GatewayConfiguration
    ) throws -> [ItemChange] {
        let places = configuration.places?.places ?? []
        let items = configuration.itemsInUse(.place)
        func change(_ place: PlacePlan.Place, to receivers: [String]) throws -> ItemChange {
            guard let item = items[place.name], item.origin == .console, case .object(var values) = item.settings
            else {
                throw Problem(
                    .conflict,
                    "the place \"\(place.name)\" is in the file; take it over first (Settings, Places), or change it there"
                )
            }
            guard !receivers.isEmpty else { return .remove(.place, place.name) }
            values["receivers"] = .array(receivers.map(JSONValue.string))
            return .replace(place.name, by: try ItemChanges.item(.place, .object(values)))
        }
        let former = places.first { $0.receivers.contains(receiver) }
        guard former?.name != wanted else { return [] }
        var moves: [ItemChange] = []
        if let former { moves.append(try change(former, to: former.receivers.filter { $0 != receiver })) }
        if let wanted {
            if let place = places.first(where: { $0.name == wanted }) {
                moves.append(try change(place, to: place.receivers + [receiver]))
            } else {
                let settings = JSONValue.object(["name": .string(wanted), "receivers": .array([.string(receiver)])])
                moves.append(.add(try ItemChanges.item(.place, settings)))
            }
        }
        return moves
    }
}
