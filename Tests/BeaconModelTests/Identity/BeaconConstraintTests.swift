import BeaconModel
import Testing

@Suite("Beacon constraint")
struct BeaconConstraintTests {
    private static let text = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
    private let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

    @Test("A constraint is read in its three forms")
    func reads() {
        #expect(BeaconConstraint(Self.text) == BeaconConstraint(uuid: uuid))
        #expect(BeaconConstraint("\(Self.text)/0") == BeaconConstraint(uuid: uuid, major: 0))
        #expect(BeaconConstraint("\(Self.text)/65535/7") == BeaconConstraint(uuid: uuid, major: 65_535, minor: 7))
        #expect(BeaconConstraint("\(Self.text.uppercased())/1/65535"[...])?.minor == 65_535)
    }

    @Test(
        "Other text is not a constraint",
        arguments: [
            "", "/", "/1/2", "\(text)/", "\(text)/1/", "\(text)//2", "\(text)/1/2/3", "\(text)/65536",
            "\(text)/1/65536", "\(text)/-1", "\(text)/+1", "\(text)/1/+2", "\(text)/0x1", "\(text)/ 1", "\(text)/1 ",
            "\(text)/\u{0661}", "\(text)/1\u{301}/2", "\(text) /1", "name=\(text)", "\(text)/99999999999999999999",
        ])
    func rejects(text: String) { #expect(BeaconConstraint(text) == nil) }

    @Test("A constraint is read back from its text")
    func roundTrip() {
        for constraint in [
            BeaconConstraint(uuid: uuid), BeaconConstraint(uuid: uuid, major: 65_535),
            BeaconConstraint(uuid: uuid, major: 0, minor: 65_535),
        ] {
            #expect(BeaconConstraint(constraint.description) == constraint)
        }
    }

    @Test("A constraint matches only the beacons that it names")
    func matches() {
        func identity(_ uuid: ProximityUUID, _ major: UInt16, _ minor: UInt16) -> BeaconIdentity {
            BeaconIdentity(uuid: uuid, major: major, minor: minor)
        }
        let other = ProximityUUID(high: uuid.high, low: uuid.low ^ 1)
        let beacons = [
            identity(uuid, 1, 2), identity(uuid, 1, 3), identity(uuid, 2, 2), identity(other, 1, 2),
        ]
        func matched(_ constraint: BeaconConstraint) -> [Bool] { beacons.map { constraint.matches($0) } }
        #expect(matched(BeaconConstraint(uuid: uuid)) == [true, true, true, false])
        #expect(matched(BeaconConstraint(uuid: uuid, major: 1)) == [true, true, false, false])
        #expect(matched(BeaconConstraint(uuid: uuid, major: 1, minor: 2)) == [true, false, false, false])
    }
}
