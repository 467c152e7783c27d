package import BeaconApplications
package import BeaconModel
import Dispatch

/// The requests of an application's clients at one time, for a test that observes the application.
package struct CenterRequests: Hashable, Sendable {
    /// The regions that the application monitors, in the order in which they were added.
    package var regions: [RegisteredRegion] = []
    /// The constraints of the conditions that its monitors have.
    package var conditions: [BeaconConstraint] = []
    /// The constraints that it ranges.
    package var ranged: [BeaconConstraint] = []
    /// The number of adverts that it wants to send.
    package var advertCount = 0
    /// The number of its managers, monitors and sessions.
    package var clientCount = 0

    /// No requests.
    package init() {}
}

extension BeaconCenter {
    /// The present requests, after all work that was submitted before.
    package nonisolated var requests: CenterRequests {
        queue.sync {
            assumeIsolated { center in
                var result = CenterRequests()
                result.regions = center.regions.map(\.registered)
                for place in result.regions.indices { result.regions[place].state = .unknown }
                result.conditions = center.clientConditions.sorted { $0.key < $1.key }.map(\.value.constraint)
                result.ranged = center.rangings.keys.sorted { $0.description < $1.description }
                result.advertCount = center.clients.values.count { $0.advert != nil }
                result.clientCount = center.clients.count
                return result
            }
        }
    }
}
