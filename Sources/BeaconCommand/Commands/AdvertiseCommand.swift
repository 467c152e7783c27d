import ArgumentParser
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import LinuxRadio

/// The command `beacon advertise`, which makes this machine a beacon.
struct AdvertiseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise",
        abstract: "Make this machine a beacon, until Ctrl-C.",
        discussion: """
            The adapter sends ten non-connectable adverts a second. Advertising ends with the command, also after a \
            crash or kill -9.

              beacon advertise --uuid new --major 1 --minor 2
            """)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The UUID, which all beacons of one owner usually share; new makes one up and prints it.",
            valueName: "uuid|new"),
        transform: Self.uuid)
    var uuid: ProximityUUID

    @Option(help: ArgumentHelp("The major value, 0 to 65535: usually the site.", valueName: "n"))
    var major: UInt16

    @Option(help: ArgumentHelp("The minor value, 0 to 65535: usually the place on that site.", valueName: "n"))
    var minor: UInt16

    @Option(
        name: .customLong("measured-power"), parsing: .unconditional,
        help: ArgumentHelp(
            "The RSSI at a distance of 1 m, in dBm; 'beacon calibrate' measures it.", valueName: "dBm"))
    var measuredPower: Int8 = IBeaconFrame.defaultMeasuredPower

    @Option(
        help: ArgumentHelp(
            "The adapter to advertise with, by name or address.",
            discussion: "hci0, hci:hci0 or bluez:hci0. Default: BEACON_SOURCE in the environment, else the first.",
            valueName: "adapter"))
    var adapter: String?

    @Flag(help: "Print one JSON object when advertising has started.")
    var json = false

    func run() throws {
        Interruption.listen()
        let radio = RadioStatus.printing()
        var source = try LiveSource(try selection, mode: .off, report: radio.update)
        Interruption.wake(source.waker)
        let frame = IBeaconFrame(
            identity: BeaconIdentity(uuid: uuid, major: major, minor: minor), measuredPower: measuredPower)
        source.advertise([frame])
        var isAnnounced = false
        while !Interruption.isRequested {
            _ = try source.next { _, _ in }
            guard let outcome = radio.advertising[frame] else { continue }
            try outcome.get()
            if !isAnnounced {
                isAnnounced = true
                try announce(frame)
            }
        }
        throw ExitCode(Interruption.exitStatus)
    }

    private func announce(_ frame: IBeaconFrame) throws {
        var output = try FileOutput(path: "-")
        try output.append { buffer in
            if json {
                EventJSON.append(frame, to: &buffer)
            } else {
                buffer.append(contentsOf: "Advertising \(uuid) \(major)/\(minor), \(measuredPower) dBm at 1 m.\n".utf8)
            }
        }
        try output.finish()
        if !json { StandardError.write("Stop with Ctrl-C.") }
    }

    private var selection: RadioSelection {
        get throws {
            guard let adapter else {
                let specification = SourceSpecification(Terminal.environment("BEACON_SOURCE") ?? "auto")
                return try specification.radio ?? RadioSelection(.auto)
            }
            return try SourceSpecification(adapter).radio ?? RadioSelection(.auto, named: adapter)
        }
    }

    /// Returns a UUID that nobody else has: 122 random bits, version 4 (RFC 9562, 5.4).
    private static func random() -> ProximityUUID {
        ProximityUUID(
            high: .random(in: .min ... .max) & ~0xF000 | 0x4000,
            low: .random(in: .min ... .max) & ~(0b11 << 62) | 0b10 << 62)
    }

    private static func uuid(_ text: String) throws -> ProximityUUID {
        if text == "new" { return random() }
        guard let uuid = ProximityUUID(text) else {
            throw ValidationError(
                "a UUID has 32 hexadecimal digits, as in e2c56db5-dffb-48d2-b060-d0f5a71096e0; or new")
        }
        return uuid
    }
}
