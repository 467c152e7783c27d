import BeaconModel
import CoreLocation
import Testing

@Suite struct CLBeaconRegionTests {
    @Test("Each initializer sets the identity")
    func initializers() {
        let all = CLBeaconRegion(uuid: deployment, identifier: "a")
        #expect(all.uuid == deployment)
        #expect(all.major == nil)
        #expect(all.minor == nil)
        let group = CLBeaconRegion(uuid: deployment, major: 0, identifier: "a")
        #expect(group.major == 0)
        #expect(group.minor == nil)
        let one = CLBeaconRegion(uuid: deployment, major: 65_535, minor: 0, identifier: "a")
        #expect(one.major == 65_535)
        #expect(one.minor == 0)
        let constraint = CLBeaconIdentityConstraint(uuid: deployment, major: 7)
        let constrained = CLBeaconRegion(beaconIdentityConstraint: constraint, identifier: "c")
        #expect(constrained.beaconIdentityConstraint == constraint)
        #expect(constrained.major == 7)
        #expect(constrained.identifier == "c")
    }

    @Test("The initializers from before iOS 13 have the same effect")
    func deprecatedInitializers() {
        let all = CLBeaconRegion(proximityUUID: deployment, identifier: "a")
        #expect(all.proximityUUID == deployment)
        #expect(all.beaconIdentityConstraint == CLBeaconIdentityConstraint(uuid: deployment))
        let group = CLBeaconRegion(proximityUUID: deployment, major: 1, identifier: "a")
        #expect(group.beaconIdentityConstraint == CLBeaconIdentityConstraint(uuid: deployment, major: 1))
        let one = CLBeaconRegion(proximityUUID: deployment, major: 1, minor: 2, identifier: "a")
        #expect(one.beaconIdentityConstraint == CLBeaconIdentityConstraint(uuid: deployment, major: 1, minor: 2))
    }

    @Test("The description has the format of Apple's logs")
    func description() {
        #expect(
            CLBeaconRegion(uuid: deployment, major: 1, minor: 2, identifier: "abc").description
                == "CLBeaconRegion (identifier:'abc', uuid:39ED98FF-2900-441A-802F-9C398FC199D2, major:1, minor:2)")
        #expect(
            CLBeaconRegion(uuid: deployment, identifier: "abc").description
                == "CLBeaconRegion (identifier:'abc', uuid:39ED98FF-2900-441A-802F-9C398FC199D2, "
                + "major:(null), minor:(null))")
    }

    @Test("Peripheral data are the last bytes of the frame", arguments: [nil, -59, -1, 0, 20, -128, 127] as [Int?])
    func peripheralDataIsTheFramesLastBytes(power: Int?) throws {
        let region = CLBeaconRegion(uuid: deployment, major: 0x0102, minor: 0xFFFE, identifier: "a")
        let data = region.peripheralData(withMeasuredPower: power.map { NSNumber(value: $0) })
        #expect(data.count == 1)
        let value = try #require(data["kCBAdvDataAppleBeaconKey"] as? Data)
        let frame = IBeaconFrame(
            identity: BeaconIdentity(
                uuid: try #require(ProximityUUID(deployment.uuidString)), major: 0x0102, minor: 0xFFFE),
            measuredPower: Int8(power ?? -59))
        #expect(Array(value) == Array(frame.advert[9...29]))
        #expect(data["kCBAdvDataAppleBeaconKey"] is NSData)
    }

    @Test("An unsigned measured power gives the same byte")
    func powerAsAnUnsignedByteIsTheSameByte() throws {
        let region = CLBeaconRegion(uuid: deployment, identifier: "a")
        #expect(region.peripheralData(withMeasuredPower: 0xC5) == region.peripheralData(withMeasuredPower: -59))
    }

    @Test("A nil major or minor value is sent as 0")
    func nilIsSentAsZero() throws {
        let region = CLBeaconRegion(uuid: deployment, identifier: "a")
        let value = try #require(
            region.peripheralData(withMeasuredPower: nil)["kCBAdvDataAppleBeaconKey"] as? Data)
        #expect(value.count == 21)
        #expect(Array(value.suffix(5)) == [0, 0, 0, 0, 0xC5])
    }

    @Test("Peripheral data are new each time")
    func peripheralDataIsNewEachTime() {
        let region = CLBeaconRegion(uuid: deployment, identifier: "a")
        region.peripheralData(withMeasuredPower: nil).removeAllObjects()
        #expect(region.peripheralData(withMeasuredPower: nil).count == 1)
    }

    @Test("A region can be archived")
    func archives() throws {
        let region = CLBeaconRegion(uuid: deployment, major: 0, identifier: "a")
        region.notifyOnEntry = false
        region.notifyEntryStateOnDisplay = true
        let read = try archived(region)
        #expect(read.identifier == "a")
        #expect(read.uuid == deployment)
        #expect(read.major == 0)
        #expect(read.minor == nil)
        #expect(!read.notifyOnEntry)
        #expect(read.notifyOnExit)
        #expect(read.notifyEntryStateOnDisplay)
    }
}
