import BeaconModel
import BeaconSupport
import Testing

@testable import BeaconMQTT

@Suite("The published state of a beacon")
struct BeaconTrackerTests {
    @Test("A beacon that lies still causes a handful of messages in an hour of 3600 reports")
    func still() {
        var tracker = BeaconTracker(Self.keys)
        var generator = SplitMix64(seed: 1)
        var messages = 0
        for second in 0..<3600 {
            // 2 m with a spread of a tenth, -66 dBm with one of 2 dB.
            let accuracy = 2 + Double.random(in: -0.2...0.2, using: &generator)
            let rssi = -66 + Int.random(in: -2...2, using: &generator)
            if receive(.ranged(accuracy, rssi: rssi, at: Double(second)), &tracker) { messages += 1 }
        }
        #expect(messages == 1)
    }

    @Test(
        "A distance is published once it has been outside the shown range for two seconds in a row",
        arguments: [
            // The shown 4 m have the range 3 to 6 m.
            ([4, 7, 7, 7], [0, 3]), ([4, 7, 7, 5, 7, 7, 7], [0, 6]), ([4, 2, 2, 2], [0, 3]), ([4, 2, 7, 2], [0, 3]),
            ([4, 5.9, 5.9, 5.9, 3.1, 3.1, 3.1], [0]), ([4, 7, 7], [0]),
        ] as [([Double], [Int])])
    func moving(distances: [Double], published: [Int]) {
        var tracker = BeaconTracker(Self.keys)
        let times = distances.indices.filter { second in
            receive(.ranged(distances[second], range: 3...6, at: Double(second)), &tracker)
        }
        #expect(times == published)
        #expect(tracker.published.distance == distances[published.last ?? 0])
    }

    @Test("The order of two receivers' reports does not delay a move")
    func order() {
        for receivers in [["a", "b"], ["b", "a"]] {
            var tracker = BeaconTracker(Self.keys)
            var published: [Double] = []
            for second in 0..<20 {
                // The beacon goes from one receiver to the other one.
                let isMoved = second >= 10
                for receiver in receivers {
                    let distance = (receiver == "a") == isMoved ? 8.0 : 2.0 + Double(second) / 100
                    let event = BeaconEvent.ranged(
                        distance, receiver: receiver, range: distance - 1.5...distance + 1.5, at: Double(second))
                    if receive(event, &tracker) { published.append(Double(second)) }
                }
            }
            #expect(published.filter { $0 > 0 } == [], "both are two meters away: \(published)")
            #expect(tracker.published.distance == 2 && tracker.published.receiver == "a")
            for second in 20..<24 {
                for receiver in receivers {
                    _ = receive(
                        .ranged(receiver == "a" ? 9 : 6, receiver: receiver, at: Double(second)), &tracker)
                }
                #expect(tracker.published.distance == (second < 22 ? 2 : 6))
            }
            #expect(tracker.published.receiver == "b")
        }
    }

    @Test("From 20 m on, only a nearer distance is outside the range")
    func farAway() {
        var tracker = BeaconTracker(Self.keys)
        #expect(receive(.ranged(25, range: 15...Double.infinity, at: 0), &tracker))
        for second in 1..<20 {
            #expect(!receive(.ranged(90, range: 50...Double.infinity, at: Double(second)), &tracker))
        }
        for second in 20..<22 { #expect(!receive(.ranged(10, range: 8...14, at: Double(second)), &tracker)) }
        #expect(receive(.ranged(10, range: 8...14, at: 22), &tracker))
    }

    @Test(
        "After five minutes, a difference of half a meter or a fifth is published, even within the range",
        arguments: [(2.0, 2.4, false), (2.0, 2.5, true), (2.0, 1.5, true), (10.0, 11.9, false), (10.0, 12.0, true)])
    func refresh(distance: Double, new: Double, isPublished: Bool) {
        var tracker = BeaconTracker(Self.keys)
        #expect(receive(.ranged(distance, range: 1...30, at: 0), &tracker))
        for second in 1..<300 { #expect(!receive(.ranged(new, range: 1...30, at: Double(second)), &tracker)) }
        #expect(receive(.ranged(new, range: 1...30, at: 300), &tracker) == isPublished)
    }

    @Test("The proximity is that of the shown distance, with a dead band")
    func proximity() {
        var tracker = BeaconTracker(Self.keys)
        var second = 0.0
        for (distance, expected) in [
            (2.9, Proximity.near), (3.4, .near), (3.5, .far), (2.6, .far), (2.5, .near), (0.5, .near),
            (0.4, .immediate),
            (0.5, .immediate), (0.6, .near), (9, .far), (0.2, .immediate), (3.4, .near),
        ] {
            for _ in 0..<3 {
                let event = BeaconEvent.ranged(
                    distance, proximity: .far, range: distance - 0.01...distance + 0.01, at: second)
                _ = receive(event, &tracker)
                second += 1
            }
            #expect(tracker.published.distance == distance)
            #expect(tracker.published.proximity == expected, "\(distance) m")
        }
        // Without a proximity before, the boundaries are exact.
        _ = receive(.ranged(nil, at: second), &tracker)
        #expect(tracker.published.proximity == .unknown)
        _ = receive(.ranged(3.1, at: second + 1), &tracker)
        #expect(tracker.published.proximity == .far)
    }

    @Test("After a connection, the present estimate is published, and its proximity has the dead band")
    func renewed() {
        var tracker = BeaconTracker(Self.keys)
        #expect(receive(.ranged(2.9, range: 2...4, at: 0), &tracker))
        #expect(!receive(.ranged(3.3, range: 2...4, at: 1), &tracker))
        #expect(renew(&tracker))
        #expect(tracker.published.distance == 3.3 && tracker.published.proximity == .near)
        #expect(!renew(&tracker))
        #expect(receive(.ranged(nil, at: 2), &tracker))
        #expect(!renew(&tracker))
        #expect(tracker.published.proximity == .unknown)
    }

    @Test("Signal and receiver change only together with the distance")
    func signal() {
        var tracker = BeaconTracker(Self.keys)
        #expect(receive(.ranged(2, rssi: -60, at: 0), &tracker))
        #expect(receive(.presence(.inside, at: 1), &tracker))
        #expect(!receive(.ranged(2.2, rssi: -90, at: 2), &tracker))
        #expect(receive(.presence(.unknown, at: 3), &tracker))
        #expect(receive(.presence(.inside, at: 4), &tracker))
        #expect(receive(.ranged(2.2, rssi: 0, at: 5), &tracker))
        #expect(tracker.published.rssi == nil && tracker.published.distance == 2.2)
    }

    @Test("An unknown distance and a change of presence are published at once")
    func atOnce() {
        var tracker = BeaconTracker(Self.keys)
        #expect(receive(.ranged(2, at: 1), &tracker))
        #expect(receive(.presence(.inside, at: 3), &tracker))
        #expect(
            tracker.published
                == BeaconState(presence: .inside, proximity: .near, distance: 2, rssi: -60, receiver: "hci0"))
        #expect(!receive(.presence(.inside, at: 4), &tracker))
        #expect(receive(.ranged(nil, at: 5), &tracker))
        #expect(tracker.published == BeaconState(presence: .inside))
        _ = receive(.ranged(2, at: 6), &tracker)
        guard case .ranged(var report) = BeaconEvent.ranged(-1, proximity: .unknown, at: 7) else { return }
        report.beacons[0].isUndecided = true
        #expect(receive(.ranged(report), &tracker), "the receiver that decides is deaf")
        #expect(tracker.published == BeaconState(presence: .inside))
    }

    @Test("After an outage, a receiver farther away does not count before the others have had two seconds")
    func afterOutage() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.presence(.inside, at: 0), &tracker)
        _ = receive(.ranged(0.3, receiver: "kitchen", range: 0.1...0.8, at: 1), &tracker)
        _ = receive(.presence(.unknown, at: 2), &tracker)
        _ = receive(.presence(.inside, at: 20), &tracker)
        for second in 20...21 { #expect(!receive(.ranged(12, receiver: "study", at: Double(second)), &tracker)) }
        #expect(receive(.ranged(0.4, receiver: "kitchen", range: 0.1...0.9, at: 21), &tracker))
        #expect(tracker.published.proximity == .immediate)
        // The beacon has moved during the outage.
        _ = receive(.presence(.unknown, at: 22), &tracker)
        for second in 40...41 { #expect(!receive(.ranged(12, receiver: "study", at: Double(second)), &tracker)) }
        #expect(receive(.ranged(12, receiver: "study", at: 42), &tracker))
        // A beacon that was away has no distance to compare with.
        _ = receive(.presence(.outside, at: 43), &tracker)
        _ = receive(.presence(.inside, at: 50), &tracker)
        #expect(receive(.ranged(19, receiver: "study", at: 50), &tracker))
    }

    @Test("A gap between two adverts is not published")
    func gap() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.ranged(2, at: 0), &tracker)
        for second in 1...2 { #expect(!receive(.ranged(-1, proximity: .unknown, at: Double(second)), &tracker)) }
        #expect(!receive(.ranged(2, at: 3), &tracker))
        for second in 4...5 { #expect(!receive(.ranged(-1, proximity: .unknown, at: Double(second)), &tracker)) }
        #expect(receive(.ranged(-1, proximity: .unknown, at: 6), &tracker))
        #expect(tracker.published == BeaconState())
    }

    @Test("A change of place is published at once, and an unknown place is null")
    func place() {
        var tracker = BeaconTracker(Self.keys)
        func change(_ state: RegionState, _ place: String?, at time: Int64) -> PlaceEvent {
            PlaceEvent(
                time: Timestamp(nanoseconds: time * 1_000_000_000), identity: TestBeacon.keys, state: state,
                place: place, before: nil)
        }
        #expect(receive(.placed(change(.inside, "hall", at: 1)), &tracker))
        #expect(tracker.published.place == "hall")
        #expect(receive(.placed(change(.inside, "kitchen", at: 2)), &tracker))
        #expect(receive(.placed(change(.outside, nil, at: 3)), &tracker))
        #expect(tracker.published.place == "away")
        #expect(receive(.placed(change(.unknown, nil, at: 4)), &tracker))
        #expect(tracker.published.place == nil)
        var other = change(.inside, "hall", at: 5)
        other.identity = TestBeacon.bag
        #expect(!receive(.placed(other), &tracker))
    }

    @Test("There is no distance once the beacon is absent or no longer listed")
    func gone() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.presence(.inside, at: 0), &tracker)
        _ = receive(.ranged(2, at: 1), &tracker)
        #expect(receive(.ranged(nil, at: 2), &tracker))
        #expect(tracker.published == BeaconState(presence: .inside))
        _ = receive(.ranged(2, at: 3), &tracker)
        #expect(receive(.presence(.outside, at: 4), &tracker))
        #expect(tracker.published == BeaconState(presence: .outside))
        #expect(!receive(.ranged(2, at: 30), &tracker))
    }

    @Test("The nearest of several receivers counts, and a silent receiver does not")
    func receivers() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.ranged(8, proximity: .far, receiver: "hci0", at: 1), &tracker)
        #expect(receive(.ranged(1, proximity: .near, receiver: "hci1", at: 1), &tracker))
        #expect(tracker.published.receiver == "hci1")
        // The other receiver's last report counts for five seconds.
        for second in 2..<9 { #expect(!receive(.ranged(8, receiver: "hci0", at: Double(second)), &tracker)) }
        #expect(receive(.ranged(8, receiver: "hci0", at: 9), &tracker))
        #expect(tracker.published.receiver == "hci0")
    }

    @Test("Reports of other beacons change nothing")
    func others() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.ranged(2, at: 1), &tracker)
        #expect(!receive(.ranged(nil, of: BeaconConstraint(TestBeacon.bag), at: 2), &tracker))
        #expect(!receive(.ranged(nil, of: BeaconConstraint(TestBeacon.bag), at: 20), &tracker))
        #expect(tracker.published.distance == 2)
    }

    @Test("Proximity and distance are removed if no report confirms them for a while")
    func expired() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.presence(.inside, at: 0), &tracker)
        _ = receive(.ranged(2, at: 1), &tracker)
        #expect(!expire(&tracker, at: 16))
        #expect(tracker.published.proximity == .near)
        #expect(expire(&tracker, at: 17))
        #expect(tracker.published == BeaconState(presence: .inside))
        #expect(!expire(&tracker, at: 18))
    }

    @Test("There is no proximity from before a connection that was lost during suspension")
    func connectedAgain() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.presence(.inside, at: 0), &tracker)
        _ = receive(.ranged(2, at: 1), &tracker)
        let age = BeaconTracker.oldestArrivalAtConnection
        #expect(!expire(&tracker, at: 6, after: age))
        #expect(expire(&tracker, at: 7, after: age))
        #expect(tracker.published == BeaconState(presence: .inside))
    }

    @Test(
        "Reports made before suspension that arrive after it give no proximity", arguments: 1...4)
    func late(count: Int) {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.presence(.inside, at: 0), &tracker)
        _ = receive(.ranged(2, at: 1), &tracker)
        for second in 0..<count {
            receiveLate(.ranged(2, at: Double(2 + second)), &tracker)
            #expect(tracker.published == BeaconState(presence: .inside))
        }
        // The next report is current.
        #expect(receive(.ranged(2, at: 13), &tracker))
        #expect(tracker.published.proximity == .near)
    }

    @Test("A source that had stopped for a while gives a proximity again")
    func behind() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.presence(.inside, at: 0), &tracker)
        for second in 1...20 { receiveLate(.ranged(2, at: Double(second)), by: second < 5 ? 0 : 60, &tracker) }
        #expect(tracker.published.proximity == .near)
    }

    /// Processes a report that arrives at 12 s, or a number of seconds after its time.
    private func receiveLate(_ event: BeaconEvent, by delay: Int? = nil, _ tracker: inout BeaconTracker) {
        guard case .ranged(let report) = event else {
            Issue.record("this is not a report")
            return
        }
        let arrival = delay.map { .nanoseconds(report.time.nanoseconds) + .seconds($0) } ?? Duration.seconds(12)
        _ = tracker.receive(report, at: Self.start.advanced(by: arrival))
    }

    @Test("There is no proximity while no receiver hears, and the next reading is published at once")
    func deaf() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.presence(.inside, at: 0), &tracker)
        _ = receive(.ranged(2, at: 1), &tracker)
        #expect(receive(.presence(.unknown, at: 2), &tracker))
        #expect(tracker.published == BeaconState())
        #expect(receive(.presence(.inside, at: 3), &tracker))
        #expect(tracker.published == BeaconState(presence: .inside))
        #expect(receive(.ranged(2, at: 3), &tracker))
        #expect(tracker.published.proximity == .near)
    }

    @Test("A tracker keeps its state for five minutes while the presence is unknown")
    func trackerInOutage() {
        var tracker = BeaconTracker(
            NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: true))
        #expect(tracker.published.tracker == .unknown)
        _ = receive(.presence(.inside, at: 0), &tracker)
        #expect(tracker.published.tracker == .inside)
        // The second outage begins again.
        _ = receive(.presence(.unknown, at: 10), &tracker)
        #expect(!expire(&tracker, at: 309))
        #expect(tracker.published == BeaconState(tracker: .inside))
        _ = receive(.presence(.inside, at: 309), &tracker)
        _ = receive(.presence(.unknown, at: 400), &tracker)
        // Repeated reports do not prolong it.
        _ = receive(.presence(.unknown, at: 600), &tracker)
        #expect(!expire(&tracker, at: 699))
        #expect(expire(&tracker, at: 700))
        #expect(tracker.published == BeaconState(tracker: .unknown))
        #expect(!expire(&tracker, at: 702))
        #expect(receive(.presence(.outside, at: 703), &tracker))
        #expect(tracker.published.tracker == .outside)
    }

    @Test("A beacon that becomes a tracker has its presence at once, and one that is none has no tracker")
    func trackerConfigured() {
        var tracker = BeaconTracker(Self.keys)
        _ = receive(.presence(.inside, at: 0), &tracker)
        #expect(tracker.published.tracker == nil)
        tracker.configure(
            NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: true), renamed: [:], in: [])
        #expect(tracker.published.tracker == .inside)
        tracker.configure(Self.keys, renamed: [:], in: [])
        #expect(tracker.published.tracker == nil)
    }

    private static let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)
    private static let start = ContinuousClock.now

    private func renew(_ tracker: inout BeaconTracker) -> Bool { tracker.renew() }

    private func expire(
        _ tracker: inout BeaconTracker, at seconds: Int, after age: Duration = BeaconTracker.oldestArrival
    ) -> Bool {
        tracker.expire(at: Self.start.advanced(by: .seconds(seconds)), after: age)
    }

    private func receive(_ event: BeaconEvent, _ tracker: inout BeaconTracker) -> Bool {
        switch event {
        case .region(let change):
            tracker.receive(
                change.state, at: change.time,
                arriving: Self.start.advanced(by: .nanoseconds(change.time.nanoseconds)))
        case .placed(let change): tracker.receive(change)
        case .located, .suspected: false
        case .ranged(let report):
            tracker.receive(report, at: Self.start.advanced(by: .nanoseconds(report.time.nanoseconds)))
        }
    }
}
