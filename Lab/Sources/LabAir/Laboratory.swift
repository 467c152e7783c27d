public import BeaconSimulation
public import VirtualController

/// Controllers in one air: they hear each other, the beacons of a scenario, and floods. Like them it is a state
/// machine: its user passes bytes and the time, in nanoseconds.
///
/// Controller N hears what the scenario's receiver N hears.
public struct Laboratory: Sendable {
    /// The controllers.
    public private(set) var controllers: [Controller]

    /// The strength of one controller's adverts at another, in dBm.
    private let linkStrength: Int8

    /// Finds a scenario by its name.
    private let scenario: @Sendable (String) throws -> Scenario

    private var player: ScenarioPlayer?
    private var flood: Flood?

    /// Creates a laboratory with nothing on the air.
    ///
    /// - Parameters:
    /// - linkStrength: the strength of one controller's adverts at another, in dBm.
    /// - scenario: returns the scenario with a name, or throws an error for the guest.
    public init(
        controllers: [ControllerConfiguration], linkStrength: Int8 = -55,
        scenario: @escaping @Sendable (String) throws -> Scenario
    ) {
        self.controllers = controllers.map(Controller.init)
        self.linkStrength = linkStrength
        self.scenario = scenario
    }

    /// Receives bytes from the host of a controller.
    public mutating func receive(_ bytes: some Sequence<UInt8>, controller: Int, at time: Int64) {
        controllers[controller].receive(bytes, at: time)
    }

    /// Removes the first bytes of a controller's output, once its host has them.
    public mutating func removeOutput(_ count: Int, of controller: Int) { controllers[controller].removeOutput(count) }

    /// The time of the next call of ``advance(to:)``, or nil if nothing is pending.
    public var deadline: Int64? {
        (controllers.map(\.deadline) + [player?.deadline, flood?.deadline]).compactMap(\.self).min()
    }

    /// Advances to a time: sends and receives the adverts that are due.
    public mutating func advance(to time: Int64) {
        for sender in controllers.indices {
            for packet in controllers[sender].advance(to: time) {
                for receiver in controllers.indices where receiver != sender {
                    controllers[receiver].hear(packet, rssi: linkStrength)
                }
            }
        }
        while let adverts = player?.next(upTo: time) {
            for advert in adverts where controllers.indices.contains(advert.receiver) {
                controllers[advert.receiver].hear(advert.packet, rssi: advert.rssi)
            }
        }
        pour(at: time)
    }

    /// Sends the flood's adverts as long as the hosts keep up.
    private mutating func pour(at time: Int64) {
        flood?.advance(to: time)
        while controllers.allSatisfy({ $0.output.count < Flood.backlogLimit }), let advert = flood?.next() {
            for index in controllers.indices { controllers[index].hear(advert.packet, rssi: advert.rssi) }
        }
    }

    /// Carries out a command from the guest.
    ///
    /// - Returns: the answer: `ok` and the requested values, or `error` and the reason.
    public mutating func obey(_ line: String, at time: Int64) -> String {
        do {
            let answer = try obey(try AirCommand(line, controllers: controllers.count), at: time)
            return answer.isEmpty ? "ok" : "ok \(answer)"
        } catch {
            return "error \(error)"
        }
    }

    private mutating func obey(_ command: AirCommand, at time: Int64) throws -> String {
        switch command {
        case .start(let name): player = ScenarioPlayer(try scenario(name), start: time)
        case .stop:
            player = nil
            flood = nil
        case .elapsed: return player.map { "\(Double($0.elapsed(at: time)) / 1e9)" } ?? "none"
        case .flood(let plan): flood = Flood(plan, start: time)
        case .flooded:
            let counts = flood?.counts ?? FloodCounts()
            return "foreign=\(counts.foreign) beacons=\(counts.beacons) over=\(flood?.isOver ?? true ? 1 : 0)"
        case .silent(let index): controllers[index].fault.isSilent = true
        case .dead(let index): controllers[index].fault.isDead = true
        case .refuse(let index, let times, let status):
            controllers[index].fault.refusals = times
            controllers[index].fault.refusal = status
        case .well(let index): controllers[index].fault = ControllerFault()
        case .endScan(let index): controllers[index].endScan()
        case .powerCycle(let index): controllers[index].powerCycle()
        case .state(let index): return Self.state(of: controllers[index])
        }
        return ""
    }

    /// Returns the state and counters of a controller as `key=value` for shells.
    private static func state(of controller: Controller) -> String {
        let counters = controller.counters
        let values: KeyValuePairs<String, Int> = [
            "scanning": controller.isScanning ? 1 : 0,
            "active": controller.isScanningActively ? 1 : 0,
            "filter": controller.isFilteringDuplicates ? 1 : 0,
            "advertising": controller.advertisingCount,
            "commands": counters.commands,
            "scans": counters.scansStarted,
            "reports": counters.reports,
            "duplicates": counters.duplicates,
            "overruns": counters.overruns,
            "transmissions": counters.transmissions,
        ]
        return values.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}
