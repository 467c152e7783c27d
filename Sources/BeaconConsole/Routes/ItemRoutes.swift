import BeaconConfiguration
import BeaconDelivery
import BeaconGateway
import BeaconModel
import Foundation
import HTTPTypes
import Hummingbird

/// An item of the console that is not in use.
struct UnusedItemValue: Codable, Sendable {
    var name: String
    var settings: JSONValue
    /// The reason why it is not in use.
    var reason: String
}

/// The routes of regions, places and named beacons from the file and the console.
struct ItemRoutes: Sendable {
    let gateway: Gateway
    let changes: ItemChanges

    private struct Regions: Codable, Sendable {
        var regions: [RegionValue]
        var unused: [UnusedItemValue]
    }

    private struct Places: Codable, Sendable {
        var places: [PlacesValue.Place]
        var beacons: [PlacesValue.Beacon]
        var unused: [UnusedItemValue]
    }

    private struct RegisteredBeacons: Codable, Sendable {
        var beacons: [RegisteredBeaconValue]
        var unused: [UnusedItemValue]
    }

    func add(to router: InterfaceRouter) {
        router.on(
            .get, "regions", Operation("listRegions", .sensing, "List the regions and their states", "The regions.")
        ) { _, _ in
            Regions(regions: await gateway.regionValues, unused: await gateway.configuration.unusedItems(.region))
        }
        router.on(
            .get, "places", Operation("listPlaces", .sensing, "List the places and the beacons in them", "The places.")
        ) { _, _ in
            let value = await gateway.placesValue
            return Places(
                places: value.places, beacons: value.beacons,
                unused: await gateway.configuration.unusedItems(.place))
        }
        router.on(
            .get, "registered-beacons",
            Operation("listRegisteredBeacons", .sensing, "List the named beacons", "The beacons.")
        ) { _, _ in
            RegisteredBeacons(
                beacons: await gateway.configuration.registeredBeacons,
                unused: await gateway.configuration.unusedItems(.beacon))
        }
        changes.add(of: .region, .sensing, "Region", "region", at: "regions", to: router) { name in
            await gateway.regionValues.first { $0.name == name }
        }
        changes.add(of: .place, .sensing, "Place", "place", at: "places", to: router) { name in
            await gateway.placesValue.places.first { $0.name == name }
        }
        changes.add(of: .beacon, .sensing, "RegisteredBeacon", "named beacon", at: "registered-beacons", to: router) {
            name in
            await gateway.configuration.registeredBeacon(name)
        }
        router.respond(
            .get, "registered-beacons/export",
            Operation(
                "exportRegisteredBeacons", .sensing, "Export the named beacons as a table",
                "The columns are name, uuid, major, minor, place and one for each attribute. Apostrophes keep spreadsheets from reading formulas.",
                answers: [.text("text/csv")], headers: ["Content-Disposition"])
        ) { _, _ in
            Response(
                status: .ok,
                headers: [
                    .contentType: "text/csv; charset=utf-8", .cacheControl: "no-store",
                    .contentDisposition: "attachment; filename=\"beacons.csv\"",
                ],
                body: .init(byteBuffer: .init(string: BeaconTable.text(await gateway.configuration.beacons))))
        }
        router.on(
            .post, "registered-beacons/import",
            Operation(
                "importRegisteredBeacons", .sensing, "Import a table of beacons", "The numbers of changes.",
                details:
                    "Imports the whole table or nothing. Its first line names the columns: name, uuid, major, minor, optionally place and tracker, and attributes. At most 10,000 lines follow. Separators are commas, semicolons or tabs. The keys of faults are lines, such as \"line 3\".",
                parameters: [
                    .query(
                        "replace",
                        "true: also removes beacons of the console that are not in the table; anything else: removes none.",
                        ["type": "string", "default": "false"], example: "true")
                ], errors: [.unknown, .taken],
                bodies: [
                    .text(
                        "text/csv",
                        example:
                            "name,uuid,major,minor,place,floor\r\nshelf,f7826da6-4fa2-4e98-8024-bc5b71e0893e,1,7,kitchen,2\r\n"
                    )
                ])
        ) { request, _ in
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
