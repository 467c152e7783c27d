import BeaconModel
import BeaconSupport
import Testing

@testable import BeaconMQTT

@Suite("The published state of a beacon")
struct BeaconTrackerTests {
    @Test("A beacon that lies still causes a handful of messages in an hour of 3600 reports")
    func still() {
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
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

    @Test("A moving beacon causes at most one message in ten seconds")
    func moving() {
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
        var times: [Int] = []
        for second in 0..<600
        where receive(.ranged(second % 2 == 0 ? 4 : 20, proximity: .far, at: Double(second)), &tracker) {
            times.append(second)
        }
        #expect(times.count > 50)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 10 })
    }

    @Test("A change of proximity or presence is published at once")
    func atOnce() {
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
        #expect(receive(.ranged(2, at: 1), &tracker))
        #expect(receive(.ranged(2, proximity: .far, at: 2), &tracker))
        #expect(receive(.presence(.inside, at: 3), &tracker))
        #expect(
            tracker.published
                == BeaconState(presence: .inside, proximity: .far, distance: 2, rssi: -60, receiver: "hci0"))
        #expect(!receive(.presence(.inside, at: 4), &tracker))
    }

    @Test("A change of place is published at once, and an unknown place is null")
    func place() {
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
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

    @Test(
        "Small changes of distance or signal are not published",
        arguments: [
            (2.0, -60, 2.4, -60, false), (2.0, -60, 2.5, -60, true), (2.0, -60, 1.5, -60, true),
            (20.0, -80, 23.9, -80, false), (20.0, -80, 24.0, -80, true), (2.0, -60, 2.0, -65, false),
            (2.0, -60, 2.0, -66, true), (2.0, -60, -1, -60, true), (2.0, -60, 2.0, 0, true),
        ])
    func thresholds(distance: Double, rssi: Int, newDistance: Double, newRSSI: Int, isPublished: Bool) {
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
        #expect(receive(.ranged(distance, rssi: rssi, at: 1), &tracker))
        #expect(!receive(.ranged(newDistance, rssi: newRSSI, at: 10), &tracker))
        #expect(receive(.ranged(newDistance, rssi: newRSSI, at: 11), &tracker) == isPublished)
    }

    @Test("There is no distance once the beacon is absent or no longer listed")
    func gone() {
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
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
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
        _ = receive(.ranged(8, proximity: .far, receiver: "hci0", at: 1), &tracker)
        #expect(receive(.ranged(1, proximity: .near, receiver: "hci1", at: 1), &tracker))
        #expect(tracker.published.receiver == "hci1")
        #expect(!receive(.ranged(8, proximity: .far, receiver: "hci0", at: 2), &tracker))
        #expect(receive(.ranged(8, proximity: .far, receiver: "hci0", at: 7), &tracker))
        #expect(tracker.published.receiver == "hci0")
    }

    @Test("Reports of other beacons change nothing")
    func others() {
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
        _ = receive(.ranged(2, at: 1), &tracker)
        #expect(!receive(.ranged(nil, of: BeaconConstraint(TestBeacon.bag), at: 2), &tracker))
        #expect(!receive(.ranged(nil, of: BeaconConstraint(TestBeacon.bag), at: 20), &tracker))
        #expect(tracker.published.distance == 2)
    }

    @Test("Proximity and distance are removed if no report confirms them for a while")
    func expired() {
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
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
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
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
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
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
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
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
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
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
            NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: true), options: MQTTStateSettings())
        #expect(tracker.published.tracker == .unknown)
        _ = receive(.presence(.inside, at: 0), &tracker)
        #expect(tracker.published.tracker == .inside)
        // The second outage begins anew.
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
        var tracker = BeaconTracker(Self.keys, options: MQTTStateSettings())
        _ = receive(.presence(.inside, at: 0), &tracker)
        #expect(tracker.published.tracker == nil)
        tracker.configure(
            NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: true), places: [:], hasPlaces: false)
        #expect(tracker.published.tracker == .inside)
        tracker.configure(Self.keys, places: [:], hasPlaces: false)
        #expect(tracker.published.tracker == nil)
    }

    private static let keys = NamedBeacon(name: "keys", identity: TestBeacon.keys)
    private static let start = ContinuousClock.now

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
