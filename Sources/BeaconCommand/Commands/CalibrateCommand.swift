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
        abstract: "Measure a beacon's signal at 1 m, or what a receiver adds to it.",
        discussion: """
            Put the beacon where it will be, and the receiver 1 m away with nothing in between. Nobody should walk \
            about while adverts are collected. Configure the beacon with the proposed value; or, with --save, keep it, \
            and range, monitor, places and beacond use it in place of what the beacon says.

              beacon calibrate --region e2c56db5-dffb-48d2-b060-d0f5a71096e0/1/7 --save

            A beacon of little power (below -85 dBm) is better known with a second point, at 3 m:

              beacon calibrate --distance 3 --save --region UUID/1/7

            Receivers differ by some decibels. With a beacon that has been calibrated, or whose word you take, put each \
            1 m away from it:

              beacon calibrate --offset --save
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
            "The time to collect adverts for.",
            discussion: "A file may end sooner. Default: 20s.",
            valueName: "seconds"),
        transform: TimeSpan.reader(.milliseconds(1)...(.seconds(3600))))
    var seconds = TimeSpan(.seconds(20))

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The distance between beacon and receiver, 1 or 3 metres.", valueName: "metres"))
    var distance: Int = 1

    @Flag(help: "Measure what the receivers add to the signal, and not the beacon.")
    var offset = false

    @Flag(help: "Keep the result, for commands and beacond to use.")
    var save = false

    @OptionGroup var source: SourceOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    mutating func validate() throws {
        guard distance == 1 || distance == 3 else {
            throw ValidationError("--distance is \(distance); a beacon is measured at 1 m, and after that at 3 m.")
        }
        if offset, distance != 1 { throw ValidationError("--offset is measured at 1 m; leave --distance out.") }
    }

    func run() throws {
        Interruption.listen()
        let source = source.choose()
        let radio = RadioStatus.printing(hasReceivers: source.specification.hasReceivers)
        var input = try source.open(mode: .ranging, report: radio.update)
        Interruption.wake(input.waker)
        if source.specification.isRadio {
            ErrorOutput.shared.write(
                "Stand \(distance) m away from the beacon, in its sight. Collecting for \(seconds) …")
        }
        let session = try collect(&input, of: source)
        guard let result = session.result else {
            if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
            throw CommandError(
                "no \(region == nil ? "iBeacon" : "beacon of this region") was heard with a signal reading. "
                    + "Is it on, and within reach? beacon scan shows what is heard")
        }
        let file = source.calibrationPath.map { URL(fileURLWithPath: $0) } ?? CalibrationSet.userFile
        var set = try CalibrationSet(optionalFile: file)
        let before = set
        var output = try FileOutput(path: "-")
        if offset {
            try printOffsets(session.results(of: result.identity), &set, to: &output)
        } else {
            try keep(result, in: &set)
            let loss = distance == 3 ? set[result.identity]?.lossToThreeMetres : nil
            try output.append { buffer in
                if json {
                    result.appendJSON(distance: distance, loss: loss, to: &buffer)
                } else {
                    result.appendText(distance: distance, loss: loss, to: &buffer)
                }
            }
        }
        try output.finish()
        if save {
            // Only what was measured here: another process may have kept something meanwhile.
            try CalibrationSet.update(file) { kept in
                for (name, receiver) in set.receivers where before.receivers[name] != receiver {
                    kept.receivers[name] = receiver
                }
                for (name, beacon) in set.beacons where before.beacons[name] != beacon { kept.beacons[name] = beacon }
            }
            ErrorOutput.shared.write("Kept in \(file.path).")
        }
        for caution in session.cautions(for: result) { ErrorOutput.shared.write("Note: \(caution)") }
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }

    /// Takes a beacon's result into a set.
    private func keep(_ result: CalibrationResult, in set: inout CalibrationSet) throws {
        // The beacon's own power does not depend on what the receiver adds.
        let power = result.mean - (set.receivers[result.receiver]?.offset ?? 0)
        if distance == 3 {
            guard let near = set[result.identity] else {
                throw CommandError(
                    "the second point needs the first: measure the beacon at 1 m with --save, then at 3 m")
            }
            guard near.power > power else {
                throw CommandError(
                    "at 3 m it is not weaker than the \(near.power, decimals: 1) dBm at 1 m; something reflects. Measure "
                        + "both again, elsewhere")
            }
            set[result.identity]?.lossToThreeMetres = rounded(near.power - power)
        } else {
            set[result.identity] = CalibrationSet.Beacon(
                power: rounded(power),
                interval: result.margin.map { [rounded(power - $0), rounded(power + $0)] },
                lossToThreeMetres: set[result.identity]?.lossToThreeMetres)
        }
    }

    /// Prints what each receiver adds to the signal of a beacon, and takes it into a set.
    private func printOffsets(
        _ results: [CalibrationResult], _ set: inout CalibrationSet, to output: inout FileOutput
    ) throws {
        if let beacon = results.first, beacon.power.valid == nil, set[beacon.identity] == nil {
            ErrorOutput.shared.write(
                "Note: \(beacon.identity) is uncalibrated: run 'beacon calibrate' for it first. What receivers add is "
                    + "measured against \(beacon.power.assumed) dBm.")
        }
        for result in results {
            let known = set[result.identity]?.power ?? Double(result.power.assumed)
            let offset = result.mean - known
            guard abs(offset) <= 60 else {
                throw CommandError("\(result.receiver) differs by \(offset, decimals: 0) dB, which no receiver does")
            }
            set.receivers[result.receiver] = CalibrationSet.Receiver(
                offset: rounded(offset), interval: result.margin.map { [rounded(offset - $0), rounded(offset + $0)] },
                sensitivity: set.receivers[result.receiver]?.sensitivity)
            try output.append { buffer in
                if json {
                    buffer.append(json: "{\"receiver\":")
                    buffer.append(jsonText: result.receiver)
                    buffer.append(json: ",\"offset\":")
                    buffer.append(fixed: offset, decimals: 1)
                    buffer.append(json: ",\"margin\":")
                    if let margin = result.margin {
                        buffer.append(fixed: margin, decimals: 2)
                    } else {
                        buffer.append(json: "null")
                    }
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

    private func collect(
        _ input: inout SourceReader, of source: ChosenSource
    ) throws -> CalibrationSession {
        var session = CalibrationSession(constraint: region?.constraint)
        var pacer = Pacer(source.pace)
        let isRadio = source.specification.isRadio
        var end: Timestamp?
        while !Interruption.isRequested, let record = try input.next() {
            if let time = record.time {
                pacer.wait(until: time, shouldStop: { Interruption.isRequested })
                if end == nil { end = time.advanced(by: seconds.nanoseconds) }
                if let end, time >= end { break }
            }
            let names = input.receiverNames
            for var sighting in input.sightings {
                if let time = record.time, !isRadio { sighting.time = time }
                session.add(sighting, receiver: names[Int(sighting.receiver.index)])
            }
        }
        return session
    }
}
