import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport

/// A teaching in progress: a person walks through a place with a beacon, while clients watch the points.
///
/// It ends when it is kept or thrown away, or a minute after the last client has gone.
struct Teaching {
    /// The time of one point, in seconds.
    private static let pointTime = 10.0

    /// The longest teaching, in seconds. Later adverts are ignored.
    private static let longest = 900.0

    /// The silence in seconds after which the beacon is reported as not heard.
    private static let patience = 10.0

    /// The heartbeats without a client after which it ends: about a minute.
    private static let lonelyBeats = 5

    let place: String
    let beacon: BeaconIdentity
    /// True while a request keeps it.
    var isBeingKept = false
    private var teacher: PlaceTeacher
    /// The ranging of the beacon, which keeps radios scanning. It ends with this value.
    private let ranging: AsyncStream<RangingValue?>
    private var clients: [Int: AsyncStream<TeachingValue?>.Continuation] = [:]
    private var nextNumber = 0
    private var beats = 0

    /// The times of the first advert of any beacon, of the newest one and of the beacon's first and newest advert.
    private var begin: Timestamp?
    private var newest = Timestamp.zero
    private var first: Timestamp?
    private var last: Timestamp?
    private var levels: [String: HeardLevel] = [:]

    /// The points of whole ten seconds, and the change that they would make.
    private var points: [[String: Double?]] = []
    private var change: TeachingValue.Change?
    private var second = Int64.min

    init(
        _ place: String, _ beacon: BeaconIdentity, calibrations: CalibrationSet, ranging: AsyncStream<RangingValue?>
    ) {
        (self.place, self.beacon, self.ranging) = (place, beacon, ranging)
        teacher = PlaceTeacher(constraint: BeaconConstraint(beacon), calibrations: calibrations)
    }

    // MARK: - Adverts

    /// Notes the adverts of a batch.
    ///
    /// - Parameters:
    ///   - plan: the places, for the change that the points would make.
    ///   - receivers: the receivers that take part.
    ///   - name: returns the name of a receiver.
    mutating func note(
        _ batch: SourceBatch, of source: GatewaySource, in plan: PlacePlan?, _ receivers: [ReceiverValue],
        name: (ReceiverID) -> String
    ) {
        if let time = batch.time { newest = max(newest, time.advanced(by: source.wallOffset)) }
        if begin == nil, batch.time != nil { begin = newest }
        for var sighting in batch.sightings where sighting.identity == beacon {
            guard let receiver = source.listener.sighting(sighting)?.receiver else { continue }
            sighting.time = sighting.time.advanced(by: source.wallOffset)
            newest = max(newest, sighting.time)
            first = first ?? sighting.time
            guard let first, Double(sighting.time.since(first)) / 1e9 < Self.longest else { continue }
            last = sighting.time
            teacher.receive(sighting, by: name(receiver))
            levels[name(receiver), default: HeardLevel()].hear(sighting.rssi)
        }
        let now = newest.nanoseconds / Timestamp.nanosecondsPerSecond
        guard now != second else { return }
        second = now
        if let first, Double(newest.since(first)) / 1e9 >= Self.pointTime * Double(points.count + 1) {
            update(plan, receivers)
        }
        send(receivers)
    }

    private mutating func update(_ plan: PlacePlan?, _ receivers: [ReceiverValue]) {
        points = finished(receivers)
        change = points.isEmpty ? nil : TeachingValue.Change(points, of: place, in: plan ?? PlacePlan([]))
    }

    /// The points until now. Receivers that hear take part, even if they don't hear the beacon.
    func finished(_ receivers: [ReceiverValue]) -> [[String: Double?]] {
        var teacher = teacher
        teacher.receivers.formUnion(receivers.filter { $0.hearing == "hearing" }.map(\.name))
        return teacher.points(of: beacon)
    }

    // MARK: - Clients

    /// Returns the values of each second. A nil value is a heartbeat.
    mutating func stream(_ receivers: [ReceiverValue], end: @escaping @Sendable (Int) -> Void)
        -> AsyncStream<TeachingValue?>
    {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TeachingValue?.self, bufferingPolicy: .bufferingNewest(2))
        nextNumber += 1
        let number = nextNumber
        clients[number] = continuation
        continuation.onTermination = { _ in end(number) }
        continuation.yield(value(receivers))
        return stream
    }

    mutating func leave(_ number: Int) { clients[number] = nil }

    /// Sends a heartbeat to all clients.
    ///
    /// - Returns: false if no client has watched for a minute.
    mutating func beat() -> Bool {
        beats = clients.isEmpty ? beats + 1 : 0
        for client in clients.values { client.yield(nil) }
        return beats < Self.lonelyBeats
    }

    private func send(_ receivers: [ReceiverValue]) {
        guard !clients.isEmpty else { return }
        let value = value(receivers)
        for client in clients.values { client.yield(value) }
    }

    /// Ends all streams.
    func finish() { for client in clients.values { client.finish() } }

    func value(_ receivers: [ReceiverValue]) -> TeachingValue {
        let power = teacher.power(of: beacon)
        let deaf = receivers.filter { $0.hearing == "deaf" }.map(\.name)
        var hints: [String] = []
        let silence = (last ?? begin).map { Double(newest.since($0)) / 1e9 } ?? 0
        if silence >= Self.patience { hints.append("The tag is not heard.") }
        if !deaf.isEmpty {
            let (verb, them) = deaf.count == 1 ? ("is", "it") : ("are", "them")
            let names = deaf.joined(separator: ", ")
            hints.append(
                "\(deaf.count.counted("receiver")) \(verb) deaf (\(names)): points without \(them) count less.")
        }
        if let hint = TaughtMap.hint(about: points) { hints.append(hint) }
        return TeachingValue(
            place: place,
            beacon: .init(
                uuid: beacon.uuid.description, major: Int(beacon.major), minor: Int(beacon.minor)),
            seconds: first.map { Int(Double(newest.since($0)) / 1e9) } ?? 0,
            levels: levels.compactMapValues(\.dBm),
            points: points.map { point in
                point.mapValues { level in
                    TeachingValue.Level(dBm: level.map { min(max(Int(($0 + power).rounded()), -127), -1) })
                }
            },
            hints: hints, change: change)
    }
}

/// A teaching in progress, for clients.
package struct TeachingValue: Encodable, Sendable {
    package struct Beacon: Codable, Sendable {
        package var uuid: String
        package var major: Int
        package var minor: Int
    }

    /// A level in dBm; null if the receiver did not hear the beacon.
    struct Level: Encodable, Sendable {
        var dBm: Int?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if let dBm { try container.encode(dBm) } else { try container.encodeNil() }
        }
    }

    /// The points of a place that are judged by all others.
    struct Place: Encodable, Sendable {
        struct Mistake: Encodable, Sendable {
            /// The place that they are taken for; null for none.
            @Nullable var place: String?
            var points: Int
        }

        var name: String
        var points: Int
        var right: Int
        var mistakes: [Mistake]
    }

    /// What keeping the points would change.
    struct Change: Encodable, Sendable {
        /// The share of points that are found in their place, without and with the new points.
        @Nullable var before: Double?
        @Nullable var after: Double?
        var places: [Place]
        @Nullable var advice: String?

        init(_ points: [[String: Double?]], of place: String, in plan: PlacePlan) {
            var later = TaughtMap()
            later.add(points, to: place)
            var taught = plan
            taught.taught = (plan.taught ?? TaughtMap()).adding(later)
            let judgement = taught.judgement()
            before = plan.judgement(withLater: later).rightness
            after = judgement.rightness
            advice = judgement.advice
            places = judgement.places.map { one in
                Place(
                    name: one.name, points: one.points, right: one.right,
                    mistakes: one.mistakes.map { .init(place: $0.name, points: $0.points) })
            }
        }
    }

    var place: String
    var beacon: Beacon
    /// The seconds since the beacon was first heard.
    var seconds: Int
    /// The present levels in dBm, by receiver.
    var levels: [String: Int]
    /// The points, each with its levels by receiver.
    var points: [[String: Level]]
    var hints: [String]
    @Nullable var change: Change?
}

/// The taught places.
package struct TaughtValue: Encodable, Sendable {
    struct Place: Encodable, Sendable {
        var name: String
        /// The number of points from the file and from the console.
        var fromFile: Int
        var fromConsole: Int
        /// The time of the newest teaching in the console.
        @Nullable var time: Double?
    }

    /// The newest teaching in the console, which can be undone.
    struct Last: Encodable, Sendable {
        var place: String
        var time: Double
        var points: Int
    }

    var places: [Place] = []
    @Nullable var last: Last?

    init(_ configuration: GatewayConfiguration) {
        let teachings = configuration.teachings
        for place in configuration.places?.taught?.places ?? [] {
            let own = teachings.first { $0.name == place.name }
            let count = own?.points.count ?? 0
            places.append(
                Place(
                    name: place.name, fromFile: place.points.count - count, fromConsole: count,
                    time: own?.walks.last?.time))
        }
        last = Self.last(of: teachings).map { newest in
            Last(place: newest.name, time: newest.walk.time, points: newest.walk.points.count)
        }
    }

    /// Returns the newest teaching, with its place.
    static func last(of teachings: [PlaceTeaching]) -> (name: String, walk: PlaceTeaching.Walk)? {
        let newest = teachings.filter { !$0.walks.isEmpty }.max {
            ($0.walks.last?.time ?? 0) < ($1.walks.last?.time ?? 0)
        }
        guard let newest, let walk = newest.walks.last else { return nil }
        return (newest.name, walk)
    }
}
