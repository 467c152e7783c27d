import BeaconApplications
import BeaconMonitoring
import CoreLocation
import Testing

@Suite("Live updates")
struct CLLocationUpdateTests {
    private func updates(
        _ status: AuthorizationStatus, _ configuration: CLLocationUpdate.LiveConfiguration = .default
    ) async throws -> [CLLocationUpdate] {
        let bench = await MonitorBench(status: status)
        let updates = BeaconCenter.withCurrent(bench.center) { CLLocationUpdate.liveUpdates(configuration) }
        var result: [CLLocationUpdate] = []
        for try await update in updates { result.append(update) }
        return result
    }

    @Test("Live updates end after one update without a position (C8)")
    func unavailable() async throws {
        let updates = try await updates(.always)
        let only = try #require(updates.first)
        #expect(updates.count == 1)
        #expect(only.location == nil && only.locationUnavailable && !only.stationary && !only.isStationary)
        #expect(!only.authorizationDenied && !only.accuracyLimited && !only.insufficientlyInUse)
        #expect(try await self.updates(.always, .fitness).map(\.location) == [nil])
    }

    @Test("The update reports whether the app is authorized")
    func authorization() async throws {
        for status in [AuthorizationStatus.notDetermined, .restricted, .denied, .whenInUse, .always] {
            let only = try #require(try await updates(status).first)
            #expect(only.authorizationDenied == (status == .denied))
            #expect(only.authorizationRestricted == (status == .restricted))
            #expect(!only.authorizationRequestInProgress)
        }
    }

    @Test("The update reports the authorization when it is read, not when updates were requested")
    func laterDecision() async throws {
        let bench = await MonitorBench(status: .notDetermined)
        let updates = BeaconCenter.withCurrent(bench.center) { CLLocationUpdate.liveUpdates() }
        var iterator = updates.makeAsyncIterator()
        bench.center.perform { $0.setStatus(.denied) }
        await bench.settle()
        #expect(try await iterator.next()?.authorizationDenied == true)
        #expect(try await iterator.next().map(\.authorizationDenied) == nil)
    }
}
