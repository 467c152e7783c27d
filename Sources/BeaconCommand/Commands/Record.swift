import ArgumentParser
import BeaconModel
import BeaconRadio
import BeaconService

/// `beacon record`: writes what a source delivers to a file.
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write what is heard to a file.",
        discussion: """
            FILE.ndjson and FILE.jsonl become sighting logs, which hold iBeacons. Any other name becomes btsnoop, which \
            holds every advert and which btmon -r and Wireshark read. With .gz at its end the file is gzipped. A radio is \
            recorded until Ctrl-C.
            """)

    @Argument(help: ArgumentHelp("The file to be written.", valueName: "file"))
    var file: String

    @OptionGroup var source: SourceOptions

    func run() throws {
        Interruption.listen()
        let watch = RadioWatch()
        var input = try OpenSource(source.specification, tell: watch.hear)
        Interruption.wake(input.waker)
        let counts = try AdvertRecorder(path: file, source: source).record(&input)
        StandardError.write("Wrote \(counts.adverts) adverts, \(counts.iBeacons) of them iBeacons, to \(file).")
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }
}
