import BeaconModel

/// The engine's identifier of a monitored region. It is never reused.
public struct RegionID: Hashable, Sendable {
    let number: Int32
    let generation: UInt32

    init(_ id: SlotTable<RegionSlot>.ID) {
        number = id.number
        generation = id.generation
    }

    var slot: SlotTable<RegionSlot>.ID { .init(number: number, generation: generation) }
}

/// The part of a monitored region that only start, stop and timers need. The rest is in its ``RegionWatch``.
struct RegionSlot {
    /// The beacons that belong to it.
    let constraint: BeaconConstraint

    /// The time in nanoseconds at which the time-out of a region that no receiver has kept began. Deafness since then
    /// moves it forward.
    var waitingSince: Int64 = 0

    /// The time of the armed timer; the end of time if none is armed.
    var armedAt: Int64 = .max
}

/// The state of a monitored region and the settings that decide about it. It is as small as possible, since each advert
/// of the region's beacons touches it.
struct RegionWatch: BitwiseCopyable {
    enum Phase: UInt8, BitwiseCopyable {
        case unknown
        case inside
        case outside
        /// Inside with an expired time-out, but in silence that does not count: no timer until silence counts again.
        case held
    }

    /// The number for any receiver: the highest that a name table can assign, which no receiver has.
    static let anyReceiver: UInt16 = .max

    /// The level for any signal. No receiver reports such a weak one, since HCI's readings begin at -127 dBm.
    static let anySignal: Int8 = .min

    /// The maximum that ``patience(longestGap:)`` gives an adaptive region whose own time-out is shorter.
    private static let longestAdaptivePatience =
        IntervalLearner.longestInterval * Int64(MonitoredRegion.adaptiveFactor)

    /// The time in nanoseconds at which the region changes unless an advert arrives first; the end of time for never.
    var deadline: Int64 = .max

    /// The time-out in nanoseconds.
    let exitTimeout: Int64

    /// The only receiver that counts, or ``anyReceiver``.
    let receiver: UInt16

    /// The receiver that last kept the region from being left, or ``anyReceiver`` if none has.
    var lastReceiver = RegionWatch.anyReceiver

    let minimumRSSI: Int8
    let exitRSSI: Int8

    // One byte for all, so that an advert touches only three words.
    private let traits: UInt8
    private static let adaptiveExit: UInt8 = 1
    private static let learnedSignal: UInt8 = 2
    private static let enteringAsKept: UInt8 = 4

    @inline(__always) var isExitAdaptive: Bool { traits & Self.adaptiveExit != 0 }
    @inline(__always) var isSignalLearned: Bool { traits & Self.learnedSignal != 0 }
    @inline(__always) var entersAsKept: Bool { traits & Self.enteringAsKept != 0 }

    var phase: Phase

    init(_ region: MonitoredRegion, assuming state: RegionState) {
        exitTimeout = region.exitTimeout.boundedNanoseconds
        receiver = region.receiver?.index ?? Self.anyReceiver
        // If signals are learned, adverts that are too weak were already filtered out.
        let (minimum, exit) = region.isSignalLearned ? (nil, nil) : (region.minimumRSSI, region.exitRSSI)
        minimumRSSI = minimum.map { max($0, Self.anySignal + 1) } ?? Self.anySignal
        exitRSSI = exit ?? Self.anySignal
        traits =
            (region.isExitAdaptive ? Self.adaptiveExit : 0) | (region.isSignalLearned ? Self.learnedSignal : 0)
            | (region.entersAsKept ? Self.enteringAsKept : 0)
        phase =
            switch state {
            case .unknown: .unknown
            case .inside: .inside
            case .outside: .outside
            }
    }

    var state: RegionState {
        switch phase {
        case .unknown: .unknown
        case .inside, .held: .inside
        case .outside: .outside
        }
    }

    /// True if the region is inside because a receiver has heard one of its beacons.
    var isKept: Bool { state == .inside && lastReceiver != Self.anyReceiver }

    /// The earliest time in nanoseconds at which the region can have been kept last. It is exact unless the time-out
    /// adapts.
    var earliestKept: Int64 {
        deadline - (isExitAdaptive ? max(exitTimeout, Self.longestAdaptivePatience) : exitTimeout)
    }

    @inline(__always)
    private func patience(longestGap: @autoclosure () -> Int64) -> Int64 {
        isExitAdaptive ? max(exitTimeout, longestGap() &* Int64(MonitoredRegion.adaptiveFactor)) : exitTimeout
    }

    @inline(__always)
    private func isForeign(_ sighting: Sighting) -> Bool {
        receiver != Self.anyReceiver && receiver != sighting.receiver.index
    }

    @inline(__always)
    private func keeps(_ rssi: SignalStrength) -> Bool { !rssi.isReading || rssi.rawValue >= exitRSSI }

    /// Processes an advert of one of the region's beacons if the region is inside and has a timer.
    ///
    /// - Parameter longestGap: the beacon's longest recent gap in nanoseconds. Only adaptive regions evaluate it.
    /// - Returns: true if the advert was processed; otherwise ``enter(_:at:longestGap:)`` must process it.
    @inline(__always)
    mutating func refresh(_ sighting: Sighting, at time: Int64, longestGap: @autoclosure () -> Int64) -> Bool {
        guard phase == .inside else { return false }
        guard !isForeign(sighting), keeps(sighting.rssi) else { return true }
        deadline = max(deadline, time &+ patience(longestGap: longestGap()))
        lastReceiver = sighting.receiver.index
        return true
    }

    /// Processes an advert of one of the region's beacons if the region is not inside or has no timer.
    ///
    /// - Returns: the state before, or nil if the advert changes nothing.
    mutating func enter(_ sighting: Sighting, at time: Int64, longestGap: @autoclosure () -> Int64) -> RegionState? {
        guard !isForeign(sighting) else { return nil }
        let before = state
        let next = time + patience(longestGap: longestGap())
        if before == .inside {
            guard keeps(sighting.rssi) else { return nil }
            deadline = max(deadline, next)
        } else {
            let rssi = sighting.rssi
            guard rssi.isReading ? rssi.rawValue >= minimumRSSI : minimumRSSI == Self.anySignal else {
                return nil
            }
            deadline = next
        }
        phase = .inside
        lastReceiver = sighting.receiver.index
        return before
    }
}

/// The ``RegionWatch`` of each region by the region's number.
///
/// Unlike an array, it does not check at each change that its storage is unique. The storage always is: the table
/// cannot be copied and exposes no pointer.
struct WatchTable: ~Copyable {
    private var storage: UnsafeMutablePointer<RegionWatch>
    private var capacity = 16
    private var count = 0

    init() { storage = .allocate(capacity: capacity) }

    // RegionWatch is BitwiseCopyable: there is nothing to deinitialize.
    deinit { storage.deallocate() }

    /// Stores a region's state at a number in the table, or at the number after the last.
    mutating func put(_ watch: RegionWatch, at number: Int) {
        precondition(number >= 0 && number <= count, "numbers are assigned in order")
        if number == capacity {
            let larger = UnsafeMutablePointer<RegionWatch>.allocate(capacity: 2 * capacity)
            larger.moveInitialize(from: storage, count: count)
            storage.deallocate()
            storage = larger
            capacity *= 2
        }
        (storage + number).initialize(to: watch)
        count = max(count, number + 1)
    }

    /// The state of the region with a stored number.
    subscript(number: Int) -> RegionWatch {
        @inline(__always) get {
            precondition(number >= 0 && number < count, "no such region")
            return storage[number]
        }
        @inline(__always) _modify {
            precondition(number >= 0 && number < count, "no such region")
            yield &storage[number]
        }
    }
}
