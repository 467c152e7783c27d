internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
import CoreLocation

extension Conformance {
    /// The beacons for an app.
    struct Identities: Sendable {
        var first: Identity?
        /// Another beacon of the same region.
        var second: Identity?
        /// A beacon of another region.
        var other: Identity?

        init() {}

        /// Chooses beacons that satisfy what an app requests, unless the options name some.
        init(_ requests: CenterRequests, _ wanted: [CLBeaconIdentityConstraint]) {
            let constraints = requests.regions.map(\.constraint) + requests.conditions + requests.ranged
            guard let first = wanted.first.map(Identity.init) ?? constraints.first.map({ Identity($0) })
            else { return }
            self.first = first
            let own = Set(constraints.filter { first.satisfies($0) })
            if wanted.count > 1 {
                second = Identity(wanted[1])
            } else {
                // In the same regions as the first, so that it causes no entry.
                let next = Identity(uuid: first.uuid, major: first.major, minor: first.minor &+ 1)
                if Set(constraints.filter { next.satisfies($0) }) == own, !own.isEmpty { second = next }
            }
            other = constraints.filter { !own.contains($0) }.map { Identity($0) }.first { other in
                !own.contains { other.satisfies($0) }
            }
        }
    }

    /// The identity of a beacon.
    struct Identity: Hashable, Sendable {
        var uuid: UUID
        var major: UInt16
        var minor: UInt16

        init(uuid: UUID, major: UInt16, minor: UInt16) {
            self.uuid = uuid
            self.major = major
            self.minor = minor
        }

        /// Creates an identity that satisfies a constraint.
        init(_ constraint: BeaconConstraint) {
            self.init(uuid: Self.uuid(constraint), major: constraint.major ?? 1, minor: constraint.minor ?? 1)
        }

        /// Creates an identity that satisfies a constraint of an app.
        init(_ constraint: CLBeaconIdentityConstraint) {
            self.init(uuid: constraint.uuid, major: constraint.major ?? 1, minor: constraint.minor ?? 1)
        }

        private static func uuid(_ constraint: BeaconConstraint) -> UUID {
            // The text of a UUID is one.
            UUID(uuidString: "\(constraint.uuid)") ?? UUID()
        }

        func satisfies(_ constraint: BeaconConstraint) -> Bool {
            Self.uuid(constraint) == uuid && constraint.major ?? major == major && constraint.minor ?? minor == minor
        }
    }
}
