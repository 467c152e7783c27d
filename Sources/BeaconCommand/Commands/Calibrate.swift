import ArgumentParser
import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconService

/// `beacon calibrate`: the measured power that a beacon should tell.
struct Calibrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure how strong a beacon is heard from 1 m away.",
        discussion: """
            Put the beacon where it will be, and the receiver 1 m away from it with nothing between. Nobody should walk \
            about meanwhile. The proposal is for this beacon and this receiver.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Calibrate a beacon of this region.", discussion: "Default: the beacon that is heard strongest.",
            valueName: "region"),
        transform: RegionArgument.init)
    var region: RegionArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long to collect adverts.", discussion: "A source that ends sooner gives what it has.",
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
        let watch = RadioWatch()
        var input = try source.open(mode: .ranging, tell: watch.hear)
        Interruption.wake(input.waker)
        if source.specification.isRadio {
            StandardError.write("Stand 1 m away from the beacon, in its sight. Collecting for \(Int(seconds)) s …")
        }
        let session = try collect(&input)
        guard let result = session.result else {
            if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
            throw CalibrationError(
                message: "no \(region == nil ? "iBeacon" : "beacon of this region") was heard with a signal reading. "
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
