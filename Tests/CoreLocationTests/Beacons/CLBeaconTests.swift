import BeaconModel
import Testing

@testable import CoreLocation

@Suite struct CLBeaconTests {
    private func beacon(major: UInt16 = 1, minor: UInt16 = 2) -> CLBeacon {
        CLBeacon(
            uuid: deployment, major: major, minor: minor, proximity: .far, accuracy: 21.536, rssi: -64,
            timestamp: Date(timeIntervalSince1970: 1_595_569_484))
    }

    @Test("A beacon has the values that it was created with")
    func values() {
        let beacon = beacon(minor: 65_535)
        #expect(beacon.uuid == deployment)
        #expect(beacon.proximityUUID == deployment)
        #expect(beacon.major == 1)
        #expect(beacon.minor == 65_535)
        #expect(beacon.proximity == .far)
        #expect(beacon.accuracy == 21.536)
        #expect(beacon.rssi == -64)
        #expect(beacon.timestamp.timeIntervalSince1970 == 1_595_569_484)
    }

    @Test("A beacon that an app creates is unknown")
    func beaconOfAnAppIsUnknown() {
        let beacon = CLBeacon()
        #expect(beacon.proximity == .unknown)
        #expect(beacon.accuracy == -1)
        #expect(beacon.rssi == 0)
        #expect(beacon.major == 0)
        #expect(beacon.minor == 0)
        #expect(beacon.uuid.uuidString == "00000000-0000-0000-0000-000000000000")
    }

    @Test("A beacon is equal only to itself")
    func equalOnlyToItself() {
        let one = beacon()
        #expect(one == one)
        #expect(one != beacon())
        #expect(Set([one, beacon(), one]).count == 2)
    }

    @Test("The description has the format of Apple's logs")
    func description() {
        #expect(
            beacon().description
                == "CLBeacon (uuid:39ED98FF-2900-441A-802F-9C398FC199D2, major:1, minor:2, "
                + "proximity:3 +/- 21.54m, rssi:-64, timestamp:2020-07-24 05:44:44 +0000)")
    }

    @Test("A beacon can be archived, and its copy is itself")
    func archivesAndCopies() throws {
        let one = beacon(major: 65_535)
        let read = try archived(one)
        #expect(read !== one)
        #expect(read.description == one.description)
        #expect(read.accuracy == one.accuracy)
        #expect(one.copy() as? CLBeacon === one)
    }

    @Test("A test double overrides individual properties")
    func testDoublesOverrideProperties() {
        final class Mock: CLBeacon, @unchecked Sendable {
            override var rssi: Int { -50 }
            override var major: NSNumber { 7 }
            override var proximity: CLProximity { .immediate }
            override var uuid: UUID { deployment }
        }
        final class Settable: CLBeacon, @unchecked Sendable {
            private let given: NSNumber
            init(minor: NSNumber) {
                given = minor
                super.init()
            }
            required init?(coder: NSCoder) { nil }
            override var minor: NSNumber { given }
        }
        let mock: CLBeacon = Mock()
        #expect(mock.rssi == -50)
        #expect(mock.major.intValue == 7)
        #expect(mock.proximity == .immediate)
        #expect(mock.proximityUUID == deployment)
        #expect(Settable(minor: 9).minor == 9)
        #expect((mock.copy() as? CLBeacon) is Mock)
    }

    @Test("A beacon has the characteristics that Apple's documentation mentions")
    func characteristics() throws {
        var ranged = RangedBeacon(
            address: DeviceAddress(bits: 1, kind: .random),
            identity: BeaconIdentity(uuid: try #require(ProximityUUID(deployment.uuidString)), major: 3, minor: 4),
            proximity: .near, accuracy: 2, rssi: -65, lastHeard: .zero, measuredPower: -59,
            advertisingInterval: 100_000_000)
        ranged.accuracyRange = 0.75...4.5
        let beacon = CLBeacon(ranged, timestamp: Date())
        #expect(beacon.measuredPower == -59)
        #expect(beacon.advertisingInterval == .milliseconds(100))
        #expect(beacon.accuracyRange == 0.75...4.5)
        ranged.accuracy = -1
        #expect(CLBeacon(ranged, timestamp: Date()).accuracyRange == nil)
        #expect(CLBeacon().accuracyRange == nil && CLBeacon().measuredPower == nil)
    }

    @Test("A beacon has the values from ranging")
    func translatedFromTheEngine() throws {
        let ranged = RangedBeacon(
            address: DeviceAddress(bits: 0x0A0B_0C0D_0E0F, kind: .random),
            identity: BeaconIdentity(
                uuid: try #require(ProximityUUID(deployment.uuidString)), major: 3, minor: 4),
            proximity: .immediate, accuracy: 0.25, rssi: -41, lastHeard: Timestamp(nanoseconds: 5))
        let beacon = CLBeacon(ranged, timestamp: Date(timeIntervalSince1970: 1))
        #expect(beacon.uuid == deployment)
        #expect(beacon.major == 3)
        #expect(beacon.minor == 4)
        #expect(beacon.proximity == .immediate)
        #expect(beacon.accuracy == 0.25)
        #expect(beacon.rssi == -41)
    }

    @Test("Proximities and states have Apple's numbers")
    func stepsAndStatesHaveApplesNumbers() {
        for step in Proximity.allCases { #expect(CLProximity(step).rawValue == Int(step.rawValue)) }
        for state in [RegionState.unknown, .inside, .outside] {
            #expect(CLRegionState(state).rawValue == Int(state.rawValue))
        }
    }
}
