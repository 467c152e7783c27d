import BeaconModel
import BeaconSupport

/// The senders of a scenario and their reception: the physics of simulated air.
struct Broadcast: Sendable {
    /// A received transmission without its bytes.
    struct Heard {
        /// The index of the receiver.
        var receiver: Int
        var report: AdvertisingReport
    }

    private let receivers: [ReceiverPlan]
    private(set) var population: Population
    private var transmitters: [Transmitter]

    /// One link for each transmitter and receiver, grouped by transmitter.
    private var links: [RadioLink]

    private var queue = EventQueue()

    /// Creates the senders of a scenario before the first transmission.
    ///
    /// - Parameters:
    ///   - scenario: the senders, and the people who carry them.
    ///   - receivers: the receivers: the scenario's own, or others.
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

    /// The time of the next transmission, in nanoseconds after the start of the scenario; nil if there are no more.
    var nextTime: Int64? { queue.first?.time }

    /// Skips all transmissions before a time, in nanoseconds after the start of the scenario.
    mutating func jump(to time: Int64) {
        queue = EventQueue()
        for index in transmitters.indices {
            transmitters[index].schedule.jump(to: time)
            if let next = transmitters[index].schedule.next() {
                queue.insert(EventQueue.Event(time: next, sender: index))
            }
        }
    }

    /// Skips the next transmission.
    ///
    /// - Returns: the sender; nil if there are no more transmissions.
    @discardableResult
    mutating func skip() -> Int? {
        guard let event = queue.first else { return nil }
        queue.replaceFirst(
            with: transmitters[event.sender].schedule.next().map { EventQueue.Event(time: $0, sender: event.sender) })
        return event.sender
    }

    /// Sends the next transmission, and calls `deliver` for each receiver that hears it, in the order of receivers.
    ///
    /// - Parameters:
    ///   - medium: the medium between sender and receivers.
    ///   - place: returns the position of a receiver outside the scenario; nil for the scenario's receivers.
    /// - Throws: the errors of `deliver`.
    mutating func transmit(
        through medium: Medium, place: (Int64) -> RadioPosition? = { _ in nil },
        _ deliver: (Heard, RawSpan) throws -> Void
    ) rethrows {
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

    /// Changes the walk of the scenario's first person.
    mutating func setWalk(_ walk: Walk) { population.setWalk(walk, of: 0) }

    /// Forgets the path losses and the fading after a change of the medium.
    mutating func forgetMedium() {
        for index in links.indices { links[index].forgetMedium() }
    }
}

/// The queue of future transmissions: a binary heap with one entry for each sender with transmissions left.
struct EventQueue: Sendable {
    /// A sender's next transmission.
    struct Event: Comparable, Sendable {
        /// Nanoseconds after the start of the simulation.
        var time: Int64

        /// The sender, which also breaks ties between equal times.
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

    /// Replaces the first event with another one, or removes it.
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
