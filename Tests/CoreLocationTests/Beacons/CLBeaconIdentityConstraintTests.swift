import BeaconModel
import Testing

@testable import CoreLocation

@Suite struct CLBeaconIdentityConstraintTests {
    @Test("A constraint has the values that it was created with")
    func values() {
        let all = CLBeaconIdentityConstraint(uuid: deployment)
        #expect(all.uuid == deployment)
        #expect(all.major == nil && all.minor == nil)
        let one = CLBeaconIdentityConstraint(uuid: deployment, major: 1, minor: 2)
        let major: UInt16? = one.major
        let minor: UInt16? = one.minor
        #expect(major == 1 && minor == 2)
    }

    @Test("Constraints are compared and hashed by value")
    func comparedByValue() {
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

    @Test("An equal constraint finds a dictionary entry")
    func keyOfADictionary() {
        var found = [CLBeaconIdentityConstraint: [CLBeacon]]()
        found[CLBeaconIdentityConstraint(uuid: deployment, major: 1)] = [CLBeacon()]
        #expect(found[CLBeaconIdentityConstraint(uuid: deployment, major: 1)]?.count == 1)
        #expect(found[CLBeaconIdentityConstraint(uuid: deployment)] == nil)
    }

    @Test("A constraint can be archived, and its copy is itself")
    func archivesAndCopies() throws {
        for constraint in [
            CLBeaconIdentityConstraint(uuid: deployment), CLBeaconIdentityConstraint(uuid: deployment, major: 0),
            CLBeaconIdentityConstraint(uuid: deployment, major: 1, minor: 65_535),
        ] {
            #expect(try archived(constraint) == constraint)
            #expect(constraint.copy() as? CLBeaconIdentityConstraint == constraint)
        }
    }

    @Test("A constraint can be sent to another task")
    func crossesTasks() async {
        let constraint = CLBeaconIdentityConstraint(uuid: deployment)
        let uuid = await Task.detached { constraint.uuid }.value
        #expect(uuid == deployment)
    }
}

@Suite struct TranslationTests {
    @Test("UUIDs keep their bytes")
    func uuidsKeepTheirBytes() throws {
        let own = ProximityUUID(deployment)
        #expect(own == ProximityUUID(high: 0x39ED_98FF_2900_441A, low: 0x802F_9C39_8FC1_99D2))
        #expect(UUID(own) == deployment)
    }

    @Test("Constraints keep their values")
    func constraintsKeepTheirValues() {
        let uuid = ProximityUUID(deployment)
        #expect(
            BeaconConstraint(CLBeaconIdentityConstraint(uuid: deployment)) == BeaconConstraint(uuid: uuid))
        #expect(
            BeaconConstraint(CLBeaconIdentityConstraint(uuid: deployment, major: 1))
                == BeaconConstraint(uuid: uuid, major: 1))
        #expect(
            BeaconConstraint(CLMonitor.BeaconIdentityCondition(uuid: deployment, major: 1, minor: 0))
                == BeaconConstraint(uuid: uuid, major: 1, minor: 0))
    }
}
