import CoreLocation
import Testing

@Suite struct CLBeaconIdentityConstraintTests {
    @Test func values() {
        let all = CLBeaconIdentityConstraint(uuid: deployment)
        #expect(all.uuid == deployment)
        #expect(all.major == nil && all.minor == nil)
        let one = CLBeaconIdentityConstraint(uuid: deployment, major: 1, minor: 2)
        let major: UInt16? = one.major
        let minor: UInt16? = one.minor
        #expect(major == 1 && minor == 2)
    }

    @Test func comparedByValue() {
        let constraints = [
            CLBeaconIdentityConstraint(uuid: deployment),
            CLBeaconIdentityConstraint(uuid: deployment, major: 0),
            CLBeaconIdentityConstraint(uuid: deployment, major: 0, minor: 0),
            CLBeaconIdentityConstraint(uuid: UUID()),
        ]
        #expect(Set(constraints).count == 4)
        let again = CLBeaconIdentityConstraint(uuid: deployment, major: 0)
        #expect(again == constraints[1])
        #expect(again !== constraints[1])
        #expect(again.hash == constraints[1].hash)
        #expect(!again.isEqual(nil))
    }

    @Test func keyOfADictionary() {
        var found = [CLBeaconIdentityConstraint: [CLBeacon]]()
        found[CLBeaconIdentityConstraint(uuid: deployment, major: 1)] = [CLBeacon()]
        #expect(found[CLBeaconIdentityConstraint(uuid: deployment, major: 1)]?.count == 1)
        #expect(found[CLBeaconIdentityConstraint(uuid: deployment)] == nil)
    }

    @Test func archivesAndCopies() throws {
        for constraint in [
            CLBeaconIdentityConstraint(uuid: deployment), CLBeaconIdentityConstraint(uuid: deployment, major: 0),
            CLBeaconIdentityConstraint(uuid: deployment, major: 1, minor: 65_535),
        ] {
            #expect(try archived(constraint) == constraint)
            #expect(constraint.copy() as? CLBeaconIdentityConstraint == constraint)
        }
    }

    @Test func crossesTasks() async {
        let constraint = CLBeaconIdentityConstraint(uuid: deployment)
        let uuid = await Task.detached { constraint.uuid }.value
        #expect(uuid == deployment)
    }
}
