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
            The file's name determines its format. A name that ends in .ndjson, .jsonl or .json makes a sighting log, \
            which holds iBeacons. Any other name makes a btsnoop file, which holds every advert and which btmon -r and \
            Wireshark read. Add .gz to either to compress the file. The recording of an adapter ends with Ctrl-C.

              beacon record visit.btsnoop.gz
              beacon range --source visit.btsnoop.gz --speed 1
            """)

    @Argument(help: ArgumentHelp("The file to write; - writes a sighting log to standard output.", valueName: "file"))
    var file: String

    @OptionGroup var source: SourceOptions

    func run() throws {
        Interruption.listen()
        let tags = source.tagFile?.path
        let source = source.choose()
        try OutputCheck.check(file, inputs: [source.specification.filePath ?? source.specification.path, tags])
        let radio = RadioStatus.printing(hasReceivers: source.specification.hasReceivers)
        var input = try source.open(mode: .ranging, keepsAdverts: true, report: radio.update)
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

    /// Writes until the source ends or the user requests to stop. If the source is damaged, the adverts before the
    /// damage are written before the error is thrown.
    func record(_ input: inout SourceReader) throws -> Counts {
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

    private func recordLog(_ input: inout SourceReader, _ output: inout FileOutput, _ counts: inout Counts) throws {
        var texts = ReceiverTexts(SightingLogFormat.jsonText)
        try pull(&input, &output) { input, record, output in
            for sighting in input.sightings {
                let receiver = texts.text(of: sighting.receiver, in: input.receiverNames)
                try output.append {
                    SightingLogFormat.append(
                        sighting, time: record.time.map { _ in sighting.time }, receiver: receiver, to: &$0)
                }
            }
            counts.adverts += input.sightings.count
            counts.iBeacons += input.sightings.count
        }
    }

    private func recordBtsnoop(_ input: inout SourceReader, _ output: inout FileOutput, _ counts: inout Counts)
        throws
    {
        var writer = BtsnoopWriter()
        try output.append { writer.appendHeader(to: &$0) }
        try pull(&input, &output) { input, _, output in
            let receivers = input.receiverNames
            try input.forEachAdvert { reception, advert in
                guard !reception.isDamaged else { return }
                try output.append { writer.append(reception, advert: advert, receivers: receivers, to: &$0) }
                counts.adverts += 1
            }
            counts.iBeacons += input.sightings.count
        }
    }

    /// Reads one record after another at the source's pace, and writes it.
    private func pull(
        _ input: inout SourceReader, _ output: inout FileOutput,
        write: (borrowing SourceReader, SourceRecord, inout FileOutput) throws -> Void
    ) throws {
        var pacer = Pacer(source.pace)
        var progress = ReplayProgress(isWanted: true)
        defer { progress.clear() }
        while !Interruption.isRequested, let record = try input.next() {
            if let time = record.time { pacer.wait(until: time, shouldStop: { Interruption.isRequested }) }
            progress.step(packets: input.counts.packets, time: record.time)
            try write(input, record, &output)
            if source.isGradual { try output.flush() }
        }
    }
}
