import ArgumentParser
import BeaconApplications
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacon teach`, which records the signal of a beacon in a place.
struct TeachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "teach",
        abstract: "Teach a place, by standing there with a beacon.",
        discussion: """
            Walk around in the place with the beacon while the command measures. Repeat this in each room, and at \
            several spots of large rooms; new measurements are added to the earlier ones. Then 'beacon places' can \
            distinguish the rooms, even those without a receiver.

              beacon teach kitchen --seconds 20
              beacon teach --list
              beacon teach --truth rooms.csv --source recording.ndjson --file rooms.json
            """)

    @Argument(help: "The name of the place.")
    var name: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long to measure.", discussion: "A file may end sooner. Default: 20s.", valueName: "seconds"),
        transform: TimeSpan.reader(.milliseconds(1)...(.seconds(3600))))
    var seconds = TimeSpan(.seconds(20))

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The region of the beacon that you carry.", discussion: "Default: the beacon with the most adverts.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: RegionArgument?

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "A receiver to include even if it hears nothing; may be given several times.",
            discussion: "Receivers of a radio and of earlier measurements are included anyway.", valueName: "name"))
    var receiver: [String] = []

    @Option(
        help: ArgumentHelp(
            "Teach all places of a recording, from a table of the truth with the columns time and room.",
            discussion: "Only the first --seconds in each place count.", valueName: "file"))
    var truth: String?

    @Option(
        name: .customLong("file"),
        help: ArgumentHelp(
            "The file of taught places.", discussion: "Default: places.json in the user's state directory.",
            valueName: "file"))
    var path: String?

    @Flag(help: "Forget the place.")
    var forget = false

    @Flag(help: "List the taught places.")
    var list = false

    @OptionGroup var source: SourceOptions

    /// The default file.
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
                guard map.remove(name) else { throw CommandError("the place \"\(name)\" was never taught") }
            }
        }
        Interruption.listen()
        let taught = try measure(before)
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
        guard !taught.isEmpty else {
            if truth != nil {
                throw CommandError("no beacon was heard with a signal reading at the times of the truth")
            }
            throw CommandError(
                "no \(region == nil ? "iBeacon" : "beacon of this region") was heard with a signal reading. Is it on "
                    + "and in range? 'beacon scan' lists all beacons it hears")
        }
        for (name, points) in taught {
            if let hint = TaughtMap.hint(about: points) { ErrorOutput.shared.write("Note: \(name.printable): \(hint)") }
        }
        try TaughtMap.update(file) { map in
            for (name, points) in taught { map.add(points, to: name) }
            printPlaces(map)
            printJudgement(of: map)
        }
        ErrorOutput.shared.write("Saved to \(file.path).")
    }

    private func measure(_ map: TaughtMap) throws -> [(name: String, points: [[String: Double?]])] {
        let rooms = try truth.map { try RoomTruth(path: $0) }
        let source = source.choose()
        let calibrations = try source.calibrations()
        let radio = RadioStatus.printing(hasReceivers: source.specification.hasReceivers)
        var input = try source.open(mode: .ranging, report: radio.update)
        Interruption.wake(input.waker)
        if source.specification.isRadio, let name {
            ErrorOutput.shared.write("Walk around in \(name) with the beacon. Measuring for \(seconds) …")
        }
        var teachers: [String: PlaceTeacher] = [:]
        var taken: [String: Double] = [:]
        var pacer = Pacer(source.pace)
        var (begin, last): (Timestamp?, Timestamp?)
        while !Interruption.isRequested, let record = try input.next() {
            guard let time = record.time else { throw SourceError.noTimes }
            let start = begin ?? time
            begin = start
            // There is no need to wait for records after the end.
            let end = rooms == nil ? start.advanced(by: seconds.nanoseconds) : time
            pacer.wait(until: min(time, end), shouldStop: { Interruption.isRequested })
            if rooms == nil, time.since(start) >= seconds.nanoseconds { break }
            guard let place = rooms == nil ? name : rooms?.room(at: time) else {
                last = time
                continue
            }
            // The total time in this room; the beacon may leave it and return.
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
            if teacher.beacons.count > 1 {
                ErrorOutput.shared.write(
                    "Note: \(name.printable) is taught with \(beacon), which had the most adverts of "
                        + "\(teacher.beacons.count) beacons. Choose another one with --region.")
            }
            return (name, teacher.points(of: beacon))
        }
    }

    /// Prints what the points tell apart. One place alone cannot be confused.
    private func printJudgement(of map: TaughtMap) {
        var plan = PlacePlan([])
        plan.taught = map
        let judgement = plan.judgement()
        guard map.places.count > 1, let rightness = judgement.rightness else { return }
        StandardOutput.write("Points that the others find in their place: \(Int((rightness * 100).rounded())) %")
        for confusion in judgement.confusions { StandardOutput.write("  \(confusion.printable)") }
        if let advice = judgement.advice { StandardOutput.write(advice) }
    }

    private func printPlaces(_ map: TaughtMap) {
        StandardOutput.write("\(map.places.count.counted("place")), \(map.receiverNames.count.counted("receiver"))")
        for place in map.places {
            StandardOutput.write("  \(place.name): \(place.points.count.counted("point"))")
        }
    }
}
