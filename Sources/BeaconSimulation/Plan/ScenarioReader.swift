import BeaconModel

/// A reader of scenario files, which reads each part before the parts that refer to it.
///
/// All its functions throw ``ScenarioError``.
struct ScenarioReader {
    private var people: [Person] = []
    private var uuid: ProximityUUID?

    /// 30 days. A simulation that counts nanoseconds in 64 bits could last for centuries, but no user needs that.
    private static let longest = 2_592_000.0

    /// Memory is proportional to senders times receivers.
    private static let maximumLinks = 1_000_000

    static let maximumSenders = 10_000
    private static let maximumReceivers = 1000
    private static let maximumPeople = 10_000
    private static let maximumWalls = 10_000
    private static let maximumStops = 10_000

    /// The default speed of people in meters per second: a comfortable pace (Bohannon, "Comfortable and maximum walking
    /// speed of adults", Age and Ageing 26, 1997).
    static let walkingSpeed = 1.4

    private static let speeds = 0.01...100.0

    /// Advertising intervals of Bluetooth 4, in seconds (Core Specification, Vol 6, Part B, 4.4.2.2).
    private static let intervals = 0.02...10.24

    /// The random delay between advertising events, in nanoseconds (Vol 6, Part B, 4.4.2.2.1: 0 to 10 ms).
    private static let advertisingDelay: Int64 = 10_000_000

    /// Reads a scenario.
    ///
    /// - Parameter isPart: true for a part of a shared air, which may have no end and no receivers.
    mutating func scenario(from file: inout ScenarioObject, isPart: Bool = false) throws -> Scenario {
        let name = try file.take("name")?.name() ?? "scenario"
        let summary = try file.take("description")?.text() ?? ""
        let seed = try file.take("seed")?.seed() ?? 1
        let durationValue =
            isPart ? file.take("duration") : try file.require("duration", "the scenario's duration in seconds")
        let duration = try durationValue?.number(in: 0.001...Self.longest, unit: "seconds") ?? .infinity
        uuid = try file.take("uuid")?.uuid()
        let environment = try environment(from: file.take("environment"))
        let walls = try file.take("walls")?.list(atMost: Self.maximumWalls).map(wall(from:)) ?? []
        let (rooms, roomWalls) = try self.rooms(from: file.take("rooms"), doors: file.take("doors"))
        for value in try file.take("people")?.list(atMost: Self.maximumPeople) ?? [] {
            try people.append(person(from: value))
        }
        let receiverList =
            isPart ? file.take("receivers") : try file.require("receivers", "a list with at least one receiver")
        let receivers = try receiverList.map(receivers(from:)) ?? []
        let beacons = try self.beacons(from: file.take("beacons"))
        let devices = try self.devices(from: file.take("devices"))
        let crowdList = file.take("crowds")
        let crowds = try self.crowds(from: crowdList)
        try file.finish()
        let senders = crowds.reduce(beacons.count + devices.count) { $0 + $1.count }
        guard senders <= Self.maximumSenders, senders * receivers.count <= Self.maximumLinks else {
            throw ScenarioError(
                .tooLarge, at: crowdList?.path ?? "beacons",
                "and beacons make \(senders) senders for \(receivers.count) receivers; use at most "
                    + "\(Self.maximumSenders) senders, and \(Self.maximumLinks) pairs of sender and receiver")
        }
        return Scenario(
            name: name, summary: summary, seed: seed, duration: duration, environment: environment,
            walls: walls + roomWalls, rooms: rooms, people: people, receivers: receivers, beacons: beacons,
            devices: devices, crowds: crowds)
    }

    private func environment(from value: ScenarioValue?) throws -> Environment {
        var environment = Environment()
        guard var object = try value?.object() else { return environment }
        let usual = environment
        environment.pathLossExponent = try object.take("pathLossExponent")?.number(in: 1...6)
        environment.shadowing = try object.take("shadowing")?.number(in: 0...20, unit: "dB") ?? usual.shadowing
        environment.shadowingDistance =
            try object.take("shadowingDistance")?.number(in: 0.01...10_000, unit: "meters") ?? usual.shadowingDistance
        environment.shadowingTime =
            try object.take("shadowingTime")?.number(in: 0.01...Self.longest, unit: "seconds")
        environment.drift = try object.take("drift")?.number(in: 0...20, unit: "dB") ?? usual.drift
        environment.driftTime =
            try object.take("driftTime")?.number(in: 0.01...Self.longest, unit: "seconds") ?? usual.driftTime
        environment.channelFading =
            try object.take("channelFading")?.number(in: 0...20, unit: "dB") ?? usual.channelFading
        if let value = object.take("ricianK") {
            environment.ricianK = value.isNull ? nil : try value.number(in: -20...60, unit: "dB, or null")
        }
        environment.loss = try object.take("loss")?.number(in: 0...1) ?? usual.loss
        environment.lossSpread = try object.take("lossSpread")?.number(in: 0...5) ?? usual.lossSpread
        environment.lossTime =
            try object.take("lossTime")?.number(in: 0.01...Self.longest, unit: "seconds") ?? usual.lossTime
        environment.sensitivity =
            try object.take("sensitivity")?.number(in: -127...20, unit: "dBm") ?? usual.sensitivity
        try object.finish()
        return environment
    }

    private func wall(from value: ScenarioValue) throws -> Wall {
        var object = try value.object()
        let start = try object.require("from", "where the wall begins, [x, y]").point()
        let end = try object.require("to", "where the wall ends, [x, y]").point()
        let loss = try object.take("loss")?.number(in: 0...200, unit: "dB") ?? Wall.usualLoss
        try object.finish()
        guard start != end else { throw value.invalid("begins where it ends; write two different places") }
        return Wall(start: start, end: end, loss: loss)
    }

    /// Reads the rooms, and the walls on their edges if there are doors.
    private func rooms(
        from list: ScenarioValue?, doors: ScenarioValue?
    ) throws -> (rooms: [RoomOutline], walls: [Wall]) {
        var rooms: [RoomOutline] = []
        for value in try list?.list(atMost: RoomSurvey.maximumRooms) ?? [] {
            var object = try value.object()
            let name = try object.require("name", "the room's name").name()
            let polygon = try object.require("polygon", "the room's corners, [[x, y], ...]")
            try object.finish()
            let corners = try polygon.list(atMost: 1000).map { try $0.point() }
            rooms.append(try RoomOutline(name: name, corners: corners, path: value.path))
        }
        guard let doors else { return (rooms, []) }
        let points = try doors.list(atMost: 1000).map { try $0.point() }
        return (rooms, try RoomOutline.walls(around: rooms, doors: points, loss: Wall.usualLoss, path: doors.path))
    }

    private func person(from value: ScenarioValue) throws -> Person {
        var object = try value.object()
        let nameValue = try object.require("name", "the person's name, for \"carriedBy\"")
        let name = try nameValue.name()
        guard !people.contains(where: { $0.name == name }) else {
            throw ScenarioError(
                .duplicateName, at: nameValue.path,
                "is \"\(name)\", which is another person's name; choose a different one")
        }
        let bodyLoss = try object.take("bodyLoss")?.number(in: 0...60, unit: "dB") ?? 0
        let speed = try object.take("speed")?.number(in: Self.speeds, unit: "meters per second") ?? Self.walkingSpeed
        let isRepeated = try object.take("repeat")?.flag() ?? false
        let stops = try object.require("walk", "a list of places, [[x, y], ...]")
        let walk = try walk(through: stops, speed: speed, isRepeated: isRepeated)
        try object.finish()
        return Person(name: name, walk: walk, bodyLoss: bodyLoss)
    }

    /// Reads a walk.
    ///
    /// - Parameter departure: its earliest time, in seconds after the start of the scenario.
    func walk(
        through value: ScenarioValue, speed: Double = walkingSpeed, isRepeated: Bool = false, from departure: Double = 0
    ) throws -> Walk {
        var walk: Walk?
        for stop in try value.list(atMost: Self.maximumStops) {
            guard case .object = stop.value else {
                let place = try stop.point()
                walk?.go(to: place, speed: speed)
                if walk == nil { walk = Walk(start: place, pause: departure) }
                continue
            }
            var object = try stop.object()
            let place = try object.require("to", "where to go, [x, y]").point()
            let pause = try object.take("pause")?.number(in: 0...Self.longest, unit: "seconds") ?? 0
            let ownSpeed = object.take("speed")
            let arrival = object.take("arrive")
            try object.finish()
            guard walk != nil else {
                if let early = ownSpeed ?? arrival {
                    throw ScenarioError(
                        .conflict, at: early.path,
                        "is not allowed for the first place, where the walk starts; remove it")
                }
                walk = Walk(start: place, pause: departure + pause)
                continue
            }
            if let arrival {
                if let ownSpeed {
                    throw ScenarioError(
                        .conflict, at: ownSpeed.path, "sets the same as \"arrive\"; remove one of them")
                }
                let time = try arrival.number(in: 0...Self.longest, unit: "seconds")
                let departure = walk?.end ?? 0
                guard time > departure else {
                    throw ScenarioError(
                        .outOfRange, at: arrival.path,
                        "is not later than the departure from the previous place,"
                            + " \(departure) s; write a later time")
                }
                walk?.go(to: place, taking: time - departure, pause: pause)
            } else {
                let speed = try ownSpeed?.number(in: Self.speeds, unit: "meters per second") ?? speed
                walk?.go(to: place, speed: speed, pause: pause)
            }
        }
        guard var walk else { throw value.invalid("is empty; write at least one place, [x, y]") }
        if isRepeated { walk.repeatForever(speed: speed) }
        return walk
    }

    /// Reads a position: `position` or `carriedBy`.
    func placement(from object: inout ScenarioObject) throws -> Placement {
        let position = object.take("position")
        let carrier = object.take("carriedBy")
        guard let carrier else {
            guard let position else {
                throw ScenarioError(
                    .missingKey, at: object.path(of: "position"),
                    "is missing; write a place, [x, y], or \"carriedBy\" with a person's name")
            }
            return .fixed(try position.point())
        }
        guard position == nil else {
            throw ScenarioError(
                .conflict, at: carrier.path, "excludes \"position\"; remove one of them")
        }
        let name = try carrier.text()
        guard let index = people.firstIndex(where: { $0.name == name }) else {
            throw ScenarioError(
                .unknownReference, at: carrier.path, "is \"\(name)\", who is not in \"people\"; check the name")
        }
        return .carried(index)
    }

    private func receivers(from list: ScenarioValue) throws -> [ReceiverPlan] {
        var receivers: [ReceiverPlan] = []
        for value in try list.list(atMost: Self.maximumReceivers) {
            var object = try value.object()
            let nameValue = object.take("name")
            let name = try nameValue?.name() ?? "hci\(receivers.count)"
            guard !receivers.contains(where: { $0.name == name }) else {
                throw ScenarioError(
                    .duplicateName, at: nameValue?.path ?? value.path,
                    "is \"\(name)\", which is another receiver's name; choose a different one")
            }
            let placement = try placement(from: &object)
            let gain = try object.take("gain")?.number(in: -60...60, unit: "dB") ?? 0
            try object.finish()
            receivers.append(ReceiverPlan(name: name, placement: placement, gain: gain))
        }
        guard !receivers.isEmpty else { throw list.invalid("is empty; write at least one receiver") }
        return receivers
    }

    private func beacons(from list: ScenarioValue?) throws -> [BeaconPlan] {
        var beacons: [BeaconPlan] = []
        var names: Set<String> = []
        // The number of unnamed beacons with each identity.
        var copies: [BeaconIdentity: Int] = [:]
        for value in try list?.list(atMost: Self.maximumSenders) ?? [] {
            var object = try value.object()
            let nameValue = object.take("name")
            let name = try nameValue?.name()
            if let name, let nameValue, !names.insert(name).inserted {
                throw ScenarioError(
                    .duplicateName, at: nameValue.path,
                    "is \"\(name)\", which is another beacon's name; choose a different one")
            }
            guard let uuid = try object.take("uuid")?.uuid() ?? self.uuid else {
                throw ScenarioError(
                    .missingKey, at: object.path(of: "uuid"),
                    "is missing; write a UUID here, or one for all beacons at the top of the file")
            }
            let major = try object.take("major")?.integer(in: 0...65535) ?? 0
            let minor = try object.take("minor")?.integer(in: 0...65535) ?? 0
            let identity = BeaconIdentity(uuid: uuid, major: UInt16(major), minor: UInt16(minor))
            // AirLocate's default, in dBm.
            let measuredPower =
                try object.take("measuredPower")?.integer(in: -128...126)
                ?? Int(IBeaconFrame.defaultMeasuredPower)
            let powerOffset = try object.take("powerOffset")?.number(in: -100...100, unit: "dB") ?? 0
            let localName = try object.take("localName")?.text()
            let services = try services(from: object.take("services"))
            let placement = try placement(from: &object)
            let (interval, jitter) = try intervalAndJitter(from: &object, interval: 100_000_000)
            let addressing = try addressing(from: &object)
            let onTimes = try onTimes(from: object.take("on"))
            try object.finish()
            let copy = copies[identity, default: 0]
            if name == nil { copies[identity] = copy + 1 }
            beacons.append(
                BeaconPlan(
                    key: name.map { "beacon \($0)" } ?? "identity \(identity) \(copy)", identity: identity,
                    localName: localName, services: services, measuredPower: Int8(measuredPower),
                    powerOffset: powerOffset, placement: placement,
                    interval: interval, jitter: jitter, addressing: addressing, onTimes: onTimes))
        }
        return beacons
    }

    private func crowds(from list: ScenarioValue?) throws -> [CrowdPlan] {
        var crowds: [CrowdPlan] = []
        for value in try list?.list(atMost: Self.maximumSenders) ?? [] {
            var object = try value.object()
            let count = try object.require("count", "the number of phones").integer(in: 0...Self.maximumSenders)
            let area = try object.require("area", "two opposite corners, [[x, y], [x, y]]")
            let corners = try area.list(atMost: 2)
            guard corners.count == 2 else { throw area.invalid("is not two places; write [[x, y], [x, y]]") }
            let speed = try object.take("speed")?.number(in: 0...100, unit: "meters per second") ?? 0.7
            let power = try object.take("power")?.number(in: -128...20, unit: "dBm") ?? -65
            let (interval, jitter) = try intervalAndJitter(from: &object, interval: 300_000_000)
            // Phones change their address about every 15 minutes, as the Core Specification recommends (Vol 3, Part C,
            // Appendix A, TGAP(private_addr_int)).
            let rotation = try object.take("rotation")?.nanoseconds(in: 1...Self.longest) ?? 900_000_000_000
            try object.finish()
            crowds.append(
                CrowdPlan(
                    key: "crowd \(crowds.count)", count: count, corner: try corners[0].point(),
                    oppositeCorner: try corners[1].point(), speed: speed, power: power, interval: interval,
                    jitter: jitter, rotation: rotation))
        }
        return crowds
    }

    func intervalAndJitter(
        from object: inout ScenarioObject, interval: Int64
    ) throws -> (interval: Int64, jitter: Int64) {
        let interval = try object.take("interval")?.nanoseconds(in: Self.intervals) ?? interval
        let jitter = try object.take("jitter")?.nanoseconds(in: 0...10) ?? Self.advertisingDelay
        return (interval, jitter)
    }

    func addressing(from object: inout ScenarioObject) throws -> Addressing {
        let addressValue = object.take("address")
        let kindValue = object.take("addressKind")
        let rotationValue = object.take("rotation")
        if let keyValue = object.take("irk") {
            if let other = addressValue ?? kindValue {
                throw ScenarioError(.conflict, at: other.path, "excludes \"irk\"; remove one of them")
            }
            guard let key = IdentityResolvingKey(try keyValue.text()) else {
                throw keyValue.invalid("is not a key; write 32 hexadecimal digits")
            }
            return .resolvable(key, try rotationValue?.nanoseconds(in: 0.1...Self.longest) ?? 900_000_000_000)
        }
        if let rotationValue {
            if let other = addressValue ?? kindValue {
                throw ScenarioError(
                    .conflict, at: other.path, "excludes \"rotation\"; remove one of them")
            }
            return .rotating(try rotationValue.nanoseconds(in: 0.1...Self.longest))
        }
        guard let addressValue else {
            if let kindValue {
                throw ScenarioError(.conflict, at: kindValue.path, "requires \"address\"; add it, or remove this key")
            }
            return .drawn
        }
        let kind: DeviceAddress.Kind =
            switch try kindValue?.text() {
            case nil, "random": .random
            case "public": .public
            default:
                throw kindValue?.invalid("is not valid; write \"random\" or \"public\"") ?? addressValue.invalid("")
            }
        guard let address = DeviceAddress(try addressValue.text(), kind: kind) else {
            throw addressValue.invalid("is not an address; write it as \"c0:00:5e:12:34:56\"")
        }
        return .given(address)
    }

    func onTimes(from value: ScenarioValue?) throws -> OnTimes {
        guard let value else { return .always }
        var spans: [Range<Int64>] = []
        for span in try value.list(atMost: 1000) {
            let bounds = try span.list(atMost: 2)
            guard bounds.count == 2 else { throw span.invalid("is not two times; write [from, to] in seconds") }
            let from = try bounds[0].nanoseconds(in: 0...Self.longest)
            let to = bounds[1].isNull ? OnTimes.forever : try bounds[1].nanoseconds(in: 0...Self.longest)
            guard from < to else { throw span.invalid("ends before it begins; write the earlier time first") }
            if let last = spans.last, from <= last.upperBound {
                throw span.invalid("begins before the previous span ends; write spans in order, with gaps")
            }
            spans.append(from..<to)
        }
        guard !spans.isEmpty else { throw value.invalid("is empty; write [[from, to], ...], or remove the key") }
        return OnTimes(spans: spans)
    }
}
