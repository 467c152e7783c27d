import ArgumentParser
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacon calibrate`, which measures the measured power of a beacon.
struct CalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure a beacon's signal at 1 m, or a receiver's offset.",
        discussion: """
            Put the beacon in its final position, and the receiver 1 m away with nothing in between. Keep people away \
            while adverts are collected. Configure the beacon with the proposed value, or save the value with --save: \
            range, monitor, places and beacond then use it instead of the beacon's claim.

              beacon calibrate --region e2c56db5-dffb-48d2-b060-d0f5a71096e0/1/7 --save

            A beacon of little power (below -85 dBm) needs a second point, at 3 m:

              beacon calibrate --distance 3 --save --region UUID/1/7

            Receivers differ by a few decibels. To measure a receiver's offset, put it 1 m away from a beacon that is \
            calibrated, or whose claim you trust:

              beacon calibrate --offset --save

            Beacons of one kind, and receivers that move among them, such as phones, also differ from each other. \
            A long recording of devices that go around shows by how much:

              beacon calibrate --learn --moving phone-1,phone-2 --source walk.ndjson --save
            """)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The region of the beacon to calibrate.", discussion: "Default: the beacon with the strongest signal.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: RegionArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long to collect adverts.",
            discussion: "A file may end sooner. Default: 20s; with --learn, until the end or Control-C.",
            valueName: "seconds"),
        transform: TimeSpan.reader(.milliseconds(1)...(.seconds(3600))))
    var seconds: TimeSpan?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The distance between beacon and receiver, 1 or 3 meters.", valueName: "meters"))
    var distance: Int = 1

    @Flag(help: "Measure the offsets of the receivers instead of the beacon.")
    var offset = false

    @Flag(help: "Learn the offsets of beacons, and of receivers that move, from the whole source.")
    var learn = false

    @Option(
        help: ArgumentHelp(
            "The receivers that move among the beacons, for --learn, separated by commas.", valueName: "names"))
    var moving: String?

    @Flag(help: "Save the result for commands and beacond.")
    var save = false

    @OptionGroup var source: SourceOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    mutating func validate() throws {
        guard distance == 1 || distance == 3 else {
            throw ValidationError("--distance is \(distance); measure a beacon at 1 m first, then at 3 m.")
        }
        if moving != nil, !learn { throw ValidationError("--moving needs --learn.") }
        if learn, offset || distance != 1 {
            throw ValidationError("--learn needs no position; leave --offset and --distance out.")
        }
        if offset, distance != 1 { throw ValidationError("--offset is measured at 1 m; leave --distance out.") }
    }

    func run() throws {
        Interruption.listen()
        let source = source.choose()
        let radio = RadioStatus.printing(hasReceivers: source.specification.hasReceivers)
        var input = try source.open(mode: .ranging, report: radio.update)
        Interruption.wake(input.waker)
        if learn { return try learnOffsets(&input, of: source) }
        let seconds = seconds ?? TimeSpan(.seconds(20))
        if source.specification.isRadio {
            ErrorOutput.shared.write(
                "Stay \(distance) m away from the beacon, with a free line of sight. Collecting for \(seconds) …")
        }
        var session = CalibrationSession(constraint: region?.constraint)
        try collect(&input, of: source, for: seconds) { session.add($0, receiver: $1) }
        guard let result = session.result else {
            if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
            throw CommandError(
                "no \(region == nil ? "iBeacon" : "beacon of this region") was heard with a signal reading. "
                    + "Is it on and in range? 'beacon scan' lists all beacons it hears")
        }
        let file = file(of: source)
        var set = try CalibrationSet(optionalFile: file)
        let before = set
        var output = try FileOutput(path: "-")
        if offset {
            try printOffsets(session.results(of: result.identity), &set, to: &output)
        } else {
            try keep(result, in: &set)
            let loss = distance == 3 ? set[result.identity]?.lossToThreeMeters : nil
            try output.append { buffer in
                if json {
                    result.appendJSON(distance: distance, loss: loss, to: &buffer)
                } else {
                    result.appendText(distance: distance, loss: loss, to: &buffer)
                }
            }
        }
        try output.finish()
        for caution in session.cautions(for: result) { ErrorOutput.shared.write("Note: \(caution)") }
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
        if save {
            // Saves only the new measurements: another process may have saved some since.
            try CalibrationSet.update(file) { kept in
                for (name, receiver) in set.receivers where before.receivers[name] != receiver {
                    kept.receivers[name] = receiver
                }
                for (name, beacon) in set.beacons where before.beacons[name] != beacon { kept.beacons[name] = beacon }
                // A measurement replaces what was learned.
                for name in kept.receivers.keys { kept.learned?.receivers[name] = nil }
                for name in kept.beacons.keys { kept.learned?.beacons[name] = nil }
            }
            ErrorOutput.shared.write("Saved to \(file.path).")
        }
    }

    /// Returns the file that results are saved in.
    private func file(of source: ChosenSource) -> URL {
        source.calibrationPath.map { URL(fileURLWithPath: $0) } ?? CalibrationSet.userFile
    }

    /// Learns offsets until the source ends or the user requests to stop.
    private func learnOffsets(_ input: inout SourceReader, of source: ChosenSource) throws {
        let file = file(of: source)
        var session = OffsetSession(
            moving: Set((moving ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }),
            calibrations: try CalibrationSet(optionalFile: file))
        try collect(&input, of: source, for: seconds) {
            if region?.constraint.matches($0.identity) ?? true { session.add($0, receiver: $1) }
        }
        let learner = session.fitted()
        var output = try FileOutput(path: "-")
        try output.append { buffer in
            if json { learner.appendJSON(to: &buffer) } else { learner.appendText(to: &buffer) }
        }
        try output.finish()
        if save {
            try CalibrationSet.update(file) { $0.learned = CalibrationSet.Learned(learner) }
            ErrorOutput.shared.write("Saved to \(file.path).")
        }
    }

    /// Adds a beacon's result to a set.
    private func keep(_ result: CalibrationResult, in set: inout CalibrationSet) throws {
        // The beacon's power must not include the receiver's offset.
        let power = result.mean - (set.receivers[result.receiver]?.offset ?? 0)
        if distance == 3 {
            guard let near = set[result.identity] else {
                throw CommandError(
                    "the second point needs the first: measure the beacon at 1 m with --save, then at 3 m")
            }
            guard near.power > power else {
                throw CommandError(
                    "the signal at 3 m is not weaker than at 1 m (\(near.power, decimals: 1) dBm); something "
                        + "reflects it. Measure both again elsewhere")
            }
            set[result.identity]?.lossToThreeMeters = rounded(near.power - power)
        } else {
            set[result.identity] = CalibrationSet.Beacon(
                power: rounded(power),
                interval: result.margin.map { [rounded(power - $0), rounded(power + $0)] },
                lossToThreeMeters: set[result.identity]?.lossToThreeMeters)
        }
    }

    /// Prints the offset of each receiver and adds it to a set.
    private func printOffsets(
        _ results: [CalibrationResult], _ set: inout CalibrationSet, to output: inout FileOutput
    ) throws {
        if let beacon = results.first, beacon.power.valid == nil, set[beacon.identity] == nil {
            ErrorOutput.shared.write(
                "Note: \(beacon.identity) is uncalibrated: run 'beacon calibrate' for it first. Offsets are measured "
                    + "against \(beacon.power.assumed) dBm.")
        }
        for result in results {
            let known = set[result.identity]?.power ?? Double(result.power.assumed)
            let offset = result.mean - known
            guard abs(offset) <= 60 else {
                throw CommandError("\(result.receiver) has an offset of \(offset, decimals: 0) dB; the limit is 60 dB")
            }
            set.receivers[result.receiver] = CalibrationSet.Receiver(
                offset: rounded(offset), interval: result.margin.map { [rounded(offset - $0), rounded(offset + $0)] },
                sensitivity: set.receivers[result.receiver]?.sensitivity)
            try output.append { buffer in
                if json {
                    buffer.append(json: "{")
                    buffer.append("receiver", result.receiver)
                    buffer.append("offset", offset, decimals: 1)
                    buffer.append("margin", result.margin, decimals: 2)
                    buffer.append(json: "}\n")
                } else {
                    let margin = result.margin.map { " (± \($0, decimals: 1) in 95 %)" } ?? ""
                    let text = "\(result.receiver.printable)  \(offset, decimals: 1) dB\(margin)\n"
                    buffer.append(contentsOf: text.utf8)
                }
            }
        }
    }

    private func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }

    /// Reads adverts for some time; nil for all.
    private func collect(
        _ input: inout SourceReader, of source: ChosenSource, for seconds: TimeSpan?,
        each: (Sighting, String) -> Void
    ) throws {
        var pacer = Pacer(source.pace)
        let isRadio = source.specification.isRadio
        var end: Timestamp?
        while !Interruption.isRequested, let record = try input.next() {
            if let time = record.time {
                pacer.wait(until: time, shouldStop: { Interruption.isRequested })
                if end == nil, let seconds { end = time.advanced(by: seconds.nanoseconds) }
                if let end, time >= end { break }
            }
            let names = input.receiverNames
            for var sighting in input.sightings {
                if let time = record.time, !isRadio { sighting.time = time }
                each(sighting, names[Int(sighting.receiver.index)])
            }
        }
    }
}
