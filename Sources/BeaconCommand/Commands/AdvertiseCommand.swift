import ArgumentParser
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import BeaconTerminal

/// The command `beacon advertise`, which makes this machine a beacon.
struct AdvertiseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise",
        abstract: "Make this machine a beacon, until Ctrl-C.",
        discussion: """
            The adapter sends ten non-connectable adverts a second. Advertising ends with the command, even after a \
            crash or kill -9. Without an adapter, advertise in the simulated air that all programs of a user share:

              beacon advertise --uuid new --major 1 --minor 2
              beacon advertise --uuid new --source air@2,0

            In that air, it can also be a phone with a key, to try 'beacon range --tags' and beacond with:

              beacon advertise --tags phones --source air@2,0
            """)

    @Option(
        name: .customLong("uuid"),
        help: ArgumentHelp(
            "The UUID, which all beacons of one owner usually share; new generates and prints one.",
            valueName: "uuid|new"),
        transform: UUIDArgument.init)
    var chosenUUID: UUIDArgument?

    @Option(
        name: .customLong("tags"),
        help: ArgumentHelp(
            "Be the first phone of this file instead of a beacon, in the simulated air.",
            discussion: "It sends every 2 s, from an address that changes every 15 minutes. See docs/phone-as-tag.md.",
            valueName: "file"), transform: TagFile.init(path:))
    var tagFile: TagFile?

    @Option(help: ArgumentHelp("The major value, 0 to 65535: usually the site.", valueName: "n"))
    var major: UInt16 = 0

    @Option(help: ArgumentHelp("The minor value, 0 to 65535: usually the place on that site.", valueName: "n"))
    var minor: UInt16 = 0

    @Option(
        name: .customLong("measured-power"), parsing: .unconditional,
        help: ArgumentHelp(
            "The RSSI at a distance of 1 m, in dBm; 'beacon calibrate' measures it.", valueName: "dBm"))
    var measuredPower: Int8 = IBeaconFrame.defaultMeasuredPower

    @Option(
        help: ArgumentHelp(
            "The adapter to advertise with, by name or address.",
            discussion: "hci0, hci:hci0 or bluez:hci0. Default: the adapter of --source.", valueName: "adapter"))
    var adapter: String?

    @Option(
        help: ArgumentHelp(
            "The radio to advertise with: auto, hci[:ADAPTER], bluez[:ADAPTER] or air[:NAME][@X,Y].",
            discussion: "Default: BEACON_SOURCE in the environment, else auto. See 'beacon --help'.",
            valueName: "source"))
    var source: String?

    @Option(
        defaultAsFlag: RotationArgument.usual,
        help: ArgumentHelp(
            "Change the random address of the adverts at this interval: 30s, 15m, 2h.",
            discussion: """
                Without a time: every 15 minutes, as phones do. Listeners cannot follow the device by its address, and \
                ranging shows two beacons for up to 10 s after a change. Without this option, an adapter keeps one \
                address while the command runs. Through bluetoothd, bluetoothd chooses the addresses.
                """, valueName: "time"), transform: RotationArgument.init)
    var rotateAddress: RotationArgument?

    @Flag(help: "Print one JSON object when advertising has started.")
    var json = false

    func validate() throws {
        if let rotateAddress { _ = try rotateAddress.span }
        if measuredPower > 0 {
            throw ValidationError(
                "a measured power of \(measuredPower) dBm is impossible, its sign may be missing: write "
                    + "--measured-power -\(measuredPower)")
        }
        guard (chosenUUID == nil) != (tagFile == nil) else {
            throw ValidationError("give either --uuid or --tags.")
        }
        if let tagFile {
            guard tagFile.tags[0].keys.first != nil else {
                throw ValidationError("the first phone of --tags has no key; write NAME: KEY.")
            }
            guard try specification.airLocation != nil else {
                throw ValidationError(
                    "a phone is simulated only in the air: add --source air@2,0, or name a beacon with --uuid.")
            }
        }
        if source != nil, adapter != nil { throw ValidationError("give either --source or --adapter, not both") }
    }

    func run() throws {
        Interruption.listen()
        // Printed first, so that --uuid new works on a machine without a radio.
        if let chosenUUID, chosenUUID.isNew {
            ErrorOutput.shared.write("The new UUID is \(chosenUUID.uuid). Give it to all your beacons.")
        }
        let specification = try specification
        guard specification.canSend else {
            throw specification.hasReceivers ? RadioError.receiversCannotSend : .cannotSend
        }
        let radio = RadioStatus.printing()
        let waker = Waker()
        var source = try SourceReader(specification, mode: .off, waker: waker, report: radio.update)
        Interruption.wake(waker)
        if let rotateAddress { source.rotateAddresses(every: try rotateAddress.span.duration) }
        guard let advert else { return }
        source.advertise([advert])
        var isAnnounced = false
        while !Interruption.isRequested {
            _ = try source.next()
            guard let outcome = radio.advertising[advert] else { continue }
            try outcome.get()
            if !isAnnounced {
                isAnnounced = true
                try announce()
            }
        }
        throw ExitCode(Interruption.exitStatus)
    }

    /// The frame; nil for a phone.
    private var frame: IBeaconFrame? {
        chosenUUID.map {
            IBeaconFrame(
                identity: BeaconIdentity(uuid: $0.uuid, major: major, minor: minor), measuredPower: measuredPower)
        }
    }

    /// The advert; nil without a beacon and a phone.
    private var advert: OutgoingAdvert? {
        if let frame { return OutgoingAdvert(frame) }
        return tagFile?.tags[0].keys.first.map { OutgoingAdvert(phone: $0) }
    }

    private func announce() throws {
        var output = try FileOutput(path: "-")
        try output.append { buffer in
            if let frame, json {
                EventJSON.append(frame, to: &buffer)
            } else if let identity = frame?.identity {
                buffer.append(
                    contentsOf: "Advertising \(identity.uuid) \(major)/\(minor), \(measuredPower) dBm at 1 m.\n".utf8)
            } else if let phone = tagFile?.tags[0] {
                buffer.append(contentsOf: "Advertising as the phone \(phone.name.printable).\n".utf8)
            }
        }
        try output.finish()
        if !json { ErrorOutput.shared.write("Stop with Ctrl-C.") }
    }

    private var specification: SourceSpecification {
        get throws {
            guard let adapter else {
                return SourceOptions.specification(source)
            }
            let specification = SourceSpecification(adapter)
            return specification.canSend ? specification : .auto(adapters: adapter)
        }
    }
}

/// The interval between address changes, as text.
///
/// The option's value is optional, so the parser would take a value that cannot be read for the next argument. The
/// command rejects it after the command line has been read.
struct RotationArgument: CustomStringConvertible {
    /// The interval of phones (Core Specification, Vol 3, Part C, Appendix A).
    static let usual = RotationArgument("15m")

    let description: String

    init(_ text: String) { description = text }

    /// The time.
    var span: TimeSpan {
        get throws {
            do throws(TimeSpan.Failure) {
                return try TimeSpan(description, in: .seconds(1)...(.seconds(86_400)))
            } catch {
                throw ValidationError(
                    "The value '\(description.printable)' is invalid for '--rotate-address': \(error)")
            }
        }
    }
}

/// A UUID on the command line: the text of a UUID, or `new` to generate one.
struct UUIDArgument {
    var uuid: ProximityUUID

    /// True if the UUID was generated.
    var isNew = false

    /// Reads a UUID.
    ///
    /// - Throws: `ValidationError`, with the form of a UUID.
    init(_ text: String) throws {
        if text == "new" {
            // 122 random bits, version 4 (RFC 9562, 5.4), so that it is unique.
            uuid = ProximityUUID(
                high: .random(in: .min ... .max) & ~0xF000 | 0x4000,
                low: .random(in: .min ... .max) & ~(0b11 << 62) | 0b10 << 62)
            isNew = true
            return
        }
        guard let uuid = ProximityUUID(text) else {
            throw ValidationError(
                "a UUID has 32 hexadecimal digits, as in e2c56db5-dffb-48d2-b060-d0f5a71096e0; or new")
        }
        self.uuid = uuid
    }
}
