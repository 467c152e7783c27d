import BeaconDelivery
import BeaconEventStore
import BeaconModel
import Testing

@Suite("Notification policy")
struct NotificationPolicyTests {
    /// A case with the reports of each second and the expected notifications. Beacons are written `MINOR:PROXIMITY`,
    /// notifications `SECOND KIND …`. `-` is a report without beacons.
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var rules = NotificationRules()
        var heard: [String]
        var reported: [String]

        init(
            _ description: String, _ change: (inout NotificationRules) -> Void = { _ in }, heard: [String],
            reported: [String]
        ) {
            testDescription = description
            change(&rules)
            self.heard = heard
            self.reported = reported
        }
    }

    static let cases: [Case] = [
        Case("empty reports cause no notification", heard: ["-", "-"], reported: []),
        Case("a new beacon is reported once", heard: ["1:near", "1:near", "1:near"], reported: ["0 proximity 1 near"]),
        Case(
            "a changed proximity is reported, as the recipe's comment says but its code omits",
            heard: ["1:far", "1:near", "1:near", "1:immediate", "1:near"],
            reported: ["0 proximity 1 far", "1 proximity 1 near", "3 proximity 1 immediate", "4 proximity 1 near"]),
        Case(
            "a beacon that was missing in one report is new again", heard: ["1:near", "-", "1:near"],
            reported: ["0 proximity 1 near", "2 proximity 1 near"]),
        Case(
            "each beacon is reported separately", heard: ["1:near 2:far", "2:near 1:near", "3:far"],
            reported: ["0 proximity 1 near", "0 proximity 2 far", "1 proximity 2 near", "2 proximity 3 far"]),
        Case(
            "of two devices with the same identity the nearest counts",
            heard: ["1:near 1:far", "1:near 1:far", "1:far", "1:near 1:far"],
            reported: ["0 proximity 1 near", "2 proximity 1 far", "3 proximity 1 near"]),
        Case(
            "a change to unknown is reported, too", heard: ["1:near", "1:unknown", "1:near"],
            reported: ["0 proximity 1 near", "1 proximity 1 unknown", "2 proximity 1 near"]),
        Case(
            "near or immediate only", { $0.minimumProximity = .near },
            heard: ["1:far", "1:unknown", "1:near", "1:immediate", "1:far", "1:near"],
            reported: ["2 proximity 1 near", "3 proximity 1 immediate", "5 proximity 1 near"]),
        Case(
            "immediate only", { $0.minimumProximity = .immediate }, heard: ["1:near", "1:immediate"],
            reported: ["1 proximity 1 immediate"]),
        Case(
            "any known proximity", { $0.minimumProximity = .far }, heard: ["1:unknown", "1:far"],
            reported: ["1 proximity 1 far"]),
        Case(
            "a cool-down delays a change, and reports at its end what still holds", { $0.coolDown = .seconds(3) },
            heard: ["1:near", "1:far", "1:far", "1:far", "1:far"],
            reported: ["0 proximity 1 near", "3 proximity 1 far"]),
        Case(
            "a change within the cool-down that was reversed is not reported", { $0.coolDown = .seconds(3) },
            heard: ["1:near", "1:far", "1:near", "1:near", "1:near", "1:far"],
            reported: ["0 proximity 1 near", "5 proximity 1 far"]),
        Case(
            "a return within the cool-down to the reported proximity is not reported", { $0.coolDown = .seconds(3) },
            heard: ["1:near", "-", "1:near", "1:near"],
            reported: ["0 proximity 1 near"]),
        Case(
            "a cool-down applies to one beacon", { $0.coolDown = .seconds(9) }, heard: ["1:near", "1:near 2:near"],
            reported: ["0 proximity 1 near", "1 proximity 2 near"]),
        Case(
            "a gone beacon is reported if selected", { $0.kinds.insert(.gone) }, heard: ["1:near", "-", "-"],
            reported: ["0 proximity 1 near", "1 gone 1"]),
        Case(
            "a beacon that was never reported is not reported as gone",
            {
                $0.kinds.insert(.gone)
                $0.minimumProximity = .near
            }, heard: ["1:far", "-"], reported: []),
        Case(
            "a return within the cool-down is reported at its end, after the beacon was reported as gone",
            {
                $0.kinds.insert(.gone)
                $0.coolDown = .seconds(3)
            }, heard: ["1:near", "-", "1:near", "1:near", "1:near"],
            reported: ["0 proximity 1 near", "1 gone 1", "3 proximity 1 near"]),
        Case(
            "proximity can be left out", { $0.kinds = [.enter, .exit] }, heard: ["1:near", "enter", "exit"],
            reported: ["1 enter", "2 exit"]),
        Case("enter and exit", heard: ["enter", "exit", "enter"], reported: ["0 enter", "1 exit", "2 enter"]),
        Case("a state that becomes known is not reported", heard: ["state"], reported: []),
        Case("enter can be left out", { $0.kinds = [.exit] }, heard: ["enter", "exit"], reported: ["1 exit"]),
        Case(
            "only listed regions", { $0.regions = ["elsewhere"] }, heard: ["enter", "1:near", "exit"], reported: []),
        Case(
            "regions of the list", { $0.regions = ["shop"] }, heard: ["enter", "1:near"],
            reported: ["0 enter", "1 proximity 1 near"]),
        Case(
            "beacons beyond the remembered number are not reported, and remembered ones stay quiet",
            { $0.maximumBeacons = 2 },
            heard: ["1:near 2:near 3:near", "1:near 2:near 3:near", "1:near 3:near", "1:near 3:near"],
            reported: ["0 proximity 1 near", "0 proximity 2 near", "3 proximity 3 near"]),
        Case(
            "a heartbeat lists the beacons in each region", { $0.heartbeatInterval = .seconds(2) },
            heard: ["enter", "1:near", "1:near 2:far", "1:near", "1:near"],
            reported: [
                "0 enter", "1 proximity 1 near", "2 heartbeat inside 1:near", "2 proximity 2 far",
                "4 heartbeat inside 1:near",
            ]),
    ]

    @Test("Each sequence of reports gives the expected notifications", arguments: cases)
    func table(_ row: Case) throws {
        var policy = NotificationPolicy(rules: row.rules, regions: [Samples.shop], ids: EventIDs())
        var reported: [String] = []
        for (second, text) in row.heard.enumerated() {
            let event = try Self.event(text, at: second)
            let wallTime = Samples.start.advanced(by: Int64(second) * Timestamp.nanosecondsPerSecond)
            for notification in policy.receive(event, at: wallTime) {
                #expect(notification.time == wallTime)
                reported.append("\(second) \(Self.words(notification))")
            }
        }
        #expect(reported == row.reported)
    }

    @Test("A notification contains the region, the beacon and its proximity")
    func content() throws {
        var policy = NotificationPolicy(
            rules: NotificationRules(), regions: [Samples.shop], ids: EventIDs())
        let first = try #require(policy.receive(try Self.event("7:near", at: 0), at: Samples.start).first)
        #expect(first.region == Samples.shop)
        #expect(first.beacon == BeaconIdentity(uuid: Samples.uuid, major: 1, minor: 7))
        #expect(first.proximity == .near)
        #expect(first.accuracy == 1.5)
        #expect(first.rssi == -60)
        #expect(first.receiver == "hci0")
    }

    @Test("Receivers are compared separately, and without a named region the constraint is the name")
    func places() {
        var policy = NotificationPolicy(rules: NotificationRules(), regions: [], ids: EventIDs())
        var reported: [String] = []
        for (second, receiver) in ["a", "b", "a", "b"].enumerated() {
            let report = RangingEvent(
                time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000), receiver: receiver,
                constraint: BeaconConstraint(uuid: Samples.uuid, major: 1), beacons: [Self.beacon(7, .near)])
            for notification in policy.receive(.ranged(report), at: Samples.start) {
                reported.append("\(second) \(notification.receiver ?? "") \(notification.region?.name ?? "none")")
            }
        }
        #expect(reported == ["0 a \(Samples.uuid)/1", "1 b \(Samples.uuid)/1"])
    }

    @Test("A report of all beacons is divided among the regions")
    func sorting() {
        let window = BeaconNotification.Region(
            name: "window", constraint: BeaconConstraint(uuid: Samples.uuid, major: 2))
        var policy = NotificationPolicy(
            rules: NotificationRules(), regions: [Samples.shop, window], ids: EventIDs())
        let report = RangingEvent(
            time: .zero, receiver: "hci0", constraint: nil,
            beacons: [Self.beacon(1, .near), Self.beacon(2, .near, major: 2)])
        let reported = policy.receive(.ranged(report), at: Samples.start).map {
            "\($0.region?.name ?? "none") \($0.beacon?.minor ?? 0)"
        }
        #expect(reported == ["shop 1", "shop 2", "window 2"])
    }

    @Test("A gap of many intervals gives one heartbeat, without a receiver that is silent")
    func heartbeatAfterGap() throws {
        var rules = NotificationRules()
        rules.heartbeatInterval = .seconds(10)
        var policy = NotificationPolicy(rules: rules, regions: [Samples.shop], ids: EventIDs())
        _ = policy.receive(try Self.event("1:near", at: 0), at: Samples.start)
        let day = Timestamp(nanoseconds: 86_400 * Timestamp.nanosecondsPerSecond)
        let heartbeats = policy.advance(to: day, at: Samples.start)
        #expect(heartbeats.count == 1)
        #expect(heartbeats.first?.presence?.first?.beacons.isEmpty == true)
        #expect(policy.advance(to: day.advanced(by: 9_000_000_000), at: Samples.start).isEmpty)
        #expect(policy.advance(to: day.advanced(by: 10_000_000_000), at: Samples.start).count == 1)
    }

    @Test("A heartbeat lists the nearest beacons, and the number of further ones")
    func heartbeatBound() throws {
        var rules = NotificationRules()
        rules.maximumBeaconsInHeartbeat = 2
        var policy = NotificationPolicy(rules: rules, regions: [Samples.shop], ids: EventIDs())
        _ = policy.receive(try Self.event("1:far 2:near 3:immediate 4:unknown", at: 0), at: Samples.start)
        let presence = try #require(policy.heartbeat(at: Samples.start).presence?.first)
        #expect(presence.beacons.map(\.identity.minor) == [3, 2])
        #expect(presence.unlisted == 2)
    }

    @Test("A million reports of a changing crowd keep the state within its bound")
    func bound() throws {
        var rules = NotificationRules()
        rules.maximumBeacons = 50
        rules.coolDown = .seconds(1_000_000)
        var policy = NotificationPolicy(rules: rules, regions: [Samples.shop], ids: EventIDs())
        var reported = 0
        for second in 0..<1_000 {
            let beacons = (0..<40).map { Self.beacon(UInt16((second * 40 + $0) % 60_000), .near) }
            let report = RangingEvent(
                time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000), receiver: "hci0",
                constraint: BeaconConstraint(uuid: Samples.uuid), beacons: beacons)
            reported += policy.receive(.ranged(report), at: Samples.start).count
        }
        // Each beacon was new. Beacons in their cool-down make room for present ones.
        #expect(reported + policy.ignoredBeacons == 40_000)
        #expect(reported > 20_000)
    }

    private static func words(_ notification: BeaconNotification) -> String {
        switch notification.kind {
        case .proximity: "proximity \(notification.beacon?.minor ?? 0) \(notification.proximity ?? .unknown)"
        case .gone: "gone \(notification.beacon?.minor ?? 0)"
        case .heartbeat:
            "heartbeat "
                + (notification.presence ?? []).map { presence in
                    let beacons = presence.beacons.map { "\($0.identity.minor):\($0.proximity)" }
                    return "\(presence.state) \(beacons.joined(separator: " "))"
                }.joined(separator: "; ")
        default: "\(notification.kind)"
        }
    }

    private static func event(_ text: String, at second: Int) throws -> BeaconEvent {
        let time = Timestamp(nanoseconds: Int64(second) * Timestamp.nanosecondsPerSecond)
        let constraint = Samples.shop.constraint
        func region(_ kind: RegionEvent.Kind, _ state: RegionState) -> BeaconEvent {
            .region(
                RegionEvent(
                    kind, name: "shop", constraint: constraint, time: time, receiver: "hci0", state: state,
                    before: .unknown))
        }
        switch text {
        case "enter": return region(.enter, .inside)
        case "exit": return region(.exit, .outside)
        case "state": return region(.state, .outside)
        default: break
        }
        let beacons = try text.split(separator: " ").filter { $0 != "-" }.map { part in
            let words = part.split(separator: ":")
            try #require(words.count == 2)
            let proximity = try #require(Proximity.allCases.first { $0.description == words[1] })
            return beacon(try #require(UInt16(words[0])), proximity)
        }
        return .ranged(
            RangingEvent(time: time, receiver: "hci0", constraint: constraint, beacons: beacons))
    }

    private static func beacon(_ minor: UInt16, _ proximity: Proximity, major: UInt16 = 1) -> RangedBeacon {
        let accuracy =
            switch proximity {
            case .immediate: 0.2
            case .near: 1.5
            case .far: 6.0
            case .unknown: -1.0
            }
        return RangedBeacon(
            address: DeviceAddress(bits: 1, kind: .unspecified),
            identity: BeaconIdentity(uuid: Samples.uuid, major: major, minor: minor),
            proximity: proximity, accuracy: accuracy, rssi: proximity == .unknown ? 0 : -60, lastHeard: .zero)
    }
}
