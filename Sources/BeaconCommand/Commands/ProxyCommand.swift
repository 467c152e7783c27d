import ArgumentParser
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconRelay
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacon proxy`, which makes a machine's radio a Bluetooth proxy of ESPHome.
struct ProxyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Pass on all adverts, as a Bluetooth proxy of ESPHome.",
        discussion: """
            Home Assistant and other clients of ESPHome's proxies find this machine in the local network and receive \
            every advert, not only iBeacons. It serves any number of clients at once. It does not connect to devices, \
            and sends them no requests.

              beacon proxy --name hall
              BEACON_PROXY_KEY=$(openssl rand -base64 32) beacon proxy

            Through bluetoothd (bluez, or auto if it chooses bluez) it passes on only the adverts of iBeacons.
            """)

    @OptionGroup var source: SourceOptions

    @Option(
        help: ArgumentHelp(
            "The device's name in the network: lower case letters, digits and hyphens.",
            discussion: "Default: beacon- and the machine's name.",
            valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The port; with --each, the port of the first receiver.", valueName: "port"))
    var port: UInt16 = 6053

    @Flag(help: "Make each receiver a separate device, rather than one device for all.")
    var each = false

    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp(
            "The file with the key that clients need: 32 bytes as base64.",
            discussion: "Default: BEACON_PROXY_KEY in the environment. Without a key, every client can listen.",
            valueName: "file"))
    var keyFile: String?

    @Option(help: ArgumentHelp("The address to listen at. Default: all addresses.", valueName: "address"))
    var listen: String?

    @Flag(name: .customLong("no-announce"), help: "Do not announce the proxy in the local network.")
    var isSilent = false

    func validate() throws {
        let mistakes = try settings(of: source.choose()).mistakes()
        guard mistakes.isEmpty else { throw ValidationError(mistakes.joined(separator: "; ")) }
    }

    // Runs on the main thread, which waits for the source; other threads serve the clients.
    @MainActor
    func run() async throws {
        // Clients take every advert as current, so a recording plays in real time.
        let source = source.choose(usualSpeed: SpeedArgument(argument: "1"))
        let proxy = try ProxyServer(settings(of: source)) { ErrorOutput.shared.write("\($0)") }
        Interruption.allow(seconds: 10)
        Interruption.listen()
        let specification = source.specification
        let radio = RadioStatus.printing(hasReceivers: specification.hasReceivers)
        var input = try source.open(mode: .ranging, keepsAdverts: true, report: radio.update)
        Interruption.wake(input.waker)
        proxy.reserve(specification.namedReceivers)
        proxy.start()
        let feed = proxy.feed(isLive: specification.isRadio, isOpen: specification.admitsStrangers)
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

    /// Passes on one record after another, at the source's pace.
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
