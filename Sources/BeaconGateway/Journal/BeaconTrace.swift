import BeaconDelivery
import BeaconEngine
package import BeaconModel
import BeaconMonitoring
package import BeaconSupport
import Foundation

/// A stretch of the life of one beacon: how receivers heard it, how far it was, and where it was, on one time axis.
package struct BeaconTrace: Encodable, Sendable {
    /// A receiver's signal.
    package struct Receiver: Encodable, Sendable {
        package var name: String
        /// The mean signal in each step, in dBm; null without a reading.
        package var levels: [Double?]
        /// The stretches in which it did not hear.
        package var deaf: [Replay.Stretch]
    }

    /// A stretch in a place.
    package struct Stay: Encodable, Sendable {
        package var from: Double
        package var to: Double
        /// The place; null outside all places.
        @Nullable package var place: String?
        /// `inside`, `outside` or `unknown`.
        package var state: String
    }

    /// The distance at the nearest receiver in a step.
    package struct Distance: Encodable, Sendable {
        package var meters: Double
        @Nullable package var nearest: Double?
        @Nullable package var farthest: Double?
        package var proximity: String
    }

    package var from: Double
    package var to: Double
    /// The seconds of a step.
    package var step: Double
    package var receivers: [Receiver] = []
    /// The distance in each step; null without one.
    package var distances: [Distance?] = []
    package var stays: [Stay] = []
    /// The events of its regions and places, and the rules that ran for them.
    package var events: [JSONValue] = []
    /// The stretches that need not be as they were.
    package var unsettled: [Replay.Stretch] = []
}

/// The collection of a trace during a playback.
struct TraceRecorder {
    private let beacon: BeaconIdentity
    private let stretch: Replay.Stretch
    private let step: Double
    private let count: Int
    private var sums: [String: [(sum: Double, count: Int)]] = [:]
    private var deaf: [String: [Replay.Stretch]] = [:]
    private var deafSince: [String: Double] = [:]
    private var distances: [BeaconTrace.Distance?]
    private var stays: [BeaconTrace.Stay] = []
    private var events: [ReplayedEvent] = []

    init(of beacon: BeaconIdentity, in stretch: Replay.Stretch, steps: Int) {
        (self.beacon, self.stretch) = (beacon, stretch)
        step = max((stretch.to - stretch.from) / Double(steps), 1)
        count = max(1, Int(((stretch.to - stretch.from) / step).rounded(.up)))
        distances = Array(repeating: nil, count: count)
    }

    private func index(of seconds: Double) -> Int? {
        guard seconds >= stretch.from, seconds < stretch.to else { return nil }
        return min(Int((seconds - stretch.from) / step), count - 1)
    }

    mutating func hear(_ sighting: Sighting, at seconds: Double, by receiver: String) {
        guard sighting.identity == beacon, let dBm = sighting.rssi.dBm, let index = index(of: seconds) else { return }
        var list = sums[receiver] ?? Array(repeating: (0, 0), count: count)
        list[index].sum += Double(dBm)
        list[index].count += 1
        sums[receiver] = list
    }

    mutating func setHearing(_ hears: Bool, of receiver: String, at seconds: Double) {
        if !hears {
            if deafSince[receiver] == nil { deafSince[receiver] = seconds }
        } else if let since = deafSince.removeValue(forKey: receiver) {
            end(since, seconds, receiver)
        }
    }

    private mutating func end(_ since: Double, _ seconds: Double, _ receiver: String) {
        let part = Replay.Stretch(from: max(since, stretch.from), to: min(seconds, stretch.to))
        if part.from < part.to { deaf[receiver, default: []].append(part) }
    }

    /// Notes a report of ranging. The nearest receiver of a step counts.
    mutating func note(_ report: RangingRequestReport) {
        guard let index = index(of: report.wallTime.seconds) else { return }
        for ranged in report.beacons where ranged.identity == beacon && ranged.accuracy >= 0 {
            guard ranged.accuracy < distances[index]?.meters ?? .infinity else { continue }
            let range = ranged.accuracyRange
            distances[index] = BeaconTrace.Distance(
                meters: ranged.accuracy, nearest: range?.lowerBound,
                farthest: range.flatMap { $0.upperBound.isFinite ? $0.upperBound : nil },
                proximity: "\(ranged.proximity)")
        }
    }

    mutating func note(_ event: BeaconEvent) {
        switch event {
        case .region(let change):
            guard change.constraint.matches(beacon), index(of: event.seconds) != nil else { return }
            events.append(.event(event))
        case .placed(let change):
            guard change.identity == beacon, event.seconds < stretch.to else { return }
            if let last = stays.indices.last { stays[last].to = event.seconds }
            stays.append(
                BeaconTrace.Stay(
                    from: max(event.seconds, stretch.from), to: stretch.to, place: change.place,
                    state: "\(change.state)"))
            if index(of: event.seconds) != nil { events.append(.event(event)) }
        default: return
        }
    }

    /// Notes a rule that ran for the beacon or for one of its regions.
    mutating func note(_ run: ReplayedRun) {
        let isOwn = run.region.map { $0.constraint.matches(beacon) } ?? (run.beacon == beacon)
        if isOwn, index(of: run.time.seconds) != nil { events.append(.run(run)) }
    }

    /// The trace.
    mutating func finish(_ result: Replay.Result) -> BeaconTrace {
        for (receiver, since) in deafSince { end(since, stretch.to, receiver) }
        var trace = BeaconTrace(from: stretch.from, to: stretch.to, step: step)
        trace.receivers = Set(sums.keys).union(deaf.keys).sorted().map { name in
            BeaconTrace.Receiver(
                name: name,
                levels: (sums[name] ?? Array(repeating: (0, 0), count: count)).map {
                    $0.count > 0 ? ($0.sum / Double($0.count) * 10).rounded() / 10 : nil
                }, deaf: deaf[name] ?? [])
        }
        trace.distances = distances
        trace.stays = stays.filter { $0.to > stretch.from }
        trace.events = events.compactMap(\.json)
        trace.unsettled = result.unsettled
        return trace
    }
}

extension BeaconEvent {
    /// The event in the form of `beacon monitor --json`.
    package var json: JSONValue? {
        var bytes: [UInt8] = []
        EventJSON.append(self, to: &bytes)
        return try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }
}
