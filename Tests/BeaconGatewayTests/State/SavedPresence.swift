import BeaconEventStore
import BeaconModel
import GatewayTestSupport

@testable import BeaconGateway

extension GatewayBench {
    /// The presence on the disk.
    var presence: Presence {
        get async throws {
            guard let store else { return Presence() }
            return try await Presence(in: store)
        }
    }

    /// Saves a presence from an earlier run.
    func save(_ presence: Presence) async throws {
        let changes = presence.changes(since: try await self.presence)
        if !changes.isEmpty { try await store?.append(Step(changes: changes)) }
    }

    /// Saves a region's state from an earlier run.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - region: the region's name.
    ///   - source: the source that kept it inside, or nil if unknown.
    func remember(_ state: RegionState, of region: String, by source: String? = nil) async throws {
        let region = [
            "region \(region)": Presence.Region(constraint: Self.constraint, state: state, source: source)
        ]
        try await save(Presence(regions: region))
    }

    /// The state of a region on the disk.
    func remembered(_ region: String) async throws -> RegionState? {
        try await presence.regions["region \(region)"]?.state
    }
}
