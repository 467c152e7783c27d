import ArgumentParser
import BeaconPrograms
import BeaconRadio
import BeaconSupport
import BeaconTerminal
import CLibrary

/// The command `beacon`.
@main
struct Beacon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beacon",
        abstract: "Detect iBeacons, determine how near they are, and be one.",
        discussion: """
            Try it without a Bluetooth adapter, in a simulated museum:
              beacon range --source simulation:museum

            With an adapter (if you hear nothing, 'beacon doctor' finds out why):
              beacon scan

            SOURCES (--source, else BEACON_SOURCE in the environment, else auto)
              auto              the first Bluetooth adapter that works
              hci[:hci1]        an adapter, through a raw HCI socket
              bluez[:hci1]      an adapter, through bluetoothd
              FILE              a capture, gzipped or not: btsnoop, pcap, pcapng,
                                PacketLogger, hcidump -R text or a sighting log
              -                 a capture on standard input
              simulation:NAME   a scenario; 'beacon help simulate' lists them
              simulation:FILE   your own scenario; append ?loop to repeat it
              air[:NAME][@X,Y]  a position, in meters, in the simulated air that all
                                programs of a user share; 'beacon help air'
              mqtt://HOST       receivers that publish to a broker: ESP32s with
                                OpenMQTTGateway or ESPresense, Shelly, Ruuvi and
                                others, or other machines that run 'beacon relay';
                                mqtts: for TLS, USER:PASSWORD@ before HOST
              esphome[:HOST]    Bluetooth proxies of ESPHome, separated by commas, or
                                all in the network; their key is in BEACON_ESPHOME_KEY

            BROKERS ('mqtts://HOST/TOPICS?KEY=VALUE&KEY=VALUE', in quotes)
              ca-file=FILE, certificate-file=FILE, key-file=FILE (PEM), version=3.1.1,
              client-id=NAME, keep-alive=60s; the password in BEACON_BROKER_PASSWORD

            REGIONS (--region)
              [NAME=]UUID[/MAJOR[/MINOR]], for instance
              hall=e2c56db5-dffb-48d2-b060-d0f5a71096e0/1

            Results go to standard output, everything else to standard error. The exit status is 0 for success, 1 if \
            the work failed, 2 for a mistake on the command line and 130 after Ctrl-C.
            """,
        version: ProgramVersion.current,
        subcommands: [
            ScanCommand.self, RangeCommand.self, MonitorCommand.self, PlacesCommand.self, TeachCommand.self,
            AdvertiseCommand.self, RelayCommand.self, ProxyCommand.self,
            DecodeCommand.self, PlanCommand.self,
            RecordCommand.self, SimulateCommand.self, AirCommand.self, CalibrateCommand.self, DoctorCommand.self,
            AuthorizationCommand.self,
        ]
    )

    static func main() async {
        Terminal.openClosedStreams()
        if let obstacle = ProgramArguments.obstacle {
            ErrorOutput.shared.write("Error: \(obstacle)")
            end(1)
        }
        InitProcess.superviseIfFirst()
        if !ProcessPrivileges.settle() {
            ErrorOutput.shared.write(
                "Cannot withhold capabilities from started programs: they can do whatever beacon can.")
        }
        do {
            let names = CommandNames(
                program: "beacon",
                commands: Dictionary(
                    uniqueKeysWithValues: configuration.subcommands.map {
                        // "beacon air NAME" shows an air with any name.
                        (
                            $0._commandName,
                            $0 == AirCommand.self ? [] : $0.configuration.subcommands.map { $0._commandName }
                        )
                    }))
            if let mistake = names.mistake(in: CommandLine.arguments.dropFirst()) { throw ValidationError(mistake) }
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

    /// Ends the program with status 0 for help, 2 for a mistake on the command line, 1 for a failure, or the status
    /// that a command chose.
    private static func exit(with error: any Error) -> Never {
        let code = exitCode(for: error)
        if error is CleanExit || code == .success {
            StandardOutput.write(fullMessage(for: error))
            Self.end(0)
        }
        if let chosen = error as? ExitCode { Self.end(chosen.rawValue) }
        if code == .validationFailure {
            let name = CommandLine.arguments.dropFirst().first
            let command: any ParsableCommand.Type =
                configuration.subcommands.first { $0._commandName == name } ?? Self.self
            let help = helpMessage(for: command)
            ErrorOutput.shared.write(SpellingSuggestion.correctingOption(in: fullMessage(for: error), help: help))
            Self.end(2)
        }
        ErrorOutput.shared.write("Error: \(error)")
        let isWithoutRadio = (error as? RadioError)?.code == .unsupported
        if isWithoutRadio, ![RadioError.cannotSend, .receiversCannotSend].contains(error as? RadioError) {
            ErrorOutput.shared.write(
                "Without a radio, try a simulation: --source simulation:museum, or --source air to advertise.")
        }
        Self.end(1)
    }

    private static func end(_ status: Int32) -> Never {
        fflush(nil)
        CLibrary.exit(status)
    }
}
