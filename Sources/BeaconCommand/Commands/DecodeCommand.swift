import ArgumentParser
import BeaconCapture
import BeaconEngine
import BeaconModel
import BeaconTerminal

/// The command `beacon decode`, which prints the content of an iBeacon advert.
struct DecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Decode the bytes of an iBeacon advert.",
        discussion: """
            Paste the hexadecimal digits from a tool, a log or an app, with or without spaces, colons, commas and 0x: \
            the whole advert, its manufacturer specific data (4C 00 02 15 … or 02 15 …), an HCI event, an hcitool \
            command, or a dump with offsets. Each argument is an advert, but arguments of a few bytes form one advert \
            together. If the bytes are not an iBeacon, the error names their format and the missing parts, and the \
            exit status is 1.

              beacon decode 0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5
              beacon decode 1E 02 01 1A 1A FF 4C 00 02 15 E2 C5 6D B5 DF FB 48 D2 B0 60 \\
                D0 F5 A7 10 96 E0 00 00 00 00 C5
            """)

    @Argument(help: ArgumentHelp("The bytes of an advert, as a tool shows them.", valueName: "hex"))
    var bytes: [String]

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        // A shell splits bytes with spaces into several arguments.
        let adverts = bytes.contains(where: Self.canBeWhole) ? bytes : [bytes.joined(separator: " ")]
        var hasFailed = false
        var output = try FileOutput(path: "-")
        for advert in adverts {
            let decoded = Result { () throws(PastedAdvertError) in try PastedAdvert(advert).frame }
            switch decoded {
            case .success(let frame): try output.append { append(frame, to: &$0) }
            case .failure(let error):
                hasFailed = true
                if json {
                    try output.append { buffer in
                        buffer.append(json: "{\"error\":")
                        buffer.append(jsonText: error.message)
                        buffer.append(json: "}\n")
                    }
                } else {
                    ErrorOutput.shared.write("Error: \(error.message)")
                }
            }
        }
        try output.finish()
        if hasFailed { throw ExitCode(1) }
    }

    /// Returns whether an argument can be a whole advert. Tools print groups of up to four bytes; an advert is longer.
    private static func canBeWhole(_ argument: String) -> Bool {
        argument.utf8.count { Hexadecimal.value(of: $0) != nil } > 10
    }

    private func append(_ frame: IBeaconFrame, to buffer: inout [UInt8]) {
        if json {
            EventJSON.append(frame, to: &buffer)
        } else {
            // Without the note, an impossible number would look like a power.
            let note =
                PowerClaim.possible.contains(frame.measuredPower)
                ? "" : "\n               which is impossible: the beacon is uncalibrated, run 'beacon calibrate'"
            let text = """
                uuid           \(frame.identity.uuid)
                major          \(frame.identity.major)
                minor          \(frame.identity.minor)
                measured power \(frame.measuredPower) dBm at 1 m\(note)

                """
            buffer.append(contentsOf: text.utf8)
        }
    }
}
