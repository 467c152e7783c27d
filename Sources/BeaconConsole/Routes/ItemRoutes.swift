import BeaconConfiguration
import BeaconDelivery
import BeaconGateway
import BeaconModel
import Foundation
import HTTPTypes
import Hummingbird

/// An item of the console that is not in use.
struct UnusedItemValue: Encodable, Sendable {
    var name: String
    var settings: JSONValue
    /// The reason why it is not in use.
    var reason: String
}

/// The routes of regions, places and named beacons from the file and the console.
struct ItemRoutes: Sendable {
    let gateway: Gateway
    let changes: ItemChanges

    private struct Regions: Encodable, Sendable {
        var regions: [RegionValue]
        var unused: [UnusedItemValue]
    }

    private struct Places: Encodable, Sendable {
        var places: [PlacesValue.Place]
        var beacons: [PlacesValue.Beacon]
        var unused: [UnusedItemValue]
    }

    private struct RegisteredBeacons: Encodable, Sendable {
        var beacons: [RegisteredBeaconValue]
        var unused: [UnusedItemValue]
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "regions") { _, _ in
            Regions(regions: await gateway.regionValues, unused: await gateway.configuration.unusedItems(.region))
        }
        router.on(.get, "places") { _, _ in
            let value = await gateway.placesValue
            return Places(
                places: value.places, beacons: value.beacons,
                unused: await gateway.configuration.unusedItems(.place))
        }
        router.on(.get, "registered-beacons") { _, _ in
            RegisteredBeacons(
                beacons: await gateway.registeredBeacons,
                unused: await gateway.configuration.unusedItems(.beacon))
        }
        changes.add(of: .region, at: "regions", to: router) { name in
            await gateway.regionValues.first { $0.name == name }
        }
        changes.add(of: .place, at: "places", to: router) { name in
            await gateway.placesValue.places.first { $0.name == name }
        }
        changes.add(of: .beacon, at: "registered-beacons", to: router) {
            name in
            await gateway.registeredBeacon(name)
        }
        router.respond(.get, "registered-beacons/export") { _, _ in
            Response(
                status: .ok,
                headers: [
                    .contentType: "text/csv; charset=utf-8", .cacheControl: "no-store",
                    .contentDisposition: "attachment; filename=\"beacons.csv\"",
                ],
                body: .init(
                    byteBuffer: .init(
                        string: BeaconTable.text(await gateway.configuration.beacons.filter { $0.tag == nil }))))
        }
        router.on(.post, "registered-beacons/import") { request, _ in
            let media = request.headers[.contentType]?.split(separator: ";").first.map { $0.lowercased() }
            guard media == "text/csv" || media == "application/octet-stream" else {
                throw Problem(.unsupportedMediaType, "send a table, with the header Content-Type: text/csv")
            }
            var request = request
            let body = try await request.collectBody(upTo: BeaconTable.largest)
            let replaces = request.parameter("replace") == "true"
            let change = try BeaconTable.change(
                Data(body.readableBytesView), in: await gateway.configuration, replaces: replaces)
            if !change.changes.isEmpty { try await changes.make(.several(change.changes)) }
            return change.counts
        }
    }
}

extension GatewayConfiguration {
    /// Returns the console's items that are not in use.
    func unusedItems(_ kind: ConfigurationItem.Kind) -> [UnusedItemValue] {
        items.compactMap { item in
            guard item.kind == kind, let fault = item.fault else { return nil }
            return UnusedItemValue(name: item.name, settings: item.settings, reason: fault)
        }
    }
}
