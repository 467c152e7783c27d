import CoreLocation
import Testing

@Suite("Live updates")
struct CLLocationUpdateTests {
    @Test("Live updates end after one that says that there is no position (C8)")
    func unavailable() async throws {
        var updates: [CLLocationUpdate] = []
        for try await update in CLLocationUpdate.liveUpdates() { updates.append(update) }
        let only = try #require(updates.first)
        #expect(updates.count == 1)
        #expect(only.location == nil && only.locationUnavailable && !only.stationary && !only.isStationary)
        #expect(!only.authorizationDenied && !only.accuracyLimited && !only.insufficientlyInUse)
        for try await update in CLLocationUpdate.liveUpdates(.fitness) { #expect(update.location == nil) }
    }
}
