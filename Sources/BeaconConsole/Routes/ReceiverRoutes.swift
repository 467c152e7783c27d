import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import HTTPTypes
import Hummingbird

/// The routes of receivers: their list, and the place of each.
struct ReceiverRoutes: Sendable {
    let gateway: Gateway
    let changes: ItemChanges

    private struct PlaceRequest: Decodable, Sendable {
        /// The name of the place; nil or empty for none.
        var place: String?
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
