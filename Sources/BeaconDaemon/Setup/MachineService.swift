import BeaconGateway
import BeaconPrograms
import BeaconSupport
import BeaconTerminal

/// The service of this machine, `beacond.service`, which goes on with a configuration that was written.
enum MachineService {
    /// Has the machine's service go on with the configuration.
    ///
    /// - Returns: true where it does.
    static func restart() async -> Bool {
        func succeeds(_ words: String...) async -> Bool {
            let program = EventProgram(words, timeLimit: .seconds(100))
            return (try? await program.run(input: [], output: .standardError))?.isSuccess == true
        }
        guard await succeeds("systemctl", "restart", "beacond") else {
            ErrorOutput.shared.write("Have the service go on with it: sudo systemctl restart beacond")
            return false
        }
        // It is said to have started as soon as its program runs, which may end then.
        try? await Task.sleep(for: .seconds(1))
        let isRunning = await succeeds("systemctl", "--quiet", "is-active", "beacond")
        ErrorOutput.shared.write(
            isRunning
                ? "The service goes on with it."
                : "The service was started with it and does not run; its log says why: journalctl -u beacond")
        return isRunning
    }

    /// Has the machine's service go on, and shows what the broker is told then: the devices of Home Assistant and the
    /// first event, as another client of the broker hears them.
    static func restart(showing broker: GuidedStart.Choice.Broker, devices: Int) async {
        let reported = broker.reported()
        let isListening = await within(.seconds(10)) { await reported.first { _ in true } } ?? nil != nil
        // A broker may let nobody but Home Assistant look.
        guard await restart(), isListening else { return }
        ErrorOutput.shared.write("\nHome Assistant is told, for Settings, Devices, MQTT:")
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
        if isAll == nil { ErrorOutput.shared.write("  so far; an enter comes with the first advert of a beacon.") }
    }

    /// The longest look at what a broker is told: what a connection and the first adverts of a slow beacon take.
    private static let patience = Duration.seconds(20)
}
