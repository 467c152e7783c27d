import BeaconModel
import Testing

@Suite("Beacon identity")
struct BeaconIdentityTests {
    @Test("An identity is written in the form of the command line")
    func description() {
        let identity = BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 65_535, minor: 0)
        #expect(identity.description == "00000000-0000-0001-0000-000000000002/65535/0")
        #expect(BeaconConstraint(identity.description) == BeaconConstraint(identity))
    }

    @Test("Identities are ordered by UUID, then major, then minor")
    func order() {
        func identity(_ low: UInt64, _ major: UInt16, _ minor: UInt16) -> BeaconIdentity {
            BeaconIdentity(uuid: ProximityUUID(high: 0, low: low), major: major, minor: minor)
        }
        let ascending = [
            identity(1, 1, 1), identity(1, 1, 40_000), identity(1, 2, 0), identity(1, 40_000, 0), identity(2, 0, 0),
        ]
        #expect(ascending.reversed().sorted() == ascending)
    }
}
