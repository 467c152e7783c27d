import BeaconConfiguration
import BeaconModel
import BeaconSupport

// ESPresense-companion: config.yaml (src/Models/Config.cs and src/config.example.yaml of the project).

extension ImportedHouse {
    /// Adds what the configuration of ESPresense-companion says.
    mutating func addCompanion(_ content: JSONValue) {
        hasCompanion = true
        var keys = ImportedKeys(content)
        keys.section("mqtt") { readBroker(&$0) }
        sources.append(Source(name: "espresense", isAtBroker: true))
        let (flipsX, flipsY) = keys.section("map") { map -> (Bool, Bool) in
            lose(
                map.present(["wall_thickness", "wall_color", "wall_opacity"]), .plan,
                "The console draws walls in its own way.")
            return (map.flag("flip_x") ?? false, map.flag("flip_y") ?? true)
        }
        readTimeouts(&keys)
        let outer = keys.take("bounds").flatMap(Self.bounds)
        var floors: [Floor] = []
        keys.items("floors") { floors.append(readFloor(&$0, outer)) }
        var nodes: [Node] = []
        keys.items("nodes") { node in readNode(&node).map { nodes.append($0) } }
        place(nodes, on: floors)
        plan = plan(of: floors, nodes, flipsX: flipsX, flipsY: flipsY)
        keys.items("devices") { readDevice(&$0) }
        keys.items("exclude_devices") { device in
            let id = device.text("id") ?? device.text("name") ?? ""
            _ = device.present(["id", "name"])
            lose(
                ["exclude_devices (\(Self.shown(id)))"], .beacons,
                "beacond follows only what is listed here, so that nothing has to be excluded.")
        }
        lose(
            keys.present(["locators", "optimization", "filtering"]), .places,
            "beacond finds the room by its own rules, without coordinates: docs/places.md.")
        lose(keys.present(["gps"]), .plan, "beacond has rooms, and no positions on the earth.")
        lose(
            keys.present(["history", "device_retention"]), .head,
            "The console keeps the history of named beacons: history-age and history-entries under web.")
        noteEntities()
        finish(keys)
    }

    /// Reads the broker.
    private mutating func readBroker(_ keys: inout ImportedKeys) {
        let host = keys.text("host")
        if host == nil {
            note(
                .sources,
                "config.yaml names no broker, so Companion used that of Home Assistant. Write its name at both \"host\", "
                    + "and a user if the broker requires one.")
        }
        var found = GuidedStart.Choice.Broker(host: host ?? "homeassistant.local")
        found.port = port(&keys)
        if keys.flag("ssl") == true { found.tls = true }
        (found.user, found.password) = (keys.text("username"), keys.text("password"))
        use(found)
        discoveryPrefix = keys.text("discovery_topic")
        lose(
            keys.present(["client_id"]), .destinations,
            "Each program needs its own client id, and beacond makes one up: client-id.")
    }

    private mutating func readTimeouts(_ keys: inout ImportedKeys) {
        useTimeout(keys.number("away_timeout"))
        lose(
            keys.present(["timeout"]), .places,
            "A receiver's level fades by itself after 3 s without an advert: docs/places.md.")
    }

    /// A floor with its rooms.
    private struct Floor {
        var id: String
        var name: String
        /// The least and the greatest corner.
        var bounds: [[Double]]?
        var rooms: [BuildingPlan.Room]
    }

    /// A board with ESPresense.
    private struct Node {
        var id: String
        var name: String
        var point: [Double]?
        var floors: [String]
    }

    private static func bounds(_ value: JSONValue) -> [[Double]]? {
        guard case .array(let corners) = value else { return nil }
        let points = corners.compactMap(\.importedPoint)
        guard points.count == 2 else { return nil }
        return [zip(points[0], points[1]).map { min($0, $1) }, zip(points[0], points[1]).map { max($0, $1) }]
    }

    private mutating func readFloor(_ keys: inout ImportedKeys, _ outer: [[Double]]?) -> Floor {
        let name = keys.text("name")
        let id = keys.text("id") ?? Self.slug(name ?? "floor")
        var floor = Floor(
            id: id, name: name ?? id, bounds: keys.take("bounds").flatMap(Self.bounds) ?? outer, rooms: [])
        keys.items("rooms") { room in
            let id = room.text("id")
            let name = room.text("name") ?? id ?? "room"
            lose(room.present(["color"]), .plan, "The console colors rooms by what they hear.")
            guard case .array(let corners)? = room.take("points") else { return }
            var polygon = corners.compactMap { $0.importedPoint.map { Array($0.prefix(2)) } }
            if polygon.count > 1, polygon.first == polygon.last { polygon.removeLast() }
            floor.rooms.append(BuildingPlan.Room(name: name, polygon: polygon))
        }
        return floor
    }

    private mutating func readNode(_ keys: inout ImportedKeys) -> Node? {
        let name = keys.text("name")
        guard let id = keys.text("id") ?? name.map(Self.slug) else { return nil }
        let node = Node(
            id: id, name: name ?? id, point: keys.take("point")?.importedPoint,
            floors: keys.list("floors").compactMap(\.scalarText))
        if keys.flag("stationary") == false {
            let moving = JSONValue.string(id)
            if case .array(let others)? = sources.last?.settings["moves"] {
                sources[sources.count - 1].settings["moves"] = .array(others + [moving])
            } else {
                sources[sources.count - 1].settings["moves"] = .array([moving])
            }
        }
        guard keys.flag("enabled") ?? true else {
            lose(["nodes (\(node.name))"], .places, "It is not enabled. beacond hears it anyway, if it publishes.")
            return nil
        }
        return node
    }

    /// Puts each node into the room that holds it.
    private mutating func place(_ nodes: [Node], on floors: [Floor]) {
        for node in nodes {
            let own = node.floors.isEmpty ? floors : node.floors.compactMap { id in floors.first { $0.id == id } }
            let found = own.lazy.compactMap { floor in
                floor.rooms.first { room in node.point.map { Self.contains(room.polygon, $0) } ?? false }
                    .map { (floor, $0) }
            }.first
            guard let (floor, room) = found else {
                lose(
                    ["nodes (\(node.name))"], .places,
                    "No room holds its point. Add \(node.id) to the receivers of the room that it stands in.")
                continue
            }
            place(node.id, in: Self.name(of: room, on: floor, among: floors))
        }
    }

    /// Returns the name of a room's place: with its floor, if another one has a room of this name.
    private static func name(of room: BuildingPlan.Room, on floor: Floor, among floors: [Floor]) -> String {
        let isUnique = floors.flatMap(\.rooms).count { $0.name == room.name } == 1
        return placeName(isUnique ? room.name : "\(room.name) (\(floor.name))")
    }

    /// Returns true if a polygon contains a point: a ray from it crosses the edges an odd number of times.
    private static func contains(_ polygon: [[Double]], _ point: [Double]) -> Bool {
        var isInside = false
        for (index, corner) in polygon.enumerated() {
            let before = polygon[index == 0 ? polygon.count - 1 : index - 1]
            guard (corner[1] > point[1]) != (before[1] > point[1]) else { continue }
            let crossing = (before[0] - corner[0]) * (point[1] - corner[1]) / (before[1] - corner[1]) + corner[0]
            if point[0] < crossing { isInside.toggle() }
        }
        return isInside
    }

    /// Returns the plan of the first floor, with all receivers. Its origin is the upper left corner.
    private mutating func plan(of floors: [Floor], _ nodes: [Node], flipsX: Bool, flipsY: Bool) -> BuildingPlan? {
        guard let floor = floors.first, let bounds = floor.bounds else {
            lose(
                nodes.isEmpty ? [] : ["nodes.point"], .plan,
                "The plan needs the bounds of a floor. Put the receivers on it in the console: docs/console.md.")
            return nil
        }
        func placed(_ point: [Double]) -> [Double] {
            let x = flipsX ? bounds[1][0] - point[0] : point[0] - bounds[0][0]
            let y = flipsY ? bounds[1][1] - point[1] : point[1] - bounds[0][1]
            let height = point.count > 2 ? [point[2] - (bounds[0].count > 2 ? bounds[0][2] : 0)] : []
            // Centimeters are enough, and subtraction leaves rests.
            return ([x, y] + height).map { ($0 * 100).rounded() / 100 }
        }
        var plan = BuildingPlan()
        (plan.width, plan.height) = (bounds[1][0] - bounds[0][0], bounds[1][1] - bounds[0][1])
        for node in nodes { node.point.map { plan.receivers[node.id] = placed($0) } }
        plan.rooms = floor.rooms.filter { $0.polygon.count >= 3 }.map { room in
            BuildingPlan.Room(
                name: Self.name(of: room, on: floor, among: floors), polygon: room.polygon.map(placed))
        }
        if let mistake = plan.mistake {
            lose(["floors (\(floor.name))"], .plan, "The plan cannot hold it: \(mistake.key) \(mistake.what).")
            return nil
        }
        lose(
            floors.dropFirst().filter { !$0.rooms.isEmpty }.map { "floors (\($0.name))" }, .plan,
            "The plan has one floor, so it has the rooms of \(floor.name) only, and the receivers of all floors.")
        if flipsY {
            note(.plan, "The y axis is flipped: Companion's origin is at the bottom, and that of the plan at the top.")
        }
        return plan
    }

    private mutating func readDevice(_ keys: inout ImportedKeys) {
        let (id, name) = (keys.text("id"), keys.text("name"))
        guard let id else {
            return lose(
                ["devices (\(name ?? ""))"], .beacons,
                name?.contains("*") == true
                    ? Self.wildcards
                    : "Companion knows it by its name alone. Import the retained topics, too; they have its id.")
        }
        guard let device = ImportedDevice(id) else {
            let beacons = id.lowercased().hasPrefix("ibeacon:") && id.hasSuffix("*") ? id.dropFirst(8).dropLast() : ""
            let uuid = String(beacons.hasSuffix("-") ? beacons.dropLast() : beacons)
            if let constraint = ImportedDevice.constraint(uuid) {
                return regions.append(Region(name: name ?? "beacons \(regions.count + 1)", constraint: constraint))
            }
            return lose(["devices (\(Self.shown(id)))"], .beacons, id.contains("*") ? Self.wildcards : Self.otherIDs)
        }
        add(companionBeacon(device, id: id, name: name))
    }

    private static let wildcards =
        "beacond has no wildcards: it follows what has a name here. Import the retained topics, too: docs/import.md."
    static let otherIDs =
        "beacond recognizes iBeacons, phones by their key, and fixed addresses; this id is none of them."

    /// Returns an id without the key that it may contain.
    static func shown(_ id: String) -> String {
        id.lowercased().hasPrefix("irk:") && !id.contains("*") ? "irk:…" : id
    }

    /// Returns a device that Companion announced to Home Assistant, with the unique ids of its entities.
    func companionBeacon(_ device: ImportedDevice, id: String, name: String?) -> Beacon {
        var beacon = Beacon(device: device, name: name, isTracker: true)
        var id = id
        if case .beacon(let identity) = device, id.lowercased().hasPrefix("ibeacon:") {
            // As ESPresense writes it.
            id = "iBeacon:\(identity.uuid)-\(identity.major)-\(identity.minor)"
        }
        // Such an id contains the key, which everyone at the broker could read.
        if !id.lowercased().hasPrefix("irk:") {
            // src/Models/AutoDiscovery.cs
            beacon.uniqueIDs = ["device": "espresense-\(id)", "tracker": "espresense-companion-\(id)"]
        }
        return beacon
    }

    /// Says what to do before the first start, so that Home Assistant keeps the entities.
    mutating func noteEntities() {
        guard beacons.contains(where: { !$0.uniqueIDs.isEmpty }) else { return }
        note(
            .beacons,
            "With unique-ids, Home Assistant keeps the entities of the former program with their ids, names, areas and "
                + "history. Stop that program before beacond starts, and hand its announcements over: docs/import.md.")
    }
}
