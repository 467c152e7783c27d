import BeaconEngine
import BeaconModel
import BeaconSupport

/// A floor with rooms and receivers, for which ``run(seed:shouldStop:)`` predicts how right places will be.
///
/// The initializers check it, so that each survey can run.
package struct RoomSurvey: Sendable {
    /// A receiver at a fixed position.
    package struct Receiver: Hashable, Sendable {
        /// The user's name for it.
        package var name: String

        /// Its position, with the height.
        package var position: Point

        /// The name of the place that it belongs to; nil for the room that it is in.
        package var place: String?

        /// How much its readings differ from other receivers', in dB.
        package var gain: Double

        /// Creates a receiver.
        package init(name: String, position: Point, place: String? = nil, gain: Double = 0) {
            self.name = name
            self.position = position
            self.place = place
            self.gain = gain
        }
    }

    /// The height of tags, and of a receiver of which no height is known, in meters.
    package static let usualHeight = 1.0

    /// The maximum numbers of rooms and receivers, and of their product with the walls, which bounds the work.
    package static let maximumRooms = 50
    package static let maximumReceivers = 64
    private static let maximumWork = 200_000

    /// How far outside a room a receiver may be, in meters: on or in the wall.
    private static let wallThickness = 0.3

    /// The seconds in each room, the speed of the walker in meters per second, and the longest pause in seconds.
    private static let stay = 120.0
    private static let speed = 0.8
    private static let longestPause = 10.0

    let rooms: [RoomOutline]
    private let walls: [Wall]
    private var receivers: [(plan: ReceiverPlan, room: Int)]
    private let environment: Environment
    private let beacon: BeaconPlan
    private let bodyLoss: Double
    private let tagHeight: Double
    private let grid: FloorGrid

    /// The walk of a scenario's person, and its duration in seconds; nil for random walks.
    private let ownWalk: (walk: Walk, duration: Double)?

    /// Creates the survey of a floor without a scenario file.
    ///
    /// - Parameters:
    ///   - rooms: the rooms, with the names of places.
    ///   - walls: the walls.
    ///   - receivers: the receivers.
    /// - Throws: ``ScenarioError``, with places such as `rooms[1]` and `receivers[2]`.
    package init(rooms: [RoomOutline], walls: [Wall], receivers: [Receiver]) throws {
        try self.init(
            rooms: rooms, walls: walls, receivers: receivers, environment: Environment(), beacon: nil, walker: nil,
            duration: 0, tagHeight: Self.usualHeight)
    }

    /// Creates the survey of a scenario's floor.
    ///
    /// - Parameters:
    ///   - scenario: a scenario with rooms. Its first beacon tells how tags send. If a person carries it, that person's
    ///     walk is used instead of random ones.
    ///   - tagHeight: the height of tags above the plan, in meters, in random walks.
    /// - Throws: ``ScenarioError``.
    package init(_ scenario: Scenario, tagHeight: Double = usualHeight) throws {
        guard !scenario.rooms.isEmpty else {
            throw ScenarioError(
                .missingKey, at: "rooms",
                "is missing; write a list of rooms, [{\"name\": …, \"polygon\": [[x, y], …]}, …]")
        }
        let receivers = try scenario.receivers.enumerated().map { index, receiver in
            guard case .fixed(let position) = receiver.placement else {
                throw ScenarioError(
                    .invalidValue, at: "receivers[\(index)]",
                    "\"\(receiver.name)\" is carried by a person; give it a position instead")
            }
            return Receiver(name: receiver.name, position: position, gain: receiver.gain)
        }
        var walker: Person?
        if case .carried(let person)? = scenario.beacons.first?.placement { walker = scenario.people[person] }
        try self.init(
            rooms: scenario.rooms, walls: scenario.walls, receivers: receivers, environment: scenario.environment,
            beacon: scenario.beacons.first, walker: walker, duration: scenario.duration, tagHeight: tagHeight)
    }

    private init(
        rooms: [RoomOutline], walls: [Wall], receivers: [Receiver], environment: Environment, beacon: BeaconPlan?,
        walker: Person?, duration: Double, tagHeight: Double
    ) throws {
        guard 2...Self.maximumRooms ~= rooms.count else {
            throw ScenarioError(
                .outOfRange, at: "rooms", "has \(rooms.count) entries; write 2 to \(Self.maximumRooms) rooms")
        }
        for (index, room) in rooms.enumerated() where rooms[..<index].contains(where: { $0.name == room.name }) {
            throw ScenarioError(
                .duplicateName, at: "rooms[\(index)]",
                "\"\(room.name)\" has the name of another room; choose a different one")
        }
        guard 1...Self.maximumReceivers ~= receivers.count else {
            throw ScenarioError(
                .outOfRange, at: "receivers",
                "has \(receivers.count) entries; write 1 to \(Self.maximumReceivers) receivers")
        }
        guard rooms.count * receivers.count * max(1, walls.count) <= Self.maximumWork else {
            throw ScenarioError(
                .tooLarge, at: "walls",
                "make too much work: \(rooms.count) rooms, \(receivers.count) receivers and \(walls.count) walls; plan a "
                    + "part of the building")
        }
        self.rooms = rooms
        self.walls = walls
        self.environment = environment
        bodyLoss = walker?.bodyLoss ?? 0
        ownWalk = walker.map { ($0.walk, duration) }
        self.tagHeight = tagHeight
        self.beacon = BeaconPlan(
            key: "tag", identity: BeaconIdentity(uuid: ProximityUUID(high: 0, low: 1), major: 0, minor: 1),
            localName: nil, services: [], measuredPower: beacon?.measuredPower ?? IBeaconFrame.defaultMeasuredPower,
            powerOffset: beacon?.powerOffset ?? 0, placement: .carried(0), interval: beacon?.interval ?? 250_000_000,
            jitter: beacon?.jitter ?? 10_000_000, addressing: .drawn, onTimes: .always)
        grid = try FloorGrid(rooms: rooms, walls: walls, path: "rooms")
        self.receivers = try receivers.enumerated().map { index, receiver in
            try Self.numbered(receiver, in: rooms, path: "receivers[\(index)]")
        }
        guard let walker else { return }
        let seconds = stride(from: 0, through: duration, by: 1)
        for (index, room) in rooms.enumerated()
        where !seconds.contains(where: { room.contains(walker.walk.position(at: $0).point) }) {
            throw ScenarioError(
                .invalidValue, at: "rooms[\(index)]",
                "\"\(room.name)\" is not visited by \"\(walker.name)\", who carries the first beacon; add it to the walk, or "
                    + "put the beacon at a position for random walks")
        }
    }

    /// True if all runs have the walk of a person in the scenario.
    package var hasOwnWalk: Bool { ownWalk != nil }

    /// Returns the survey with one more receiver.
    ///
    /// - Throws: ``ScenarioError`` if it is in no room.
    package func adding(_ receiver: Receiver) throws -> RoomSurvey {
        var other = self
        other.receivers.append(try Self.numbered(receiver, in: rooms, path: "the receiver"))
        return other
    }

    /// Returns the name of the room at a position; nil outside all rooms.
    package func room(at position: Point) -> String? { Self.room(at: position, in: rooms).map { rooms[$0].name } }

    private static func numbered(
        _ receiver: Receiver, in rooms: [RoomOutline], path: String
    ) throws -> (plan: ReceiverPlan, room: Int) {
        let room =
            if let place = receiver.place { rooms.firstIndex { $0.name == place } } else {
                room(at: receiver.position, in: rooms)
            }
        guard let room else {
            throw ScenarioError(
                .invalidValue, at: path,
                "\"\(receiver.name)\" is in no room; move it into one, or draw the room around it")
        }
        return (ReceiverPlan(name: receiver.name, placement: .fixed(receiver.position), gain: receiver.gain), room)
    }

    /// Returns the room at a position, or else the one whose wall it is on.
    private static func room(at position: Point, in rooms: [RoomOutline]) -> Int? {
        if let inside = rooms.firstIndex(where: { $0.contains(position) }) { return inside }
        let nearest = rooms.indices.min {
            rooms[$0].distanceToEdge(from: position) < rooms[$1].distanceToEdge(from: position)
        }
        return nearest.flatMap { rooms[$0].distanceToEdge(from: position) <= wallThickness ? $0 : nil }
    }
}

extension RoomSurvey {
    /// Walks through the rooms, and compares the rooms with the places that beacond would report.
    ///
    /// - Parameters:
    ///   - seed: the seed of the walk and of the air. Surveys with other receivers have the same walk, and the same air
    ///     at the receivers that they share.
    ///   - shouldStop: called once a second of the walk; return true to end early.
    /// - Returns: the result; nil after an early end.
    package func run(seed: UInt64, shouldStop: () -> Bool = { false }) -> RoomRun? {
        guard let (walk, duration) = ownWalk ?? randomWalk(seed: seed, shouldStop: shouldStop) else { return nil }
        let person = Person(name: "walker", walk: walk, bodyLoss: bodyLoss)
        let scenario = Scenario(
            name: "survey", summary: "", seed: seed, duration: duration, environment: environment, walls: walls,
            rooms: rooms, people: [person], receivers: receivers.map(\.plan), beacons: [beacon], devices: [], crowds: []
        )
        var broadcast = Broadcast(scenario, receivers: scenario.receivers)
        let medium = Medium(environment: environment, walls: walls)
        var map = PlaceMap(placeCount: rooms.count, receivers: receivers.map(\.room))
        map.reportsEachSecond = true
        var configuration = EngineConfiguration()
        configuration.maximumTrackedBeacons = receivers.count
        configuration.hashSeed = seed
        var engine = Engine(configuration: configuration)
        engine.startLocating(map, [nil])
        engine.advance(to: ScenarioSource.start)
        for index in receivers.indices { engine.setReceiver(ReceiverID(UInt16(index)), of: index) }
        var run = RoomRun(rooms: rooms.count)
        let end = Int64(duration * 1_000_000_000)
        while let time = broadcast.nextTime, time < end {
            broadcast.transmit(through: medium) { heard, _ in
                engine.receive(
                    Sighting(
                        time: ScenarioSource.start.advanced(by: time), receiver: ReceiverID(UInt16(heard.receiver)),
                        address: heard.report.address, identity: beacon.identity, measuredPower: beacon.measuredPower,
                        rssi: heard.report.rssi))
            }
            engine.advance(upTo: ScenarioSource.start.advanced(by: time))
            guard engine.hasEvents else { continue }
            if shouldStop() { return nil }
            for case .located(let second, let beacons) in engine.drainEvents() {
                let position = walk.position(at: Double(second.nanoseconds - ScenarioSource.start.nanoseconds) / 1e9)
                // Between rooms, in a door, nothing is right or wrong.
                guard let truth = rooms.firstIndex(where: { $0.contains(position.point) }) else { continue }
                if case .place(let reported)? = beacons.first?.whereabouts {
                    run.add(truth, reported: reported)
                } else {
                    run.add(truth, reported: nil)
                }
            }
        }
        return run
    }

    /// Returns a walk, or nil after an early end: two minutes in each room, from spot to spot with pauses, in a random
    /// order of rooms.
    private func randomWalk(seed: UInt64, shouldStop: () -> Bool) -> (walk: Walk, duration: Double)? {
        var random = SplitMix64(seed: seed, stream: "walk through the rooms")
        func stop(in room: Int) -> Int { grid.stops[room][Int(random.below(UInt64(grid.stops[room].count)))] }
        var order = Array(rooms.indices)
        for index in order.indices.dropFirst() { order.swapAt(index, Int(random.below(UInt64(index + 1)))) }
        var point = stop(in: order[0])
        var walk = Walk(start: grid.position(of: point, height: tagHeight))
        for room in order {
            var leaving: Double?
            while leaving.map({ walk.end < $0 }) ?? true {
                // A way through a large floor takes a while to find.
                if shouldStop() { return nil }
                let next = stop(in: room)
                for corner in grid.way(from: point, to: next) {
                    walk.go(to: grid.position(of: corner, height: tagHeight), speed: Self.speed)
                }
                point = next
                // The stay begins with the first spot.
                leaving = leaving ?? walk.end + Self.stay
                walk.go(to: walk.destination, taking: Self.longestPause * random.unit())
            }
        }
        return (walk, walk.end)
    }
}
