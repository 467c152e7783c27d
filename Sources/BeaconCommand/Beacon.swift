import ArgumentParser

/// The command `beacon`.
@main
struct Beacon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beacon",
        abstract: "Hear iBeacons, tell how near they are, and when they come and go.",
        discussion: """
            Try it without any radio:
              beacon range --source simulation:museum

            And with one, where 'beacon doctor' finds nothing amiss:
              beacon range

            A SOURCE is auto (the first adapter that can be used), hci or bluez (an adapter by a raw socket, or by way of \
            bluetoothd; hci:hci1 names one), a capture (btsnoop, pcap, pcapng, PacketLogger, hcidump -R, sighting log; \
            each also gzipped, or - for standard input) or simulation:NAME-or-FILE. Where --source is not given, \
            BEACON_SOURCE in the environment is used, else auto.
            A REGION is [NAME=]UUID[/MAJOR[/MINOR]].
            """,
        subcommands: [
            Scan.self, Range.self, Monitor.self, Advertise.self, Decode.self, Record.self, Simulate.self,
            Calibrate.self, Doctor.self, Authorization.self,
        ]
    )

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            exit(with: error)
        }
    }

    /// Ends the program: 0 for help, 2 where the command line is at fault, 1 where the work failed, and the number that a
    /// command chose.
    private static func exit(with error: any Error) -> Never {
        let code = exitCode(for: error)
        if error is CleanExit || code == .success {
            print(fullMessage(for: error))
            Self.exit(0)
        }
        if let chosen = error as? ExitCode { Self.exit(chosen.rawValue) }
        if code == .validationFailure {
            StandardError.write(fullMessage(for: error))
            Self.exit(2)
        }
        StandardError.write("Error: \(error)")
        Self.exit(1)
    }

    private static func exit(_ code: Int32) -> Never { Process.exit(code) }
}
