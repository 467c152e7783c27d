import ArgumentParser
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio

/// The command `beacon calibrate`, which measures the measured power of a beacon.
struct CalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure the measured power of a beacon: its RSSI at a distance of 1 m.",
        discussion: """
            Put the beacon where it will be, and the receiver 1 m away with nothing in between. Nobody should walk \
            about while adverts are collected. Configure the beacon with the proposed value, which is for this beacon \
            and this receiver.

              beacon calibrate --region e2c56db5-dffb-48d2-b060-d0f5a71096e0/1/7
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
            "The time to collect adverts for, up to 3600 s.",
            discussion: "A file may end sooner.",
            valueName: "seconds"))
    var seconds: Double = 20

    @OptionGroup var source: SourceOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    mutating func validate() throws {
        guard seconds > 0, seconds <= 3600 else {
            throw ValidationError("--seconds is \(seconds); it has to be above 0 and up to 3600.")
        }
    }

    func run() throws {
        Interruption.listen()
        let radio = RadioStatus.printing()
        var input = try source.open(mode: .ranging, report: radio.update)
        Interruption.wake(input.waker)
        if source.specification.isRadio {
            StandardError.write("Stand 1 m away from the beacon, in its sight. Collecting for \(Int(seconds)) s …")
        }
        let session = try collect(&input)
        guard let result = session.result else {
            if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
            throw CommandError(
                "no \(region == nil ? "iBeacon" : "beacon of this region") was heard with a signal reading. "
                    + "Is it on, and within reach? beacon scan shows what is heard")
        }
        var output = try FileOutput(path: "-")
        try output.append { buffer in
            if json {
                result.appendJSON(to: &buffer)
            } else {
                result.appendText(to: &buffer)
            }
        }
        try output.finish()
        for caution in session.cautions(for: result) { StandardError.write("Note: \(caution)") }
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }

    private func collect(_ input: inout SightingSource) throws -> CalibrationSession {
        var session = CalibrationSession(constraint: region?.constraint)
        var pacer = Pacer(source.pace)
        var end: Timestamp?
        while !Interruption.isRequested, let record = try input.next() {
            if let time = record.time {
                pacer.wait(until: time, shouldStop: { Interruption.isRequested })
                if end == nil { end = time.advanced(by: Int64(seconds * 1e9)) }
                if let end, time >= end { break }
            }
            let names = input.receiverNames
            for sighting in input.sightings { session.add(sighting, receiver: names[Int(sighting.receiver.index)]) }
        }
        return session
    }
}
