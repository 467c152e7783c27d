import ArgumentParser
import BeaconConsole
import BeaconGateway
import BeaconModel
import BeaconSupport
import BeaconTerminal
import CLibrary
import Foundation

/// `beacond setup`: the guided start.
struct Setup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a configuration step by step, in the browser or at the terminal.",
        discussion: """
            It prints an address, which signs in one browser. There you choose a radio, see the beacons that it hears, \
            name one, choose what happens, and review the file before it is written. With --home-assistant, --webhook, \
            --beacon or --source, it asks for the rest at the terminal instead.

              sudo beacond setup                          for the machine's service
              sudo beacond setup --listen 0.0.0.0:8099    from another machine's browser
              sudo beacond setup --home-assistant BROKER  at this terminal
              beacond setup --config beacond.yaml         for your own file

            The service then uses the new file. If a file exists that configures something, the command asks at the \
            terminal before it replaces it, and keeps the old file; --replace answers yes. In the browser it replaces no \
            such file. It asks for the broker's password, or reads it from BEACON_BROKER_PASSWORD in the environment.
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "Report to Home Assistant through its MQTT broker.",
            discussion:
                "The broker's name or address, or mqtt://HOST:PORT, or mqtts:// for TLS, with settings as in "
                + "'mqtts://HOST?ca-file=ca.pem'. It is tested first.",
            valueName: "broker"))
    var homeAssistant: String?

    @Option(help: ArgumentHelp("The user at the broker.", valueName: "name"))
    var user: String?

    @Flag(help: "Write the broker without testing it.")
    var untried = false

    @Option(help: ArgumentHelp("Send each enter and exit to this address.", valueName: "url"))
    var webhook: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A beacon and its name, as 'Till 1=UUID/MAJOR/MINOR'; may be given several times.",
            discussion: "Without one, you choose from the beacons that the source hears.", valueName: "name=beacon"),
        transform: Self.beacon)
    var beacon: [TerminalSetup.ChosenBeacon] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "The name of a beacon that a person carries; may be given several times.",
            discussion: "Home Assistant gets a tracker for it, which you can assign to a person.", valueName: "name"))
    var tracker: [String] = []

    @Option(
        help: ArgumentHelp(
            "The source: auto, hci[:ADAPTERS], bluez[:ADAPTERS], air or simulation:NAME.",
            discussion: "Default: this machine's radio; without one, the simulated museum is offered.",
            valueName: "source"))
    var source: String?

    @Flag(help: "Replace an existing configuration without asking. The old file is kept.")
    var replace = false

    @Option(
        help: ArgumentHelp(
            "The address on which the console listens, now and later.",
            discussion: "For browsers on other machines, use another address, such as 0.0.0.0:8099.",
            valueName: "address"))
    var listen = "127.0.0.1:\(WebSettings.defaultPort)"

    func validate() throws {
        for name in tracker where !beacon.contains(where: { $0.name == name }) {
            throw ValidationError("--tracker is \(name); use the name of a beacon from --beacon.")
        }
        guard !replace || isAtTerminal else {
            throw ValidationError("--replace needs a choice, such as --home-assistant BROKER.")
        }
    }

    /// The beacons that the command line names.
    private var namedBeacons: [TerminalSetup.ChosenBeacon] {
        beacon.map { .init(name: $0.name, identity: $0.identity, isTracker: tracker.contains($0.name)) }
    }

    private static func beacon(_ argument: String) throws -> TerminalSetup.ChosenBeacon {
        let parts = argument.split(separator: "=", maxSplits: 1)
        let name = parts.first?.trimmingCharacters(in: .whitespaces) ?? ""
        guard parts.count == 2, !name.isEmpty, let identity = BeaconConstraint(parts[1])?.identity else {
            throw ValidationError(
                "a beacon is NAME=UUID/MAJOR/MINOR with numbers up to 65535, for instance "
                    + "'Front door=e2c56db5-dffb-48d2-b060-d0f5a71096e0/1/7'")
        }
        return .init(name: name, identity: identity)
    }

    /// True if the command asks at the terminal.
    private var isAtTerminal: Bool { homeAssistant != nil || webhook != nil || source != nil || !beacon.isEmpty }

    /// Returns the broker that the command line names.
    private func broker() throws -> GuidedStart.Choice.Broker? {
        guard let homeAssistant else {
            guard user == nil else { throw ValidationError("--user needs a broker; name it with --home-assistant.") }
            return nil
        }
        do {
            var broker = try GuidedStart.Choice.Broker(homeAssistant)
            if let user { broker.user = user }
            return broker
        } catch {
            throw ValidationError("--home-assistant \(error).")
        }
    }

    func run() async throws {
        let broker = try broker()
        let mayWrite = GuidedStart.mayWrite(file.path)
        guard mayWrite || replace || isAtTerminal && Prompt.isInteractive else {
            throw ValidationError(
                "The configuration \(file.path) exists. Edit it, and its passwords in "
                    + "\(GuidedStart(path: file.path).secretsPath), or choose another file with --config. To replace "
                    + "it, \(isAtTerminal ? "add --replace" : "use --home-assistant BROKER --replace").")
        }
        guard Self.isWritable(URL(fileURLWithPath: file.path)) else {
            throw ValidationError(
                "This user cannot write \(file.path). Choose your own file, as in: "
                    + "beacond setup --config beacond.yaml\(file.isOfService ? "; or, for the service: sudo beacond setup" : "")"
            )
        }
        guard var web = WebSettings(listening: listen) else {
            throw ValidationError("--listen is \(listen); write an address and a port, such as 127.0.0.1:8099.")
        }
        // If the file is being replaced, its own service may listen there already.
        let isOwn = !mayWrite && (try? GatewayConfiguration.check(file: file.path))?.configuration.web?.port == web.port
        if !isOwn, let obstacle = await web.obstacle() {
            ErrorOutput.shared.write(
                "Error: cannot listen on \(listen): \(obstacle). \(remedy(for: obstacle, web))")
            throw ExitCode(1)
        }
        let token = AccessToken()
        guard isAtTerminal else { return try await runInBrowser(web, token) }
        if !web.isLoopback { web.tokenHash = token.hash }
        let prompt = Prompt()
        if !mayWrite, !replace {
            prompt.farewell = "Nothing was changed."
            let kept = GuidedStart(path: file.path).keptPath ?? file.path
            let question = "The configuration \(file.path) exists. Replace it? The old one is kept as \(kept)."
            guard prompt.agrees(question, byDefault: false) else { throw ExitCode(1) }
        }
        let choice = try await TerminalSetup(
            start: GuidedStart(path: file.path), web: web,
            options: .init(
                source: source, beacons: namedBeacons, broker: broker, triesBroker: !untried, webhook: webhook),
            prompt: prompt, isReplacing: !mayWrite
        ).run()
        await report(choice, web, token)
    }

    /// Returns the remedy for an address that is not available, as sentences.
    private func remedy(for obstacle: WebSettings.Obstacle, _ web: WebSettings) -> String {
        let next = web.port < 65_535 ? web.port + 1 : 8100
        let example = obstacle.isOfPort ? WebSettings.authority(web.host, next) : "127.0.0.1:\(web.port)"
        var words = Array(CommandLine.arguments.dropFirst())
        if let place = words.firstIndex(of: "--listen") {
            words.removeSubrange(place...min(place + 1, words.count - 1))
        }
        words.removeAll { $0.hasPrefix("--listen=") }
        let command = (["beacond"] + words + ["--listen", example]).map(Self.quoted).joined(separator: " ")
        return
            (obstacle.isOfPort
            ? "Another program uses the port. If it is beacond's own service, run \"sudo systemctl stop beacond\" "
                + "first. Or use another port" : "Use an address of this machine")
            + ", as in: \(file.isOfService ? "sudo " : "")\(command)"
    }

    private func runInBrowser(_ web: WebSettings, _ token: AccessToken) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("beacond-setup-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        var loop = DaemonLoop(path: file.path)
        loop.endsWithReading = file.isOfService
        let settings = GuidedStart.configuration(writing: file.path, web: web, token: token, folder: folder)
        let code = try ConsoleLink(settings).code
        ErrorOutput.shared.write("Open this address in a browser; it works once:\n")
        StandardOutput.write("  \(web.address)#code=\(code)")
        fflush(nil)
        ErrorOutput.shared.write("\nThe configuration will be \(file.path). Press Ctrl-C to stop.")
        if web.isLoopback {
            Self.explainTunnel(web)
        } else {
            ErrorOutput.shared.write("Keep this token for other browsers: \(token.text)")
            Self.warnOfNetwork(web)
        }
        do {
            try await loop.run(settings)
        } catch {
            // Once the configuration is written, a source that failed is no failure of the setup.
            guard loop.hasHandedOver.withLock({ $0 }) else { throw error }
        }
        guard loop.hasHandedOver.withLock({ $0 }) else { return }
        guard await MachineService.restart() else { return }
        ErrorOutput.shared.write("Follow its log: journalctl -u beacond -f")
    }

    /// Reports the written files and the next steps, and restarts the machine's service.
    private func report(_ choice: GuidedStart.Choice, _ web: WebSettings, _ token: AccessToken) async {
        func write(_ line: String) { ErrorOutput.shared.write(line) }
        let hasSecret = choice.broker?.password?.isEmpty == false
        write(
            "Wrote \(file.path)"
                + (hasSecret ? ", and the password to \(GuidedStart(path: file.path).secretsPath)." : "."))
        guard file.isOfService else {
            write("Run it: beacond --config \(Self.quoted(file.path))")
            return reportConsole(web, token)
        }
        if let broker = choice.broker {
            let devices = (choice.beacons ?? []).count + (choice.regions ?? []).count
            await MachineService.restart(showing: broker, devices: devices)
        } else {
            _ = await MachineService.restart()
        }
        write("")
        write("Follow enters and exits:\n  journalctl -u beacond -f")
        reportConsole(web, token)
    }

    private func reportConsole(_ web: WebSettings, _ token: AccessToken) {
        func write(_ line: String) { ErrorOutput.shared.write(line) }
        write("Open the console in a browser:\n  \(web.address)")
        if web.tokenHash != nil {
            write("Keep this token to sign in: \(token.text)")
            Self.warnOfNetwork(web)
        } else {
            Self.explainTunnel(web)
        }
    }

    /// Says how a browser on another machine opens a console that only this machine can reach.
    private static func explainTunnel(_ web: WebSettings) {
        ErrorOutput.shared.write(
            """
            For a browser on another machine, run this there first, with your user and this machine's name:
              ssh -L \(web.port):127.0.0.1:\(web.port) \(quoted(ProcessInfo.processInfo.hostName))
            """)
    }

    private static func warnOfNetwork(_ web: WebSettings) {
        ErrorOutput.shared.write(
            """
            The connection is not encrypted. If others could listen in the network, leave --listen out, and open the \
            address on the other machine after: ssh -L \(web.port):127.0.0.1:\(web.port) THIS-MACHINE
            """)
    }

    /// Returns a word in the quotes that a shell needs.
    private static func quoted(_ word: String) -> String {
        word.wholeMatch(of: /[A-Za-z0-9_.,:\/@%+-]+/) != nil ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }

    /// Returns true if a file can be written or created, with its folders.
    private static func isWritable(_ file: URL) -> Bool {
        let folder = file.deletingLastPathComponent()
        if FileManager.default.fileExists(atPath: folder.path) {
            return FileManager.default.isWritableFile(atPath: folder.path)
        }
        return folder.path != file.path && isWritable(folder)
    }
}
