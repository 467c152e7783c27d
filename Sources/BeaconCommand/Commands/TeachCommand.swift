import ArgumentParser
import BeaconApplications
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacon teach`, which measures how a beacon is heard in a place.
struct TeachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "teach",
        abstract: "Teach a place, by standing there with a beacon.",
        discussion: """
            Walk about in the place with the beacon while it is heard. Do so in each room, in large ones at several \
            spots; what is taught is added to what was taught before. Then 'beacon places' tells the rooms apart, also \
            those without a receiver.

              beacon teach kitchen --seconds 20
              beacon teach --list
              beacon teach --truth rooms.csv --source recording.ndjson --file rooms.json
            """)

    @Argument(help: "The name of the place.")
    var name: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The time to measure for.", discussion: "A file may end sooner. Default: 20s.", valueName: "seconds"),
        transform: TimeSpan.reader(.milliseconds(1)...(.seconds(3600))))
    var seconds = TimeSpan(.seconds(20))

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The region of the beacon that is carried.", discussion: "Default: the one that is heard most.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: RegionArgument?

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "A receiver that takes part even where it hears nothing; may be given several times.",
            discussion: "A radio's are known, and so are those of what was taught before.", valueName: "name"))
    var receiver: [String] = []

    @Option(
        help: ArgumentHelp(
            "Teach all places of a recording, whose truth is in this file: time and room in columns.",
            discussion: "Of each place, its first --seconds count.", valueName: "file"))
    var truth: String?

    @Option(
        name: .customLong("file"),
        help: ArgumentHelp(
            "The file that keeps what was taught.", discussion: "Default: one in the user's state directory.",
            valueName: "file"))
    var path: String?

    @Flag(help: "Forget what was taught of the place.")
    var forget = false

    @Flag(help: "List the places that were taught.")
    var list = false

    @OptionGroup var source: SourceOptions

    /// The file where no other is named.
    static var file: URL { StateDirectory.user.url.appendingPathComponent("places.json") }

    private var file: URL { path.map { URL(fileURLWithPath: $0) } ?? Self.file }

    mutating func validate() throws {
        if forget, list || name == nil { throw ValidationError("--forget needs the name of one place, and no --list.") }
        guard list || (name == nil) != (truth == nil) else {
            throw ValidationError("Name the place, as in 'beacon teach kitchen', or a recording's --truth.")
        }
        if name?.isEmpty == true { throw ValidationError("The place has no name.") }
    }

    func run() throws {
        let before = try TaughtMap(optionalFile: file)
        if list { return printPlaces(before) }
        if forget, let name {
            return try TaughtMap.update(file) { map in
                guard map.remove(name) else { throw CommandError("nothing was taught of \"\(name)\"") }
            }
        }
        Interruption.listen()
        let taught = try measure(before)
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
        guard !taught.isEmpty else {
            if truth != nil {
                throw CommandError(
                    "no beacon with a signal reading was heard at a time of which the truth knows the room")
            }
            throw CommandError(
                "no \(region == nil ? "iBeacon" : "beacon of this region") was heard with a signal reading. Is it on, and "
                    + "within reach? beacon scan shows what is heard")
        }
        try TaughtMap.update(file) { map in
            for (name, points) in taught { map.add(points, to: name) }
            printPlaces(map)
        }
        ErrorOutput.shared.write("Kept in \(file.path).")
    }

    private func measure(_ map: TaughtMap) throws -> [(name: String, points: [[String: Double?]])] {
        let rooms = try truth.map { try RoomTruth(path: $0) }
        let source = source.choose()
        let calibrations = try source.calibrations()
        let radio = RadioStatus.printing(hasReceivers: source.specification.hasReceivers)
        var input = try source.open(mode: .ranging, report: radio.update)
        Interruption.wake(input.waker)
        if source.specification.isRadio, let name {
            ErrorOutput.shared.write("Walk about in \(name) with the beacon. Measuring for \(seconds) …")
        }
        var teachers: [String: PlaceTeacher] = [:]
        var taken: [String: Double] = [:]
        var pacer = Pacer(source.pace)
        var (begin, last): (Timestamp?, Timestamp?)
        while !Interruption.isRequested, let record = try input.next() {
            guard let time = record.time else { throw SourceError.noTimes }
            let start = begin ?? time
            begin = start
            // Nothing after the end is waited for.
            let end = rooms == nil ? start.advanced(by: seconds.nanoseconds) : time
            pacer.wait(until: min(time, end), shouldStop: { Interruption.isRequested })
            if rooms == nil, time.since(start) >= seconds.nanoseconds { break }
            guard let place = rooms == nil ? name : rooms?.room(at: time) else {
                last = time
                continue
            }
            // The time that was spent there so far: a room may be left and entered again.
            if rooms != nil, let last { taken[place, default: 0] += min(Double(time.since(last)) / 1e9, 1) }
            last = time
            guard taken[place] ?? 0 < seconds.seconds else { continue }
            let names = input.receiverNames
            for sighting in input.sightings {
                var sighting = sighting
                if radio.state == .unknown { sighting.time = time }
                let teacher = PlaceTeacher(constraint: region?.constraint, calibrations: calibrations)
                teachers[place, default: teacher].receive(sighting, by: names[Int(sighting.receiver.index)])
            }
        }
        let all = Set(input.receiverNames).union(map.receiverNames).union(receiver)
        return teachers.sorted { $0.key < $1.key }.compactMap { name, teacher in
            var teacher = teacher
            teacher.receivers = all
            guard let beacon = teacher.beacons.first else { return nil }
            return (name, teacher.points(of: beacon))
        }
    }

    private func printPlaces(_ map: TaughtMap) {
        let receivers = map.receiverNames
        print("\(map.places.count) place\(map.places.count == 1 ? "" : "s"), \(receivers.count) receivers")
        for place in map.places {
            print("  \(place.name.printable): \(place.points.count) point\(place.points.count == 1 ? "" : "s")")
        }
    }
}
