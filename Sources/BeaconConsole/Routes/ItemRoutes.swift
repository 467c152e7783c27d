import BeaconConfiguration
import BeaconDelivery
import BeaconGateway
import BeaconModel
import Foundation
import HTTPTypes
import Hummingbird

/// An item that was added in the console and is not in use.
struct UnusedItemValue: Encodable, Sendable {
    var name: String
    var settings: JSONValue
    /// Why it is not in use.
    var reason: String
}

/// Routes of regions, places and named beacons, of the file and of the console.
struct ItemRoutes: Sendable {
    let gateway: Gateway
    let changes: ItemChanges

    private struct Regions: Encodable {
        var regions: [RegionValue]
        var unused: [UnusedItemValue]
    }

    private struct Places: Encodable {
        var places: [PlacesValue.Place]
        var beacons: [PlacesValue.Located]
        var unused: [UnusedItemValue]
    }

    private struct Beacons: Encodable {
        var beacons: [RegisteredBeaconValue]
        var unused: [UnusedItemValue]
    }

    func add(to router: RouterGroup<WebContext>) {
        router.get("regions") { _, _ in
            try Response.json(
                Regions(regions: await gateway.regionValues, unused: await gateway.configuration.unusedItems(.region)))
        }
        router.get("places") { _, _ in
            let value = await gateway.placesValue
            return try Response.json(
                Places(
                    places: value.places, beacons: value.beacons,
                    unused: await gateway.configuration.unusedItems(.place)))
        }
        router.get("registered-beacons") { _, _ in
            try Response.json(
                Beacons(
                    beacons: await gateway.configuration.registeredBeacons,
                    unused: await gateway.configuration.unusedItems(.beacon)))
        }
        changes.add(of: .region, at: "regions", to: router) { name in
            await gateway.regionValues.first { $0.name == name }
        }
        changes.add(of: .place, at: "places", to: router) { name in
            await gateway.placesValue.places.first { $0.name == name }
        }
        changes.add(of: .beacon, at: "registered-beacons", to: router) { name in
            await gateway.configuration.registeredBeacon(name)
        }
        router.get("registered-beacons/export") { _, _ in
            Response(
                status: .ok,
                headers: [
                    .contentType: "text/csv; charset=utf-8", .cacheControl: "no-store",
                    .contentDisposition: "attachment; filename=\"beacons.csv\"",
                ],
                body: .init(byteBuffer: .init(string: BeaconTable.text(await gateway.configuration.beacons))))
        }
        router.post("registered-beacons/import") { request, _ in
            let media = request.headers[.contentType]?.split(separator: ";").first.map { $0.lowercased() }
            guard media == "text/csv" else {
                throw Problem(.unsupportedMediaType, "send a table, with the header Content-Type: text/csv")
            }
            var request = request
            let body = try await request.collectBody(upTo: BeaconTable.largest)
            let replaces = request.parameter("replace") == "true"
            let change = try BeaconTable.change(
                Data(body.readableBytesView), in: await gateway.configuration, replaces: replaces)
            if !change.changes.isEmpty { try await changes.make(.several(change.changes)) }
            return try Response.json(change.counts)
        }
    }
}

extension GatewayConfiguration {
    /// Returns the items of the console that are not in use.
    func unusedItems(_ kind: ConfigurationItem.Kind) -> [UnusedItemValue] {
        items.compactMap { item in
            guard item.kind == kind, let fault = item.fault else { return nil }
            return UnusedItemValue(name: item.name, settings: item.settings, reason: fault)
        }
    }
}
