import BeaconModel
import BeaconSupport

/// The senders of a scenario, and what receivers hear of them: the physics of simulated air.
struct Broadcast: Sendable {
    /// What a receiver heard of a transmission, without the bytes.
    struct Heard {
        /// The receiver, by its place in the list.
        var receiver: Int
        var report: AdvertisingReport
    }

    private let receivers: [ReceiverPlan]
    private(set) var population: Population
    private var transmitters: [Transmitter]

    /// One for each transmitter and receiver, those of a transmitter together.
    private var links: [RadioLink]

    private var queue = EventQueue()

    /// Creates the senders of a scenario before anything was sent.
    ///
    /// - Parameters:
    ///   - scenario: the senders, and the people who carry them.
    ///   - receivers: who hears them: the scenario's own, or others.
    init(_ scenario: Scenario, receivers: [ReceiverPlan]) {
        let seed = scenario.seed
        self.receivers = receivers
        var population = Population(people: scenario.people)
        var transmitters: [Transmitter] = []
        var links: [RadioLink] = []
        func add(_ transmitter: Transmitter, key: String) {
            transmitters.append(transmitter)
            for receiver in receivers {
                links.append(
                    RadioLink(random: SplitMix64(seed: seed, stream: "link from \(key) to \(receiver.name)")))
            }
        }
        for plan in scenario.beacons { add(Transmitter(plan, seed: seed), key: plan.key) }
        for plan in scenario.devices { add(Transmitter(plan, seed: seed), key: plan.key) }
        for crowd in scenario.crowds {
            for index in 0..<crowd.count {
                let key = "\(crowd.key), \(index)"
                let placement = population.add(
                    of: crowd, random: SplitMix64(seed: seed, stream: "walk of \(key)"))
                add(Transmitter(crowd, placement: placement, key: key, seed: seed), key: key)
            }
        }
        for index in transmitters.indices {
            if let first = transmitters[index].schedule.next() {
                queue.insert(EventQueue.Event(time: first, sender: index))
            }
        }
        self.population = population
        self.transmitters = transmitters
        self.links = links
    }

    /// The time of the next transmission, in nanoseconds after the start of the scenario; nil where there is none.
    var nextTime: Int64? { queue.first?.time }

    /// Passes all transmissions before a moment over, in nanoseconds after the start of the scenario.
    mutating func jump(to moment: Int64) {
        queue = EventQueue()
        for index in transmitters.indices {
            transmitters[index].schedule.jump(to: moment)
            if let next = transmitters[index].schedule.next() {
                queue.insert(EventQueue.Event(time: next, sender: index))
            }
        }
    }

    /// Passes the next transmission over, unheard.
    ///
    /// - Returns: the sender; nil where there is none.
    @discardableResult
    mutating func skip() -> Int? {
        guard let event = queue.first else { return nil }
        queue.replaceFirst(
            with: transmitters[event.sender].schedule.next().map { EventQueue.Event(time: $0, sender: event.sender) })
        return event.sender
    }

    /// Makes the next transmission, and hands it to `deliver` for each receiver that hears it, in the order of
    /// receivers.
    ///
    /// - Parameters:
    ///   - medium: what lies between.
    ///   - place: returns the place of a receiver that is not of the scenario; nil for one that is.
    /// - Throws: what `deliver` throws.
    mutating func transmit(
        through medium: Medium, place: (Int64) -> RadioPosition? = { _ in nil },
        _ deliver: (Heard, RawSpan) throws -> Void
    ) throws {
        guard let time = nextTime, let sender = skip() else { return }
        transmitters[sender].prepare(for: time)
        let transmitter = transmitters[sender]
        let origin = population.position(of: transmitter.placement, at: time)
        let own = place(time)
        for index in receivers.indices {
            let receiver = receivers[index]
            let strength = links[sender * receivers.count + index].strength(
                power: transmitter.power + receiver.gain, at: time, from: origin,
                to: own ?? population.position(of: receiver.placement, at: time), through: medium)
            guard let strength else { continue }
            let report = AdvertisingReport(
                kind: transmitter.kind, address: transmitter.address, rssi: SignalStrength(decibels: strength))
            try deliver(Heard(receiver: index, report: report), transmitter.advert.span.bytes)
            guard !transmitter.scanResponse.isEmpty else { continue }
            let response = AdvertisingReport(kind: .scanResponse, address: report.address, rssi: report.rssi)
            try deliver(Heard(receiver: index, report: response), transmitter.scanResponse.span.bytes)
        }
    }

    /// Has the first person of the scenario walk another way.
    mutating func setWalk(_ walk: Walk) { population.setWalk(walk, of: 0) }

    /// Forgets what lies between senders and receivers, since the walls are others.
    mutating func forgetWalls() {
        for index in links.indices { links[index].forgetWalls() }
    }
}

/// The queue of coming transmissions: a binary heap with one entry for each sender that has something left to send.
struct EventQueue: Sendable {
    /// A sender's next transmission.
    struct Event: Comparable, Sendable {
        /// Nanoseconds after the start of the simulation.
        var time: Int64

        /// The sender, which also decides who is first where times are equal.
        var sender: Int

        static func < (left: Event, right: Event) -> Bool {
            left.time == right.time ? left.sender < right.sender : left.time < right.time
        }
    }

    private var heap: [Event] = []

    /// The next transmission.
    var first: Event? { heap.first }

    mutating func insert(_ event: Event) {
        heap.append(event)
        var place = heap.count - 1
        while place > 0, heap[place] < heap[(place - 1) / 2] {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Puts another event in the place of the first, or nothing.
    mutating func replaceFirst(with event: Event?) {
        guard let event else {
            guard let last = heap.popLast() else { return }
            if !heap.isEmpty { sink(last) }
            return
        }
        sink(event)
    }

    private mutating func sink(_ event: Event) {
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < event else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = event
    }
}
