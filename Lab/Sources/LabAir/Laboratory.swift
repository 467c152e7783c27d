public import BeaconSimulation
public import VirtualController

/// Controllers in one air: they hear each other, the beacons of a scenario, and floods. It is a state machine as they
/// are; whoever runs it carries bytes and tells the time, in nanoseconds.
///
/// Controller N hears what the scenario's receiver N hears.
public struct Laboratory: Sendable {
    /// The controllers.
    public private(set) var controllers: [Controller]

    /// How strong one controller's adverts are at another, in dBm.
    private let linkStrength: Int8

    /// Finds a scenario by its name.
    private let scenario: @Sendable (String) throws -> Scenario

    private var player: ScenarioPlayer?
    private var flood: Flood?

    /// A laboratory in which nothing is on the air yet.
    ///
    /// - Parameters:
    ///   - linkStrength: how strong one controller's adverts are at another, in dBm.
    ///   - scenario: finds a scenario by its name, or throws what the guest is told.
    public init(
        controllers: [ControllerConfiguration], linkStrength: Int8 = -55,
        scenario: @escaping @Sendable (String) throws -> Scenario
    ) {
        self.controllers = controllers.map(Controller.init)
        self.linkStrength = linkStrength
        self.scenario = scenario
    }

    /// Takes bytes that the host of a controller sent to it.
    public mutating func receive(_ bytes: some Sequence<UInt8>, controller: Int, at time: Int64) {
        controllers[controller].receive(bytes, at: time)
    }

    /// Takes away the first bytes of a controller's output, once its host has them.
    public mutating func removeOutput(_ count: Int, of controller: Int) { controllers[controller].removeOutput(count) }

    /// When it has to be told the time next, or nil where it waits for nothing.
    public var deadline: Int64? {
        (controllers.map(\.deadline) + [player?.deadline, flood?.deadline]).compactMap(\.self).min()
    }

    /// Goes on to a moment: sends and hears what is due.
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

    /// Lets the flood flow as far as the hosts keep up with it.
    private mutating func pour(at time: Int64) {
        flood?.advance(to: time)
        while controllers.allSatisfy({ $0.output.count < Flood.backlogLimit }), let advert = flood?.next() {
            for index in controllers.indices { controllers[index].hear(advert.packet, rssi: advert.rssi) }
        }
    }

    /// Obeys a line from the guest.
    ///
    /// - Returns: the line that answers: `ok` and what was asked for, or `error` and what is wrong.
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

    /// What a controller does and has done, as `key=value` for shells to read.
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
