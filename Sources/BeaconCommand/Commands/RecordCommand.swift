import ArgumentParser
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconTerminal

/// The command `beacon record`, which writes the adverts of a source to a file.
struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Write the adverts of a source to a file.",
        discussion: """
            The file's name chooses its format. A name that ends in .ndjson, .jsonl or .json makes a sighting log, \
            which holds iBeacons. Any other name makes a btsnoop file, which holds every advert and which btmon -r and \
            Wireshark read. With .gz behind either, the file is gzipped. An adapter is recorded until Ctrl-C.

              beacon record visit.btsnoop.gz
              beacon range --source visit.btsnoop.gz --speed 1
            """)

    @Argument(help: ArgumentHelp("The file to write; - writes a sighting log to standard output.", valueName: "file"))
    var file: String

    @OptionGroup var source: SourceOptions

    func run() throws {
        Interruption.listen()
        let source = source.choose()
        let radio = RadioStatus.printing(hasReceivers: source.specification.hasReceivers)
        var input = try AnyAdvertSource(source.specification, report: radio.update)
        Interruption.wake(input.waker)
        let counts = try AdvertRecorder(path: file, source: source).record(&input)
        ErrorOutput.shared.write("Wrote \(counts.adverts) adverts, \(counts.iBeacons) of them iBeacons, to \(file).")
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }
}

/// A writer of a source's adverts to a file, in the format of the file's name.
struct AdvertRecorder {
    /// The number of adverts written.
    struct Counts {
        var adverts = 0
        var iBeacons = 0
    }

    private enum Format {
        case sightingLog
        case btsnoop
    }

    let path: String
    let source: ChosenSource

    private var format: Format {
        let name = path.hasSuffix(".gz") ? String(path.dropLast(3)) : path
        let isLog = path == "-" || [".ndjson", ".jsonl", ".json"].contains { name.hasSuffix($0) }
        return isLog ? .sightingLog : .btsnoop
    }

    /// Writes until the source ends or the user wants to stop. The adverts before damage in a source are written before
    /// the error is thrown.
    func record(_ input: inout AnyAdvertSource) throws -> Counts {
        var output = try FileOutput(path: path)
        var counts = Counts()
        do {
            switch format {
            case .sightingLog: try recordLog(&input, &output, &counts)
            case .btsnoop: try recordBtsnoop(&input, &output, &counts)
            }
        } catch {
            try output.finish()
            throw error
        }
        try output.finish()
        return counts
    }

    private func recordLog(_ input: inout AnyAdvertSource, _ output: inout FileOutput, _ counts: inout Counts) throws {
        var sightings: [(Sighting, Timestamp?)] = []
        var names: [[UInt8]] = []
        try pull(&input, &output) { reception, advert in
            guard let sighting = reception.sighting(decoding: advert) else { return }
            sightings.append((sighting, reception.time))
        } write: { receivers, output in
            for name in receivers.dropFirst(names.count) { names.append(SightingLogFormat.jsonText(name)) }
            for (sighting, time) in sightings {
                try output.append {
                    SightingLogFormat.append(
                        sighting, time: time, receiver: names[Int(sighting.receiver.index)], to: &$0)
                }
            }
            counts.adverts += sightings.count
            counts.iBeacons += sightings.count
            sightings.removeAll(keepingCapacity: true)
        }
    }

    private func recordBtsnoop(_ input: inout AnyAdvertSource, _ output: inout FileOutput, _ counts: inout Counts)
        throws
    {
        var writer = BtsnoopWriter()
        var adverts: [(Reception, [UInt8])] = []
        try output.append { writer.appendHeader(to: &$0) }
        try pull(&input, &output) { reception, advert in
            guard !reception.isDamaged else { return }
            adverts.append((reception, advert.withUnsafeBytes { Array($0) }))
        } write: { receivers, output in
            for (reception, advert) in adverts {
                try output.append {
                    writer.append(reception, advert: advert.span.bytes, receivers: receivers, to: &$0)
                }
                if IBeaconFrame(advert: advert.span.bytes) != nil { counts.iBeacons += 1 }
            }
            counts.adverts += adverts.count
            adverts.removeAll(keepingCapacity: true)
        }
    }

    /// Reads one record after another at the source's pace: `take` gets its adverts, then `write` writes them.
    private func pull(
        _ input: inout AnyAdvertSource,
        _ output: inout FileOutput,
        take: (Reception, RawSpan) throws -> Void,
        write: ([String], inout FileOutput) throws -> Void
    ) throws {
        var pacer = Pacer(source.pace)
        var progress = ReplayProgress(isWanted: true)
        defer { progress.clear() }
        while !Interruption.isRequested, let record = try input.next(take) {
            if let time = record.time { pacer.wait(until: time, shouldStop: { Interruption.isRequested }) }
            progress.step(packets: input.counts.packets, time: record.time)
            try write(input.receiverNames, &output)
            if source.isGradual { try output.flush() }
        }
    }
}
