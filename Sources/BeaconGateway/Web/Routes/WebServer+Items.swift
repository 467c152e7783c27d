import BeaconDelivery
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

/// What is configured, in the file and here: regions, places, named beacons.
extension WebServer {
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

    func addItems(to router: RouterGroup<WebContext>) {
        router.get("regions") { _, _ in
            try Response.json(Regions(regions: await gateway.regionValues, unused: await gateway.unusedItems(.region)))
        }
        router.get("places") { _, _ in
            let value = await gateway.placesValue
            return try Response.json(
                Places(places: value.places, beacons: value.beacons, unused: await gateway.unusedItems(.place)))
        }
        router.get("registered-beacons") { _, _ in
            try Response.json(
                Beacons(beacons: await gateway.registeredBeacons, unused: await gateway.unusedItems(.beacon)))
        }
        addChanges(of: .region, at: "regions", to: router) { name in
            await gateway.regionValues.first { $0.name == name }
        }
        addChanges(of: .place, at: "places", to: router) { name in
            await gateway.placesValue.places.first { $0.name == name }
        }
        addChanges(of: .beacon, at: "registered-beacons", to: router) { name in
            await gateway.registeredBeacons.first { $0.name == name }
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
            if !change.changes.isEmpty { try await make(.several(change.changes)) }
            return try Response.json(change.counts)
        }
    }

    /// Adds the ways to add, replace and remove items of a kind.
    ///
    /// - Parameter value: returns an item as the list has it.
    func addChanges<Value: Encodable & Sendable>(
        of kind: ConfigurationItem.Kind, at path: String, to router: RouterGroup<WebContext>,
        value: @escaping @Sendable (String) async -> Value?
    ) {
        @Sendable func answer(_ name: String, _ status: HTTPResponse.Status) async throws -> Response {
            guard let value = await value(name) else { throw Problem(.notFound, "it was removed meanwhile") }
            return try Response.json(value, status: status)
        }
        router.post(RouterPath(path)) { request, _ in
            var request = request
            let item = try Self.item(kind, try await request.value(JSONValue.self))
            try await make(.add(item))
            return try await answer(item.name, .created)
        }
        router.put(RouterPath(path + "/{name}")) { request, context in
            var request = request
            let item = try Self.item(kind, try await request.value(JSONValue.self))
            try await make(.replace(try context.name("name"), by: item))
            return try await answer(item.name, .ok)
        }
        router.delete(RouterPath(path + "/{name}")) { _, context in
            try await make(.remove(kind, try context.name("name")))
            return Response(status: .noContent)
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
                let (configuration, revision) = try await state.apply(
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

extension Gateway {
    /// Returns the items of the console that are not in use.
    func unusedItems(_ kind: ConfigurationItem.Kind) -> [UnusedItemValue] {
        configuration.items.compactMap { item in
            guard item.kind == kind, let fault = item.fault else { return nil }
            return UnusedItemValue(name: item.name, settings: item.settings, reason: fault)
        }
    }

    /// Returns where an item that is in use is configured, and how.
    func item(_ kind: ConfigurationItem.Kind, _ name: String) -> (origin: String, settings: JSONValue) {
        let item = configuration.items.first { $0.kind == kind && $0.name == name && $0.fault == nil }
        return (item?.origin.rawValue ?? "file", item?.shownSettings ?? .object(["name": .string(name)]))
    }

    /// The beacons that have names, in the order of the configuration.
    var registeredBeacons: [RegisteredBeaconValue] {
        configuration.beacons.map { beacon in
            let (origin, settings) = item(.beacon, beacon.name)
            return RegisteredBeaconValue(
                uuid: beacon.identity.uuid.description, major: Int(beacon.identity.major),
                minor: Int(beacon.identity.minor), name: beacon.name, place: beacon.place,
                attributes: beacon.attributes, origin: origin, settings: settings)
        }
    }
}
