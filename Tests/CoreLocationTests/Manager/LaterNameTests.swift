import BeaconMonitoring
import BeaconSupport
import CoreLocation
import Testing

@Suite("Names of other systems, and repeated starts")
struct LaterNameTests {
    @Test("iOS 27's names compile, and have no effect")
    func names() async {
        final class Body: NSObject, CLBodyIdentifiable {}
        let bench = await MonitorBench()
        let manager = bench.manager()
        let body = Body()
        #expect(manager.headingBody == nil)
        manager.headingBody = body
        #expect(manager.headingBody === body)
        manager.activityType = .maritime
        #expect(manager.activityType.rawValue == 6)
        #expect(CLLocationUpdate.LiveConfiguration.maritime != .airborne)
    }

    @Test("A request for earlier positions fails")
    func history() async {
        let bench = await MonitorBench()
        let manager = bench.manager()
        let codes = Locked<[CLError.Code]>([])
        manager.requestHistoricalLocations(purposeKey: "trip", sampleCount: 5) { locations, error in
            guard locations.isEmpty, let error = error as? CLError else { return }
            codes.withLock { $0.append(error.code) }
        }
        await bench.settleCallbacks()
        #expect(codes.withLock { $0 } == [.historicalLocationError])
    }

    @Test("Two starts have two callbacks, and one if a stop is between them", arguments: [false, true])
    func starts(_ stops: Bool) async {
        let bench = await MonitorBench()
        // This task waits while the center makes the calls.
        nonisolated(unsafe) let manager = bench.manager()
        let witness = LocationWitness()
        manager.delegate = witness
        await bench.settleCallbacks()
        _ = witness.take()
        let shop = CLBeaconRegion(uuid: deployment, identifier: "shop")
        // While the center does this, it handles no request.
        await bench.center.together {
            manager.startMonitoring(for: shop)
            if stops { manager.stopMonitoring(for: shop) }
            manager.startMonitoring(for: shop)
        }
        await bench.settleCallbacks()
        #expect(witness.take().count { $0.hasPrefix("started") } == (stops ? 1 : 2))
    }
}

extension BeaconCenter {
    /// Makes calls without the center handling any of them in between.
    fileprivate func together(_ body: @Sendable () -> Void) { body() }
}
