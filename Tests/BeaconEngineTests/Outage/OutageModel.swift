import BeaconEngine
import BeaconModel

/// A simple model of the outage rule: time in whole seconds, and a flag for each receiver and second in which it was
/// deaf. A region changes at the first second at whose beginning silence counts and before which it has counted for
/// long enough.
struct OutageModel {
    struct Region {
        var only: UInt16?
        var patience: Int
        var state: RegionState
        /// The time when it was last heard, or began to wait; nil if nothing is due.
        var since: Int?
        var holder: UInt16?
    }

    var now = 0
    var regions: [Region] = []
    var changes: [String] = []
    private var isHearing: [Bool]
    private var deafSeconds: [Set<Int>]

    init(receivers: Int) {
        isHearing = Array(repeating: true, count: receivers)
        deafSeconds = Array(repeating: [], count: receivers)
    }

    private func isDeaf(_ receiver: Int, in second: Int) -> Bool {
        deafSeconds[receiver].contains(second) || (second >= now && !isHearing[receiver])
    }

    func counts(_ region: Region, in second: Int) -> Bool {
        if let one = region.state == .inside ? region.holder ?? region.only : region.only {
            return !isDeaf(Int(one), in: second)
        }
        return isHearing.indices.contains { !isDeaf($0, in: second) }
    }

    /// Advances the time, and processes everything that is due before `time`.
    mutating func pass(upTo time: Int) {
        for second in now..<max(now, time) {
            for receiver in isHearing.indices where !isHearing[receiver] { deafSeconds[receiver].insert(second) }
        }
        now = max(now, time)
        fire(before: time)
    }

    /// Also processes everything that is due now.
    mutating func settle() { fire(before: now + 1) }

    private mutating func fire(before end: Int) {
        var due: [(time: Int, number: Int)] = []
        for (number, region) in regions.enumerated() {
            guard var second = region.since else { continue }
            var counted = 0
            while second < end {
                if counts(region, in: second) {
                    if counted == region.patience {
                        due.append((second, number))
                        break
                    }
                    counted += 1
                }
                second += 1
            }
        }
        for (time, number) in due.sorted(by: { ($0.time, $0.number) < ($1.time, $1.number) }) {
            changes.append("\(number) \(regions[number].state == .inside ? "exit" : "outside") \(time)")
            regions[number].state = .outside
            regions[number].since = nil
            regions[number].holder = nil
        }
    }

    mutating func receive(_ receiver: UInt16) {
        for number in regions.indices where regions[number].only == nil || regions[number].only == receiver {
            if regions[number].state != .inside { changes.append("\(number) enter \(now)") }
            regions[number].state = .inside
            regions[number].since = now
            regions[number].holder = receiver
        }
    }

    mutating func setHearing(_ hears: Bool, of receiver: UInt16) { isHearing[Int(receiver)] = hears }

    mutating func skip(from: Int, to: Int, of receiver: UInt16) {
        deafSeconds[Int(receiver)].formUnion(from..<to)
    }
}

/// An engine and its model, which take the same steps.
struct ModelledEngine: ~Copyable {
    var engine = Engine()
    var model: OutageModel
    private var ids: [RegionID] = []

    /// Creates regions of each kind: of any receiver, of each receiver, of unknown and known state, with two time-outs.
    init(receivers: UInt16) {
        model = OutageModel(receivers: Int(receivers))
        for receiver in 0..<receivers { engine.addReceiver(ReceiverID(receiver)) }
        engine.advance(upTo: .zero)
        for only in [nil, 0, 1] as [UInt16?] {
            for state in [RegionState.unknown, .inside, .outside] {
                for timeout in [4, 5] {
                    let region = MonitoredRegion(
                        BeaconConstraint(uuid: .test), receiver: only.map { ReceiverID($0) },
                        exitTimeout: .seconds(timeout))
                    ids.append(engine.startMonitoring(region, assuming: state))
                    model.regions.append(
                        OutageModel.Region(
                            only: only, patience: timeout, state: state, since: state == .outside ? nil : 0,
                            holder: nil))
                }
            }
        }
    }

    mutating func advance(upTo time: Int) {
        engine.advance(upTo: .at(Double(time)))
        model.pass(upTo: time)
    }

    mutating func settle() {
        engine.advance(to: .at(Double(model.now)))
        model.settle()
    }

    mutating func receive(_ receiver: UInt16) {
        engine.receive(.of(at: Double(model.now), receiver: receiver))
        model.receive(receiver)
    }

    mutating func setHearing(_ hears: Bool, of receiver: UInt16) {
        engine.setHearing(hears, of: ReceiverID(receiver), at: .at(Double(model.now)))
        model.setHearing(hears, of: receiver)
    }

    mutating func skip(from: Int, to: Int, of receiver: UInt16) {
        engine.skip(from: .at(Double(from)), to: .at(Double(to)), of: ReceiverID(receiver))
        model.skip(from: from, to: to, of: receiver)
    }

    /// The changes by the engine and by the model, as text.
    mutating func changes() -> (engine: [String], model: [String]) {
        let numbers = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
        let changes = engine.drainEvents().compactMap { event -> String? in
            switch event {
            case .entered(let change): "\(numbers[change.region] ?? -1) enter \(Int(change.time.seconds))"
            case .exited(let change): "\(numbers[change.region] ?? -1) exit \(Int(change.time.seconds))"
            case .determined(let change): "\(numbers[change.region] ?? -1) outside \(Int(change.time.seconds))"
            case .ranged, .placed, .located, .uncalibrated: nil
            }
        }
        defer { model.changes = [] }
        return (changes, model.changes)
    }

    /// Returns for each region whether silence counts now, by the engine and by the model.
    func hearing() -> (engine: [Bool], model: [Bool]) {
        (ids.map { engine.isHearing($0) }, model.regions.map { model.counts($0, in: model.now) })
    }

    func states() -> (engine: [RegionState], model: [RegionState]) {
        (ids.map { engine.state(of: $0) }, model.regions.map(\.state))
    }
}
