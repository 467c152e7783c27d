import BeaconEngine
import BeaconModel
import BeaconRadio
import Testing

@testable import BeaconMonitoring

@Suite("Beacons that nearly match")
struct NearMatchTests {
    private static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    private static let reversed = ProximityUUID(high: 0xE096_10A7_F5D0_60B0, low: 0xD248_FBDF_B56D_C5E2)

    private static func time(_ seconds: Double) -> Timestamp {
        Timestamp(nanoseconds: 1_760_000_000_000_000_000 + Int64(seconds * 1e9))
    }

    private static func sighting(_ identity: BeaconIdentity, at seconds: Double) -> Sighting {
        Sighting(
            time: time(seconds), receiver: ReceiverID(0), address: DeviceAddress(bits: 1, kind: .public),
            identity: identity, measuredPower: -59, rssi: SignalStrength(rawValue: -60))
    }

    private static func identity(_ major: UInt16, _ minor: UInt16, _ uuid: ProximityUUID = uuid) -> BeaconIdentity {
        BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    /// The client of a core: a region, with or without a known state, or a ranging request.
    enum Client: CaseIterable { case region, outside, ranging }

    /// Returns the notices while beacons are heard twice a second.
    private static func notices(
        _ constraints: [BeaconConstraint], _ client: Client = .region, seconds: Int = 60,
        heard: (Int) -> [BeaconIdentity]
    ) -> [String] {
        var core = MonitoringCore()
        for constraint in constraints {
            switch client {
            case .region: _ = core.startMonitoring(MonitoredRegion(constraint))
            case .outside: _ = core.startMonitoring(MonitoredRegion(constraint), assuming: .outside)
            case .ranging: _ = core.startRanging(constraint)
            }
        }
        var notices: [String] = []
        for second in 0..<seconds {
            for part in [0, 0.5] {
                for identity in heard(second) { core.receive(sighting(identity, at: Double(second) + part)) }
            }
            core.advance(to: time(Double(second) + 0.9))
            for case .notice(let notice) in core.drainEvents() where notice.kind == .nearMatch {
                notices.append("\(notice)")
            }
        }
        return notices
    }

    @Test(
        "A beacon that nearly matches is named once",
        arguments: [
            (identity(256, 512), "256/512 (its bytes reversed)"), (identity(1, 3), "1/3"), (identity(2, 2), "2/2"),
            (identity(1, 2, reversed), "\(reversed)/1/2 (its bytes reversed)"),
            (identity(256, 512, reversed), "\(reversed)/256/512 (its bytes reversed)"),
        ], Client.allCases)
    func named(heard: (identity: BeaconIdentity, name: String), client: Client) {
        let constraint = BeaconConstraint(uuid: Self.uuid, major: 1, minor: 2)
        for start in [0, 5, 40, 200] {
            let notices = Self.notices([constraint], client, seconds: 300) { $0 >= start ? [heard.identity] : [] }
            #expect(notices.count == 1, "\(start): \(notices)")
            #expect(notices.allSatisfy { $0.hasPrefix("\(constraint): ") && $0.hasSuffix(": \(heard.name)") })
        }
    }

    @Test("A minor value that changes is named after the exit", arguments: [7, 20, 50])
    func battery(change: Int) {
        let constraint = BeaconConstraint(uuid: Self.uuid, major: 1, minor: 99)
        let notices = Self.notices([constraint], seconds: 200) { second in
            [Self.identity(1, UInt16(99 - (second / change)))]
        }
        #expect(notices.count == 1 && notices[0].contains("1/9"), "\(notices)")
    }

    @Test("Nothing is reported if the beacon is heard, or belongs to another region, or has another UUID")
    func silent() {
        let constraint = BeaconConstraint(uuid: Self.uuid, major: 1, minor: 2)
        let other = BeaconConstraint(uuid: Self.uuid, major: 256, minor: 512)
        let foreign = Self.identity(1, 2, ProximityUUID(high: 1, low: 2))
        for client in Client.allCases {
            #expect(Self.notices([constraint], client) { _ in [Self.identity(1, 2), Self.identity(256, 512)] } == [])
            #expect(Self.notices([constraint, other], client) { _ in [Self.identity(256, 512)] } == [])
            #expect(Self.notices([constraint], client) { _ in [foreign] } == [])
            #expect(Self.notices([BeaconConstraint(uuid: Self.uuid)], client) { _ in [Self.identity(9, 9)] } == [])
        }
        #expect(Self.notices([constraint]) { _ in [] } == [])
    }

    @Test("The likely ones come first, and thousands of identities and regions give a few notices")
    func bounded() {
        let constraint = BeaconConstraint(uuid: Self.uuid, major: 1, minor: 2)
        let notices = Self.notices([constraint], seconds: 40) { second in
            (0..<50).map { Self.identity(7, UInt16(second * 50 + $0)) } + [Self.identity(256, 512)]
        }
        #expect(
            notices.count == 1 && notices[0].contains("256/512 (its bytes reversed), 7/0")
                && notices[0].hasSuffix("and others"))
        let regions = (0..<2_000).map { BeaconConstraint(uuid: Self.uuid, major: 1, minor: $0) }
        let all = Self.notices(regions, seconds: 40) { _ in [Self.identity(2, 2)] }
        #expect(all.count == 20 && Set(all).count == 20)
    }
}
