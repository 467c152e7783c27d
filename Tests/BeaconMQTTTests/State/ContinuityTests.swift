import BeaconModel
import BrokerTestSupport
import Testing

@testable import BeaconMQTT

/// All combinations of entities, interruptions and changes: the values that Home Assistant shows while the gateway is
/// available.
@Suite("Home Assistant's values over an interruption")
struct ContinuityTests {
    /// An interruption of the gateway, of the broker or of Home Assistant.
    enum Interruption: String, CaseIterable {
        case cleanStop, kill, brokerStopped, brokerKilled, brokerForgetful, homeAssistantRestarted, suspended
    }

    /// A change of the beacon during the interruption.
    enum Change: String, CaseIterable {
        case stayed, left, came, moved
    }

    /// The actual state of the beacon.
    struct Truth: Hashable {
        var isThere: Bool
        var proximity: Proximity?
        var place: String

        static let away = Truth(isThere: false, place: "away")
        static let near = Truth(isThere: true, proximity: .near, place: "hall")
        static let far = Truth(isThere: true, proximity: .far, place: "kitchen")

        /// The correct values of entities.
        var values: [String: String] {
            [
                "presence": isThere ? "on" : "off", "tracker": isThere ? "home" : "not_home",
                "occupancy": isThere ? "on" : "off", "proximity": proximity?.description ?? "unknown",
                "distance": proximity.map { $0 == .near ? "2" : "9" } ?? "unknown", "place": place,
            ]
        }
    }

    private static let readings: Set = ["proximity", "distance", "place"]

    @Test(
        "No reading is stale, and there is no transition without a movement", arguments: Interruption.allCases,
        Change.allCases)
    func matrix(interruption: Interruption, change: Change) {
        let before = change == .came ? Truth.away : .near
        let after =
            switch change {
            case .stayed: before
            case .left: Truth.away
            case .came: Truth.near
            case .moved: Truth.far
            }
        var house = House()
        house.gateway.start(with: nil)
        house.publish()
        house.report(before, from: nil)
        house.publish()
        #expect(house.home.visible == before.values, "before the interruption")
        #expect(!house.home.stamps.isEmpty)

        let mark = house.home.stamps.count
        let events = house.home.events.count
        let known = house.home.known
        house.interrupt(interruption, before: before, after: after)
        house.report(after, from: before)
        house.publish()
        #expect(house.home.visible == after.values, "after the interruption")

        // The actual state is `after` from the beginning of the interruption. Presence may keep its earlier value until
        // it is corrected, as in the core.
        for stamp in house.home.stamps[mark...] {
            for (entity, value) in stamp where value != "unknown" {
                let right: Set =
                    Self.readings.contains(entity)
                    ? [after.values[entity]] : [before.values[entity], after.values[entity]]
                #expect(right.contains(value), "\(entity) is \(value)")
            }
        }
        // An automation that ignores "unknown" and "unavailable" sees only the movement, once.
        for (entity, last) in known {
            var values = [last]
            for stamp in house.home.stamps[mark...] {
                guard let value = stamp[entity], value != "unknown", value != values.last else { continue }
                values.append(value)
            }
            let expected =
                last == after.values[entity] || after.values[entity] == "unknown"
                ? [last] : [last, after.values[entity] ?? ""]
            #expect(values == expected, "\(entity)")
        }
        let messages = house.home.events[events...]
        switch change {
        case .stayed, .moved: #expect(messages.isEmpty)
        case .left: #expect(Set(messages).isSubset(of: ["exit"]) && messages.count <= 2)
        case .came: #expect(Set(messages).isSubset(of: ["enter"]) && messages.count <= 2)
        }
    }

    @Test(
        "A tracker keeps its state while the gateway restarts within a minute",
        arguments: [Interruption.cleanStop, .kill])
    func restart(interruption: Interruption) {
        var house = House()
        house.gateway.start(with: nil)
        house.publish()
        house.report(.near, from: nil)
        house.publish()
        #expect(house.home.trackerStates == ["unknown", "home"])
        house.restart(interruption, after: 55, before: .near)
        house.report(.near, from: .near)
        house.publish()
        #expect(house.home.visible == Truth.near.values)
        #expect(house.home.trackerStates == ["unknown", "home"])
    }

    @Test("A tracker keeps its state while all receivers are deaf for five minutes, and is unknown later")
    func deaf() {
        var house = House()
        house.gateway.start(with: nil)
        house.publish()
        house.report(.near, from: nil)
        house.loseHearing(for: 299)
        #expect(house.home.visible?["presence"] == "unknown")
        #expect(house.home.trackerStates == ["unknown", "home"])
        house.report(.near, from: .near)
        #expect(house.home.trackerStates == ["unknown", "home"])
        house.loseHearing(for: 301)
        #expect(house.home.trackerStates == ["unknown", "home", "unknown"])
        house.report(.near, from: .near)
        #expect(house.home.trackerStates == ["unknown", "home", "unknown", "home"])
    }

    @Test("The entities are unavailable until the states of the last run are known")
    func notRestored() {
        var house = House()
        house.gateway.start(with: nil)
        house.publish()
        house.report(.near, from: nil)
        house.publish()
        house.broker.retain("g/status", "restarting", &house.home)
        house.gateway.start(with: nil, isReady: false)
        house.publish()
        #expect(house.home.visible == nil)
    }
}

/// A gateway, a broker and Home Assistant, in virtual time.
private struct House {
    var gateway = Gateway()
    var broker = Broker()
    var home = HomeAssistant()

    /// Publishes the due messages, stage by stage, and then the availability.
    mutating func publish() {
        while true {
            let due = gateway.store.removeDue()
            if due.isEmpty { break }
            for message in due { broker.retain(message.topic, message.text, &home) }
        }
        guard let connection = gateway.store.connectionToAnnounce else { return }
        broker.retain("g/status", "online", &home)
        gateway.store.announcedOnline(at: connection)
    }

    /// Makes the core report the actual state, as it does after a known state.
    mutating func report(_ truth: ContinuityTests.Truth, from before: ContinuityTests.Truth?) {
        let state: RegionState = truth.isThere ? .inside : .outside
        var kind = RegionEvent.Kind.state
        if let before, before.isThere != truth.isThere { kind = truth.isThere ? .enter : .exit }
        send(.region("shop", state, kind, at: gateway.seconds))
        send(.presence(state, kind, at: gateway.seconds))
        let accuracy: Double? = truth.proximity.map { $0 == .near ? 2 : 9 }
        // A moved beacon is shown after two seconds.
        for _ in 0..<3 { send(.ranged(accuracy, proximity: truth.proximity ?? .unknown, at: gateway.seconds)) }
        send(
            .placed(
                PlaceEvent(
                    time: .at(gateway.seconds), identity: TestBeacon.keys, state: truth.isThere ? .inside : .outside,
                    place: truth.isThere ? truth.place : nil, before: nil)))
    }

    private mutating func send(_ event: BeaconEvent) {
        gateway.seconds += 1
        for message in gateway.store.receive(event, at: gateway.now) { home.receive(message.topic, message.text) }
        publish()
    }

    mutating func interrupt(
        _ interruption: ContinuityTests.Interruption, before: ContinuityTests.Truth, after: ContinuityTests.Truth
    ) {
        switch interruption {
        case .cleanStop, .kill: restart(interruption, after: 600, before: before)
        case .suspended:
            broker.retain("g/status", "offline", &home)
            gateway.store.disconnected()
            // The core reports the place.
            _ = gateway.store.receive(
                .placed(
                    PlaceEvent(
                        time: .at(gateway.seconds), identity: TestBeacon.keys, state: .unknown, place: nil, before: nil)
                ), at: gateway.now)
            gateway.seconds += 600
            connect()
        case .brokerStopped:
            broker.retain("g/status", "offline", &home)
            loseBroker(before, after, forgets: false)
        case .brokerKilled: loseBroker(before, after, forgets: false)
        case .brokerForgetful: loseBroker(before, after, forgets: true)
        case .homeAssistantRestarted:
            home = HomeAssistant(after: home)
            report(after, from: before)
            broker.replay(to: &home)
            gateway.store.announceAgain()
            publish()
        }
    }

    /// The gateway ends and starts again. With MQTT 5, the broker waits a minute before it publishes the will message.
    mutating func restart(
        _ interruption: ContinuityTests.Interruption, after seconds: Double, before: ContinuityTests.Truth
    ) {
        if interruption == .cleanStop { broker.retain("g/status", "restarting", &home) }
        if .seconds(seconds) > MQTTSink.restartTime { broker.retain("g/status", "offline", &home) }
        gateway.seconds += seconds
        gateway.start(with: before.isThere ? .inside : .outside)
        connect()
    }

    /// All receivers are deaf for a time.
    mutating func loseHearing(for seconds: Double) {
        send(.presence(.unknown, at: gateway.seconds))
        gateway.seconds += seconds - 1
        gateway.store.expire(at: gateway.now)
        publish()
    }

    /// The gateway reconnects first.
    private mutating func loseBroker(
        _ before: ContinuityTests.Truth, _ after: ContinuityTests.Truth, forgets: Bool
    ) {
        home.isConnected = false
        gateway.store.disconnected()
        report(after, from: before)
        if forgets { broker.retained = [:] }
        connect()
        // Until the retained messages arrive, Home Assistant shows its earlier values. No gateway can prevent this,
        // unless the broker published its will message.
        broker.replay(to: &home)
        home.isConnected = true
    }

    private mutating func connect() {
        broker.retain("g/status", "restarting", &home)
        gateway.store.connected(as: gateway.nextConnection(), at: gateway.now)
        publish()
    }
}

/// A gateway's store, and its clock.
private struct Gateway {
    var store = Gateway.makeStore(isReady: true)
    var seconds = 0.0
    private var connection: UInt64 = 0
    private let start = ContinuousClock.now

    var now: ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    mutating func nextConnection() -> UInt64 {
        connection += 1
        return connection
    }

    /// Starts with the known state of the last run.
    mutating func start(with presence: RegionState?, isReady: Bool = true) {
        store = Self.makeStore(isReady: false)
        if let presence {
            _ = store.receive(.region("shop", presence), at: now)
            _ = store.receive(.presence(presence), at: now)
        }
        if isReady { store.restored() }
        store.connected(as: nextConnection(), at: now)
    }

    private static func makeStore(isReady: Bool) -> RetainedMessageStore {
        let topics = TopicTree(base: "g")
        return RetainedMessageStore(
            regions: ["shop"], beacons: [NamedBeacon(name: "keys", identity: TestBeacon.keys, isTracker: true)],
            topics: topics,
            discovery: Discovery(
                HomeAssistantSettings(), broker: .test(port: 1), topics: topics, places: ["hall", "kitchen"]),
            isReady: isReady)
    }
}

/// A broker's retained messages.
private struct Broker {
    var retained: [String: String] = [:]

    mutating func retain(_ topic: String, _ payload: String, _ home: inout HomeAssistant) {
        retained[topic] = payload.isEmpty ? nil : payload
        if home.isConnected { home.receive(topic, payload) }
    }

    /// Sends the retained messages, with the availability last but one, because any order is possible.
    func replay(to home: inout HomeAssistant) {
        for (topic, payload) in retained.sorted(by: { $0.key > $1.key }) { home.receive(topic, payload) }
    }
}
