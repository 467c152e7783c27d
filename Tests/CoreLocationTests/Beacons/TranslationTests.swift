import BeaconModel
import Testing

@testable import CoreLocation

@Suite struct TranslationTests {
    @Test func uuidsKeepTheirBytes() throws {
        let own = ProximityUUID(deployment)
        #expect(own == ProximityUUID(high: 0x39ED_98FF_2900_441A, low: 0x802F_9C39_8FC1_99D2))
        #expect(UUID(own) == deployment)
    }

    @Test func constraintsKeepTheirParts() {
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
