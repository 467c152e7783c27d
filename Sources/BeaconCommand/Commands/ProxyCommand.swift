import ArgumentParser
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconRelay
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacon proxy`, by which a machine's radio is a Bluetooth proxy of ESPHome for others.
struct ProxyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Pass on all that is heard, as a Bluetooth proxy of ESPHome.",
        discussion: """
            Home Assistant, and whatever else takes adverts from ESPHome's proxies, finds this machine in the local \
            network and hears what it hears: every advert, not iBeacons alone. Any number of clients have them at once. It \
            makes no connections to devices, and asks them for nothing.

              beacon proxy --name hall
              BEACON_PROXY_KEY=$(openssl rand -base64 32) beacon proxy

            By way of bluetoothd (bluez, and auto where it is chosen) there are only the adverts of iBeacons.
            """)

    @OptionGroup var source: SourceOptions

    @Option(
        help: ArgumentHelp(
            "The device's name in the network: lower case letters, digits and hyphens.",
            discussion: "Default: the machine's behind beacon-.",
            valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The port; with --each that of the first receiver.", valueName: "port"))
    var port: UInt16 = 6053

    @Flag(help: "Make each receiver a device of its own, rather than one device of all.")
    var each = false

    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp(
            "The file with the key that clients need: 32 bytes as base64.",
            discussion: "Default: BEACON_PROXY_KEY in the environment, else none, and anybody may listen.",
            valueName: "file"))
    var keyFile: String?

    @Option(help: ArgumentHelp("The address to listen at. Default: all of the machine.", valueName: "address"))
    var listen: String?

    @Flag(name: .customLong("no-announce"), help: "Do not announce it in the local network.")
    var isSilent = false

    func validate() throws {
        let mistakes = try settings(of: source.choose()).mistakes()
        guard mistakes.isEmpty else { throw ValidationError(mistakes.joined(separator: "; ")) }
    }

    // On the main thread, which waits for the source; the clients have another.
    @MainActor
    func run() async throws {
        // Its clients take what they get for now.
        let source = source.choose(usualSpeed: SpeedArgument(argument: "1"))
        let proxy = try ProxyServer(settings(of: source)) { ErrorOutput.shared.write("\($0)") }
        Interruption.allow(seconds: 10)
        Interruption.listen()
        let specification = source.specification
        let radio = RadioStatus.printing(hasReceivers: specification.hasReceivers)
        var input = try source.open(mode: .ranging, keepsAdverts: true, report: radio.update)
        Interruption.wake(input.waker)
        proxy.start()
        let feed = proxy.feed(isLive: specification.isRadio)
        let result = Result { try pull(&input, of: source, to: feed) }
        await proxy.stop()
        try result.get()
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }

    private func settings(of source: ChosenSource) throws -> ProxySettings {
        var settings = ProxySettings(name: name)
        settings.port = port
        settings.isEach = each
        settings.address = listen
        settings.isAnnounced = !isSilent
        settings.isOfNetwork = source.specification.hasReceivers
        settings.portsPath = settings.userPortsPath
        if let keyFile {
            let text = String(decoding: try SmallFile.contents(path: keyFile, limit: 4096), as: UTF8.self)
            settings.key = Secret(text.trimmingCharacters(in: .whitespacesAndNewlines))
        } else {
            settings.key = Terminal.environment("BEACON_PROXY_KEY").map(Secret.init)
        }
        return settings
    }

    /// Passes on one record after another, at the speed of time.
    private func pull(_ input: inout SourceReader, of source: ChosenSource, to feed: ProxyFeed) throws {
        var pacer = Pacer(source.pace)
        feed.update(names: input.receiverNames, statuses: input.receiverStatuses)
        while !Interruption.isRequested, let record = try input.next() {
            input.forEachAdvert { feed.hear($0, $1) }
            feed.update(names: input.receiverNames, statuses: input.receiverStatuses)
            if let time = record.time { pacer.wait(until: time, shouldStop: { Interruption.isRequested }) }
            feed.release()
        }
    }
}
