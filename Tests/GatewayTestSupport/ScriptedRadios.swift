package import BeaconGateway
package import BeaconModel
package import BeaconMonitoring
package import BeaconRadio
package import BeaconSupport
import Foundation

/// A runner of a source with messages from a test.
package final class ScriptedRunner: GatewayRunner {
    // With room for one message, the next one waits until the gateway has handled the previous one.
    package let channel = BoundedChannel<SourceEvent>(capacity: 1)

    /// The newest scan mode, or nil before the first.
    package let mode = Locked<ScanMode?>(nil)

    /// All scan modes, in order.
    package let modes = Locked<[ScanMode]>([])

    /// The adverts to send.
    package let advertised = Locked<[OutgoingAdvert]>([])

    package init() {}

    package func start() {}
    package func stop() {}
    package func scan(_ mode: ScanMode) {
        self.mode.withLock { $0 = mode }
        modes.withLock { $0.append(mode) }
    }
    package func advertise(_ adverts: [OutgoingAdvert]) { advertised.withLock { $0 = adverts } }
}

/// Radios with messages from a test, one after another in a single time.
package struct ScriptedRadios {
    package static let identity = BeaconIdentity(uuid: GatewayBench.constraint.uuid, major: 1, minor: 1)
    package static let states: [RadioState] = [
        .unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn,
    ]

    package let runners: [ScriptedRunner]
    /// The time in seconds.
    package private(set) var now: Double = 1000

    package init(_ count: Int) { runners = (0..<count).map { _ in ScriptedRunner() } }

    /// Runs a gateway with radios "a", "b" and so on. A script sends their reports.
    package static func run(
        _ count: Int, in bench: GatewayBench, launches: LaunchAgent? = nil, named isNamed: Bool = true,
        regions: [RegionSettings] = [GatewayBench.region("hall")], places: PlacePlan? = nil, journal: Journal? = nil,
        rules: RuleEngine? = nil, configured: (inout GatewayConfiguration) -> Void = { _ in },
        _ script: @escaping @Sendable (inout ScriptedRadios) -> Void
    ) async {
        let radios = ScriptedRadios(count)
        let names = ["a", "b", "c"].prefix(count)
        let sources = names.map { GatewayBench.radio($0, isNamed: isNamed) }
        var configuration = bench.configuration(sources, regions: regions, places: places)
        configured(&configuration)
        let gateway = bench.gateway(
            sources, runners: Dictionary(uniqueKeysWithValues: zip(names, radios.runners)), launches: launches,
            rules: rules, configuration: configuration, journal: journal)
        await withTaskGroup(of: Void.self) { group in
            let run = Task { await gateway.run() }
            if let launches { group.addTask { await launches.run(gateway) } }
            await onThread {
                var radios = radios
                script(&radios)
            }
            await gateway.stop()
            // One after another, like the threads of sources.
            await onThread {
                for runner in radios.runners {
                    runner.channel.send(.ended)
                    runner.channel.finish()
                }
            }
            await run.value
            await launches?.finish()
            group.cancelAll()
        }
    }

    /// Runs a body on its own thread: sending blocks, which a task must not do.
    package static func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }

    /// Sends a message and waits until the gateway has processed it.
    package func send(_ event: SourceEvent, to radio: Int) {
        runners[radio].channel.send(event)
        runners[radio].channel.send(.heard(SourceBatch()))
    }

    package static func time(_ seconds: Double) -> Timestamp { Timestamp(nanoseconds: Int64(seconds * 1e9)) }

    /// Returns a batch of adverts of the beacon, complete up to a time.
    package static func batch(hearing seconds: [Double], until end: Double) -> SourceBatch {
        var batch = SourceBatch()
        batch.time = time(end)
        batch.sightings = seconds.map {
            Sighting(
                time: time($0), receiver: ReceiverID(0), address: DeviceAddress(bits: 1, kind: .public),
                identity: identity, measuredPower: -59, rssi: SignalStrength(rawValue: -60))
        }
        return batch
    }

    /// Opens the radios.
    package func open(_ radios: Int...) {
        for radio in radios {
            send(.opened, to: radio)
            set(.poweredOn, of: radio)
        }
    }

    package func set(_ state: RadioState, of radio: Int) { send(.state(state), to: radio) }

    /// Makes a radio report the time, and optionally a beacon that it hears now.
    package func report(_ radio: Int, hearing isHeard: Bool = false) {
        var batch = Self.batch(hearing: isHeard ? [now] : [], until: now)
        batch.receiverNames = ["hci\(radio)"]
        send(.heard(batch), to: radio)
    }

    /// Lets time pass while radios report every few seconds.
    ///
    /// - Parameters:
    ///   - seconds: the duration, a multiple of the step.
    ///   - step: the interval between reports.
    ///   - hearing: the radios that hear the beacon, at each report except the first.
    package mutating func pass(_ seconds: Double, every step: Double = 5, hearing: Set<Int> = []) {
        let end = now + seconds
        while now < end {
            now += step
            for radio in runners.indices { report(radio, hearing: hearing.contains(radio)) }
        }
    }

    /// Lets time pass without any report.
    package mutating func sleep(_ seconds: Double) { now += seconds }
}
