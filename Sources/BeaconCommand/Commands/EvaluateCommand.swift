import ArgumentParser
import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacon evaluate`, which compares the results of a recording with the truth.
struct EvaluateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Compare the results of a recording with the truth.",
        discussion: """
            The truth is a CSV table with a heading, gzipped or not. Its columns select the evaluation. Times are in \
            seconds since 1970, distances in meters:
              time, major, minor, distance                   ranging; with a column
                                                             receiver, for each one
              beacon_minor, room, from_epoch_s, to_epoch_s   enters and exits, for each
                                                             receiver or each --place
              time, room                                     the room of one beacon
            A receiver is in the room with its name, or with the digits in its name. Places have the names of rooms.

            Balanced accuracy is the mean recall of all classes or rooms in the truth. The interval of a figure covers \
            nine of ten recordings of the same kind: a bootstrap over tracks, beacons or stays estimates it.

              beacon evaluate walk.ndjson.gz --truth walk.csv --svg walk.svg
              beacon evaluate week.ndjson --truth stays.csv --minimum-rssi auto
              beacon evaluate flat.ndjson --truth rooms.csv --taught rooms.json
            """)

    @Argument(help: ArgumentHelp("The recording: a capture, or a simulation:NAME.", valueName: "sightings"))
    var sightings: String

    @Option(help: ArgumentHelp("The table of the truth.", valueName: "file"))
    var truth: String

    @OptionGroup var places: PlaceOptions

    @OptionGroup var signals: SignalOptions

    @OptionGroup var strategy: StrategyOptions

    @Option(
        name: .customLong("exit-timeout"), parsing: .unconditional,
        help: ArgumentHelp(
            "Exit a region or a place after this time without an advert.",
            discussion:
                "Default: \(TimeSpan(MonitoredRegion.defaultExitTimeout)) for a region, \(TimeSpan(PlaceRules().exitTimeout)) for a place.",
            valueName: "seconds"),
        transform: TimeSpan.reader(.milliseconds(1)...(.seconds(86_400))))
    var exitTimeout: TimeSpan?

    @Option(help: ArgumentHelp("The file of measurements from 'beacon calibrate'.", valueName: "file"))
    var calibration: String?

    @Option(help: ArgumentHelp("Draw the reports and the truth into this file.", valueName: "file"))
    var svg: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    mutating func validate() throws {
        if svg == "-" { throw ValidationError("--svg needs a file; the figures go to standard output.") }
        if SourceSpecification(sightings).isGradual(at: .fastest) {
            throw ValidationError(
                "A recording is read several times: pass the path of a file. 'beacon record' writes a radio or a pipe "
                    + "to a file.")
        }
    }

    func run() throws {
        Interruption.listen()
        let table = try TruthTable(path: truth)
        guard !table.rows.isEmpty else { throw CommandError("\(truth) has no rows") }
        if let svg { try refuseToReplace(svg) }
        let evaluation = try evaluate(table)
        if let svg {
            var drawing = try FileOutput(path: svg)
            let title = SourceSpecification(sightings).title
            try drawing.append { $0.append(contentsOf: evaluation.picture(title: title).utf8) }
            try drawing.finish()
        }
        var output = try FileOutput(path: "-")
        try output.append { buffer in
            if json {
                evaluation.append(to: &buffer)
            } else {
                for line in evaluation.lines { buffer.append(contentsOf: (line.printableLines + "\n").utf8) }
            }
        }
        try output.finish()
    }

    /// - Throws: `CommandError` if the picture would replace a file that is not a picture.
    private func refuseToReplace(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path), let file = FileHandle(forReadingAtPath: path) else {
            return
        }
        let head = try file.read(upToCount: 4) ?? Data()
        guard head.isEmpty || head == Data("<svg".utf8) else {
            throw CommandError("--svg \(path): the file exists and is not an SVG picture; choose another name")
        }
    }

    /// Returns the evaluation that the table's columns select.
    private func evaluate(_ table: TruthTable) throws -> any Evaluation {
        if table.has("distance") {
            try refuse(["--exit-timeout": exitTimeout != nil], for: RangingEvaluation.kind)
            try refuse(options: .places, .signals, for: RangingEvaluation.kind)
            return try ranging(table)
        }
        try refuse(["--strategy": !strategy.strategy.isEmpty], for: "presence and rooms")
        if table.has("from_epoch_s") {
            if places.areGiven {
                try refuse(options: .signals, for: "places")
            } else {
                try refuse(places.given, for: "single receivers; pass --place or --taught")
            }
            return try presence(table)
        }
        if table.has("time", "room") {
            try refuse(options: .signals, for: RoomEvaluation.kind)
            guard places.areGiven else {
                throw ValidationError(
                    "For rooms, pass the receivers of each room, such as --place hall=R1,R2, or the file of "
                        + "'beacon teach' with --taught.")
            }
            return try rooms(table)
        }
        throw CommandError(
            "\(truth) has the columns \(table.columns.joined(separator: ", ")); expected time, major, minor, "
                + "distance for ranging; beacon_minor, room, from_epoch_s, to_epoch_s for presence; or time, room "
                + "for rooms")
    }

    private enum Options { case places, signals }

    /// The time by which a stay may outlast the recording, in seconds.
    private static let longestRest = 86_400.0

    /// The configuration of a session, with calibrations and without requests.
    private func configuration() throws -> MonitoringSession.Configuration {
        var configuration = MonitoringSession.Configuration()
        configuration.engine.strategy = strategy.value
        if let calibration {
            configuration.calibrations = try CalibrationSet(file: URL(fileURLWithPath: calibration))
        }
        return configuration
    }

    private func refuse(options: Options..., for purpose: String) throws {
        for option in options {
            switch option {
            case .places: try refuse(places.given, for: purpose)
            case .signals:
                try refuse(
                    ["--minimum-rssi": signals.minimumRSSI != nil, "--exit-rssi": signals.exitRSSI != nil], for: purpose
                )
            }
        }
    }

    private func refuse(_ options: KeyValuePairs<String, Bool>, for purpose: String) throws {
        if let given = options.first(where: { $0.value }) {
            throw ValidationError("\(given.key) cannot be used with \(purpose).")
        }
    }

    /// Reads the recording once, to list its receivers and beacons.
    ///
    /// - Throws: `CommandError` if it shares no time or no beacon with the truth.
    private func recording(
        sharing times: [Double], where isWanted: (BeaconIdentity) -> Bool
    ) throws -> Recording {
        let recording = try Recording(SourceSpecification(sightings))
        guard let first = times.min(), let last = times.max() else { throw CommandError("\(truth) has no rows") }
        guard first <= recording.last.seconds, last >= recording.first.seconds else {
            let text = { (time: Timestamp?) in time.map { ClockText.dateAndTime($0) } ?? "long ago" }
            throw CommandError(
                "the truth and the sightings have no time in common: \(truth) is from "
                    + "\(text(Timestamp(seconds: first))) to \(text(Timestamp(seconds: last))), \(sightings) from "
                    + "\(text(recording.first)) to \(text(recording.last)). Times are seconds since 1970, UTC")
        }
        guard recording.counts.keys.contains(where: isWanted) else {
            throw CommandError(
                "none of the beacons of \(truth) is in \(sightings); "
                    + (recording.commonest.map { "it has \(recording.counts.count), such as \($0)" }
                        ?? "it has no iBeacon"))
        }
        return recording
    }

    // MARK: - The three kinds

    private func ranging(_ table: TruthTable) throws -> RangingEvaluation {
        let truth = try RangingEvaluation.truth(in: table)
        let tracks = Set(truth.map(\.track))
        let beacons = Set(tracks.map { [$0.major, $0.minor] })
        let recording = try recording(sharing: truth.map(\.time)) {
            beacons.contains([Int($0.major), Int($0.minor)])
        }
        let receivers = Set(tracks.compactMap(\.receiver))
        guard receivers.isEmpty || !receivers.isDisjoint(with: recording.receivers) else {
            throw CommandError(
                "\(self.truth) is for \(receivers.sorted().map(\.printable).joined(separator: ", ")), but \(sightings) "
                    + "has the receivers \(recording.receivers.map(\.printable).joined(separator: ", "))")
        }
        var configuration = try configuration()
        configuration.rangings = [nil]
        var reports = RangingEvaluation.Reports(of: tracks)
        try recording.play(configuration) { event in
            if case .ranged(let report) = event { reports.add(report) }
        }
        return RangingEvaluation(truth: truth, reports: reports)
    }

    private func presence(_ table: TruthTable) throws -> PresenceEvaluation {
        let stays = try PresenceEvaluation.stays(in: table)
        let names = Set(stays.map(\.beacon))
        let hasMajor = table.has("beacon_major")
        let name = { (identity: BeaconIdentity) in
            hasMajor ? "\(identity.major)/\(identity.minor)" : "\(identity.minor)"
        }
        let recording = try recording(sharing: stays.flatMap { [$0.from, $0.to] }) {
            names.contains(name($0))
        }
        if let endless = stays.first(where: { $0.to > recording.last.seconds + Self.longestRest }) {
            throw CommandError(
                "\(truth): a stay of beacon \(endless.beacon) in \(endless.room) ends more than a day after the recording; "
                    + "correct its end")
        }
        let beacons = recording.identities(named: name, of: names)
        let watches =
            places.areGiven
            ? try placed(beacons, in: recording, rooms: Set(stays.map(\.room)))
            : try monitored(beacons, in: recording, rooms: Set(stays.map(\.room)))
        return PresenceEvaluation(stays: stays, watches: watches)
    }

    /// Returns the changes that each receiver reports alone, as in an installation of single rooms.
    private func monitored(
        _ beacons: [String: BeaconIdentity], in recording: Recording, rooms: Set<String>
    ) throws -> [PresenceEvaluation.Watch] {
        var configuration = try configuration()
        configuration.regions = beacons.sorted { $0.key < $1.key }.map { name, identity in
            var region = MonitoredRegion(BeaconConstraint(identity))
            signals.apply(to: &region)
            if let exitTimeout { region.exitTimeout = exitTimeout.duration }
            return .init(name: name, region: region)
        }
        return try recording.receivers.map { receiver in
            var watch = PresenceEvaluation.Watch(name: receiver, room: try room(of: receiver, in: rooms))
            configuration.receiver = receiver
            try recording.play(configuration) { event in
                guard case .region(let change) = event, change.kind == .enter || change.kind == .exit else { return }
                watch.add(change.name, at: change.time, isEnter: change.kind == .enter)
            }
            return watch
        }
    }

    /// Returns the room of a receiver, by the receiver's name.
    private func room(of receiver: String, in rooms: Set<String>) throws -> String {
        if rooms.contains(receiver) { return receiver }
        let digits = receiver.filter(\.isWholeNumber)
        guard let number = Int(digits) else {
            throw CommandError(
                "the receiver \"\(receiver.printable)\" has neither the name nor the number of a room; assign it "
                    + "to a room, as in --place \(rooms.min() ?? "hall")=\(receiver.printable)")
        }
        return rooms.first { Int($0) == number } ?? digits
    }

    /// Returns the changes that each place reports.
    private func placed(
        _ beacons: [String: BeaconIdentity], in recording: Recording, rooms: Set<String>
    ) throws -> [PresenceEvaluation.Watch] {
        let plan = try plan(for: recording, rooms: rooms)
        var configuration = try configuration()
        configuration.places = plan
        configuration.located = beacons.values.sorted().map { BeaconConstraint($0) }
        let names = Dictionary(uniqueKeysWithValues: beacons.map { ($0.value, $0.key) })
        var watches = plan.placeNames.map { PresenceEvaluation.Watch(name: $0, room: $0) }
        var places: [BeaconIdentity: String] = [:]
        try recording.play(configuration) { event in
            guard case .placed(let change) = event, let name = names[change.identity] else { return }
            let before = places[change.identity]
            guard before != change.place else { return }
            places[change.identity] = change.place
            for index in watches.indices where [before, change.place].contains(watches[index].name) {
                watches[index].add(name, at: change.time, isEnter: watches[index].name == change.place)
            }
        }
        return watches
    }

    private func rooms(_ table: TruthTable) throws -> RoomEvaluation {
        let truth = try RoomTruth(table).rows
        let recording = try recording(sharing: truth.map(\.time)) { _ in true }
        var configuration = try configuration()
        configuration.places = try plan(for: recording, rooms: Set(truth.map(\.room)))
        configuration.places?.reportsEachSecond = true
        // The truth does not name its beacon.
        let beacon = recording.commonest
        configuration.located = beacon.map { [BeaconConstraint($0)] } ?? []
        var answers: [RoomEvaluation.Answer] = []
        try recording.play(configuration) { event in
            guard case .located(let report) = event, let found = report.beacons.first(where: { $0.identity == beacon })
            else { return }
            answers.append(.init(time: report.time.seconds, room: found.place))
        }
        return RoomEvaluation(truth: truth, answers: answers)
    }

    // MARK: - Places

    /// Returns the plan of places, checked against the recording and the rooms of the truth.
    private func plan(for recording: Recording, rooms: Set<String>) throws -> PlacePlan {
        var plan = try places.plan()
        if let exitTimeout {
            // The session determines places once a second.
            guard exitTimeout.duration >= .seconds(1) else {
                throw ValidationError("--exit-timeout is \(exitTimeout); for places it must be at least 1 s.")
            }
            plan.rules.exitTimeout = exitTimeout.duration
        }
        let list = { (names: [String]) in names.map(\.printable).joined(separator: ", ") }
        guard !rooms.isDisjoint(with: plan.placeNames) else {
            throw CommandError(
                "no place has the name of a room of the truth: the places are \(list(plan.placeNames)), the rooms are "
                    + "\(list(rooms.sorted()))")
        }
        let missing = plan.receiverNames.filter { !recording.receivers.contains($0) }
        if !missing.isEmpty {
            ErrorOutput.shared.write(
                "Note: this source has no receiver \(list(missing)); it has \(list(recording.receivers)). Missing "
                    + "receivers count as deaf.")
        }
        return plan
    }
}
