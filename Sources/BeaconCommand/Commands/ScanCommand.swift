import ArgumentParser
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import BeaconTerminal

/// The command `beacon scan`, which prints every iBeacon advert.
struct ScanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Print every iBeacon advert that is heard.",
        discussion: """
            Each advert is a line: time, receiver, UUID, major, minor, measured power and RSSI. With --json the lines \
            are a sighting log, which every command reads back as a source. A last line on standard error counts \
            packets, adverts, damaged adverts and iBeacons.

              beacon scan
              beacon scan --source capture.pcapng --json > sightings.ndjson
            """)

    @OptionGroup var source: SourceOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        Interruption.listen()
        let source = source.choose()
        let radio = RadioStatus.printing(hasReceivers: source.specification.hasReceivers)
        var input = try source.open(mode: .ranging, report: radio.update)
        Interruption.wake(input.waker)
        var output = try FileOutput(path: "-")
        var failure: (any Error)?
        do {
            try copy(&input, of: source, to: &output, radio)
        } catch {
            failure = error
        }
        try output.finish()
        let counts = input.counts
        ErrorOutput.shared.write(
            "packets \(counts.packets) reports \(counts.reports) bad-crc \(counts.badCRC) "
                + "ibeacons \(input.iBeaconCount)")
        if let failure { throw failure }
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }

    private func copy(
        _ input: inout SourceReader, of source: ChosenSource, to output: inout FileOutput, _ radio: RadioStatus
    ) throws {
        var pacer = Pacer(source.pace)
        var progress = ReplayProgress(isWanted: !source.isGradual && !Terminal.output.isInteractive)
        let isJSON = json
        var texts = ReceiverTexts { isJSON ? SightingLogFormat.jsonText($0) : Array($0.printable.utf8) }
        if !json { try output.append { $0.append(contentsOf: SightingText.heading.utf8) } }
        defer { progress.clear() }
        while !Interruption.isRequested, let record = try input.next() {
            if let time = record.time {
                pacer.wait(until: time, shouldStop: { Interruption.isRequested })
            }
            progress.step(packets: input.counts.packets, time: record.time)
            guard !input.sightings.isEmpty else { continue }
            for sighting in input.sightings {
                let name = texts.text(of: sighting.receiver, in: input.receiverNames)
                // A radio delivers several sightings at once, each with its own time.
                let time = record.time.map { _ in radio.wall(sighting.time) }
                try output.append { buffer in
                    if json {
                        SightingLogFormat.append(sighting, time: time, receiver: name, to: &buffer)
                    } else {
                        SightingText.append(sighting, time: time, receiver: name, to: &buffer)
                    }
                }
            }
            if source.isGradual { try output.flush() }
        }
    }
}
