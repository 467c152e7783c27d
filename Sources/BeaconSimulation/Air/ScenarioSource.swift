public import BeaconModel
public import BeaconRadio
import BeaconSupport

/// A source of adverts that plays a scenario in virtual time, as fast as its reader pulls.
///
/// Each transmission is a record, whether anybody hears it or not; each receiver that hears it gets one advert. Where
/// nothing is sent for a second there is a record without adverts, so that time passes in silence as well, and the last
/// record is the end of the scenario. The same scenario with the same seed gives the same adverts, bit for bit.
public struct ScenarioSource: AdvertSource, Sendable {
    /// The start of every simulation: 1 700 000 000 seconds after 1970, in November 2023.
    public static let start = Timestamp(nanoseconds: 1_700_000_000 * Timestamp.nanosecondsPerSecond)

    /// The scenario's receivers, from the start.
    public let receiverNames: [String]

    /// Transmissions as packets, and what receivers heard of them as reports.
    public private(set) var counts = SourceCounts()

    private let medium: Medium
    private let population: Population
    private let receivers: [ReceiverPlan]
    private var transmitters: [Transmitter]

    /// One for each transmitter and receiver, those of a transmitter together.
    private var links: [RadioLink]

    private var queue = EventQueue()

    /// The time of the last record and of the end, in nanoseconds after the start.
    private var time: Int64 = 0
    private let end: Int64

    private var isOver = false

    /// Creates the air of a scenario, before anything was sent.
    public init(_ scenario: Scenario) {
        let seed = scenario.seed
        medium = Medium(environment: scenario.environment, walls: scenario.walls)
        receivers = scenario.receivers
        receiverNames = scenario.receivers.map(\.name)
        end = Int64((scenario.duration * 1_000_000_000).rounded())

        var population = Population(people: scenario.people)
        var transmitters: [Transmitter] = []
        var links: [RadioLink] = []
        func add(_ transmitter: Transmitter, key: String) {
            transmitters.append(transmitter)
            for receiver in scenario.receivers {
                links.append(
                    RadioLink(random: SplitMix64(seed: seed, stream: "link from \(key) to \(receiver.name)")))
            }
        }
        for plan in scenario.beacons { add(Transmitter(plan, seed: seed), key: plan.key) }
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

    /// Plays on to the next record and hands each advert that is heard in it to `deliver`, in the order of receivers.
    ///
    /// - Returns: the record, or nil at the end.
    /// - Throws: what `deliver` throws, and nothing else. After that there is nothing more to read.
    public mutating func next(_ deliver: (Reception, RawSpan) throws -> Void) throws -> SourceRecord? {
        guard !isOver else { return nil }
        let silence = min(time + Timestamp.nanosecondsPerSecond, end)
        guard let event = queue.first, event.time <= silence, event.time < end else {
            time = silence
            isOver = silence == end
            return SourceRecord(time: Self.start.advanced(by: silence))
        }
        time = event.time
        let sender = event.sender
        queue.replaceFirst(
            with: transmitters[sender].schedule.next().map { EventQueue.Event(time: $0, sender: sender) })
        transmitters[sender].prepare(for: time)
        counts.packets += 1
        do {
            try transmit(sender, deliver)
        } catch {
            isOver = true
            throw error
        }
        return SourceRecord(time: Self.start.advanced(by: time))
    }

    private mutating func transmit(_ sender: Int, _ deliver: (Reception, RawSpan) throws -> Void) throws {
        let transmitter = transmitters[sender]
        let place = population.whereabouts(of: transmitter.placement, at: time)
        let moment = Self.start.advanced(by: time)
        for index in receivers.indices {
            let receiver = receivers[index]
            let strength = links[sender * receivers.count + index].strength(
                power: transmitter.power + receiver.gain, at: time, from: place,
                to: population.whereabouts(of: receiver.placement, at: time), through: medium)
            guard let strength else { continue }
            counts.reports += 1
            // Controllers report whole dBm from -127 to +20 (Core Specification, Vol 4, Part E, 7.7.65.2).
            let rssi = SignalStrength(rawValue: Int8(min(max(strength.rounded(), -127), 20)))
            let report = AdvertisingReport(kind: transmitter.kind, address: transmitter.address, rssi: rssi)
            try deliver(
                Reception(time: moment, receiver: ReceiverID(UInt16(index)), report: report),
                transmitter.advert.span.bytes)
        }
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
