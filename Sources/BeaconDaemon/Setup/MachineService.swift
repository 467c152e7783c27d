import BeaconGateway
import BeaconPrograms
import BeaconSupport
import BeaconTerminal

/// The service of this machine, `beacond.service`, which uses the new configuration.
enum MachineService {
    /// Restarts the machine's service with the new configuration.
    ///
    /// - Returns: true if it runs.
    static func restart() async -> Bool {
        func succeeds(_ words: String...) async -> Bool {
            let program = EventProgram(words, timeLimit: .seconds(100))
            return (try? await program.run(input: [], output: .standardError))?.isSuccess == true
        }
        guard await succeeds("systemctl", "restart", "beacond") else {
            ErrorOutput.shared.write("Restart the service to use it: sudo systemctl restart beacond")
            return false
        }
        // systemd reports a start as soon as the program runs, but the program may end right after.
        try? await Task.sleep(for: .seconds(1))
        let isRunning = await succeeds("systemctl", "--quiet", "is-active", "beacond")
        ErrorOutput.shared.write(
            isRunning
                ? "The service uses the new configuration."
                : "The service does not run with the new configuration; see its log: journalctl -u beacond")
        return isRunning
    }

    /// Restarts the machine's service, and shows its first messages to the broker: the devices of Home Assistant and
    /// the first event, as another client of the broker receives them.
    static func restart(showing broker: GuidedStart.Choice.Broker, devices: Int) async {
        let reported = broker.reported()
        let isListening = await within(.seconds(10)) { await reported.first { _ in true } } ?? nil != nil
        // A broker may let only Home Assistant read.
        guard await restart(), isListening else { return }
        ErrorOutput.shared.write("\nHome Assistant receives, under Settings, Devices & services, MQTT:")
        let isAll = await within(patience) {
            var missing = devices
            var first: String?
            for await one in reported {
                switch one {
                case .listening: break
                case .device(let name, let isRegion):
                    missing -= 1
                    ErrorOutput.shared.write("  device  \(name), a \(isRegion ? "region" : "beacon")")
                case .event(let topic, let beacon):
                    first = first ?? topic + (beacon.map { " (\($0))" } ?? "")
                }
                guard missing <= 0, let first else { continue }
                ErrorOutput.shared.write("  event   \(first)")
                break
            }
            return true
        }
        if isAll == nil { ErrorOutput.shared.write("  No more yet; the first advert of a beacon causes an enter.") }
    }

    /// How long to watch a broker's messages: enough for a connection and the first adverts of a slow beacon.
    private static let patience = Duration.seconds(20)
}
