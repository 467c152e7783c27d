import BeaconApplications
public import BeaconModel
public import BeaconRadio
import Dispatch
@_spi(Measurement) import LinuxRadio

/// A center for measurements in other packages of this repository, with the API that they need.
@_spi(Measurement)
public final class MeasuredCenter: Sendable {
    private let center: BeaconCenter

    /// Creates a center whose application is always authorized.
    ///
    /// - Parameter outside: regions with the known state outside, so that their first advert enters them.
    public init(outside: [(identifier: String, constraint: BeaconConstraint)] = []) {
        let store = MemoryRegionStore()
        store.update { regions in
            regions = outside.map {
                RegisteredRegion(identifier: $0.identifier, constraint: $0.constraint, state: .outside)
            }
        }
        var configuration = CenterConfiguration(application: ApplicationIdentity("benchmark"), store: store)
        configuration.initialStatus = .always
        center = BeaconCenter(configuration)
    }

    /// Calls `body`. New managers that it creates belong to this center.
    public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try BeaconCenter.withCurrent(center, body)
    }

    /// Delivers an event of the radio, and returns when the center has handled it.
    public func receive(_ event: SourceEvent) {
        center.queue.sync { center.assumeIsolated { $0.receive(event) } }
    }

    /// A Boolean value indicating whether no callback is under way.
    public var hasNoCallbacksUnderWay: Bool { center.hasNoCallbacksUnderWay }

    /// Receives adverts from a socket that behaves like a raw HCI socket, and closes it at the end.
    public func use(hciSocket: Int32) {
        center.use(
            SourceRunner { mode, _, report in
                try SourceReader(hciSocket: hciSocket, mode: mode, report: report)
            })
    }

    /// Monitors regions and ranges a constraint for a client that ignores all events.
    ///
    /// - Parameters:
    ///   - regions: the constraints of the regions.
    ///   - ranged: the constraint to range.
    public func serve(regions: [BeaconConstraint], ranging ranged: BeaconConstraint) {
        let client = center.makeClientID()
        center.addClient(client) { _ in }
        center.queue.sync {
            center.assumeIsolated { center in
                for (number, constraint) in regions.enumerated() {
                    center.startMonitoring(
                        RegisteredRegion(identifier: "\(number)", constraint: constraint), for: client)
                }
                center.startRanging(ranged, for: client)
            }
        }
    }
}
