import BeaconEngine
import BeaconModel
import BeaconService

/// Makes of reports that come each second a state that is published now and then.
struct BeaconTracker: Sendable {
    /// What one receiver said last.
    private struct Reading {
        var time: Timestamp
        var beacon: RangedBeacon
    }

    /// A receiver that reports no more does not hold a beacon at its last distance. Reports come each second.
    private static let oldest: Int64 = 5 * Timestamp.nanosecondsPerSecond

    private let identity: BeaconIdentity
    private let options: MQTTStateOptions
    private var presence = RegionState.unknown
    private var readings: [String: Reading] = [:]
    private var lastChange: Timestamp?

    /// What is to be published; nil where nothing is known yet.
    private(set) var published: BeaconState?

    init(_ identity: BeaconIdentity, options: MQTTStateOptions) {
        self.identity = identity
        self.options = options
    }

    /// Takes in what became of the beacon's own region.
    ///
    /// - Returns: whether ``published`` changed.
    mutating func receive(_ state: RegionState, at time: Timestamp) -> Bool {
        presence = state
        return update(at: time)
    }

    /// Takes in a report, whichever beacons it is of.
    ///
    /// - Returns: whether ``published`` changed.
    mutating func receive(_ report: SessionEvent.RangingEvent) -> Bool {
        // A report that is of others says nothing of this one.
        guard report.constraint?.matches(identity) ?? true else { return false }
        // The nearest comes first, and of two devices with one identity it is the one that counts.
        readings[report.receiver] = report.beacons.first { $0.identity == identity }
            .map { Reading(time: report.time, beacon: $0) }
        return update(at: report.time)
    }

    private mutating func update(at time: Timestamp) -> Bool {
        let state = state(at: time)
        guard state != published ?? BeaconState() else { return false }
        if let published, state.presence == published.presence, state.proximity == published.proximity {
            let (seconds, attoseconds) = options.minimumInterval.components
            let interval = seconds * Timestamp.nanosecondsPerSecond + attoseconds / 1_000_000_000
            if let lastChange, time.since(lastChange) < interval { return false }
            guard state.differs(from: published, by: options) else { return false }
        }
        published = state
        lastChange = time
        return true
    }

    private func state(at time: Timestamp) -> BeaconState {
        var state = BeaconState(presence: presence)
        guard presence != .outside else { return state }
        let current = readings.filter { time.since($0.value.time) <= Self.oldest }
        guard let heard = current.min(by: { Self.isNearer($0, $1) }) else { return state }
        let beacon = heard.value.beacon
        state.receiver = heard.key
        state.proximity = beacon.proximity
        state.distance = beacon.accuracy < 0 ? nil : (beacon.accuracy * 10).rounded() / 10
        state.rssi = beacon.rssi == 0 ? nil : beacon.rssi
        return state
    }

    private static func isNearer(
        _ left: (key: String, value: Reading), _ right: (key: String, value: Reading)
    ) -> Bool {
        let (near, far) = (left.value.beacon.accuracy, right.value.beacon.accuracy)
        if (near < 0) != (far < 0) { return far < 0 }
        return near == far ? left.key < right.key : near < far
    }
}
