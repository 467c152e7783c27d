import BeaconEngine
import BeaconModel
import BeaconSupport
import Testing

@testable import BeaconMonitoring

@Suite("Regions that are never heard")
struct UnheardRegionTests {
    private static let constraint = BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2))
    private static let first = ReceiverID(0)
    private static let begin = 1000

    private static func time(_ seconds: Int) -> Timestamp {
        Timestamp(nanoseconds: Int64(begin + seconds) * Timestamp.nanosecondsPerSecond)
    }

    private static func region(_ timeout: Int) -> MonitoredRegion {
        MonitoredRegion(constraint, exitTimeout: .seconds(timeout))
    }

    private static func seconds(_ time: Timestamp) -> Int { Int(time.seconds) - begin }

    // MARK: - One receiver

    /// The state of a receiver before it hears permanently.
    private enum Obstacle: String, CaseIterable {
        case none, lost, interrupted, doubtedButHearing, doubtedThenLost, absent, suspended

        /// True if the time with the obstacle counts as hearing.
        var counts: Bool { self == .none || self == .doubtedButHearing }
    }

    /// Runs a core with one receiver, with an obstacle from second 2, and returns the changes.
    private static func play(
        _ obstacle: Obstacle, of length: Int, timeout: Int, upTo end: Int
    ) -> [ConditionChange] {
        var core = MonitoringCore()
        let id = core.startMonitoring(region(timeout))
        core.advance(upTo: time(0))
        if obstacle != .absent { core.name(first, "hall") }
        core.advance(upTo: time(2))
        switch obstacle {
        case .none, .absent, .suspended: break
        case .lost: core.setHearing(.lost, of: first, at: time(2))
        case .interrupted: core.setHearing(.interrupted, of: first, at: time(2))
        case .doubtedButHearing, .doubtedThenLost: core.setHearing(.doubtful, of: first, at: time(2))
        }
        var changes: [ConditionChange] = []
        func collect(_ core: inout MonitoringCore) {
            for case .state(let change) in core.drainEvents() { changes.append(change) }
        }
        if obstacle == .suspended {
            core.skip(from: time(2), to: time(2 + length), of: first)
        } else {
            for second in 3..<2 + length {
                if second == 4, obstacle == .doubtedThenLost { core.setHearing(.lost, of: first, at: time(4)) }
                core.advance(upTo: time(second))
                collect(&core)
                if !obstacle.counts {
                    #expect(core.publishedState(of: id) == .unknown && changes.isEmpty, "\(obstacle) at \(second)")
                }
            }
        }
        core.advance(upTo: time(2 + length))
        if obstacle == .absent { core.name(first, "hall") }
        if obstacle != .suspended, obstacle != .none { core.setHearing(.hearing, of: first, at: time(2 + length)) }
        for second in 3 + length..<max(end, 4 + length) {
            core.advance(upTo: time(second))
            collect(&core)
        }
        #expect(core.publishedState(of: id) == .outside && core.knownState(of: id) == .outside)
        return changes
    }

    @Test(
        "They are outside after their time-out of hearing, whatever the obstacle, without an exit",
        arguments: [5, 30, 120], [3, 10, 100])
    func obstacles(timeout: Int, length: Int) {
        for obstacle in Obstacle.allCases {
            let changes = Self.play(obstacle, of: length, timeout: timeout, upTo: length + timeout + 20)
            let heardBefore = obstacle == .absent ? 0 : 2
            let expected = obstacle.counts ? timeout : 2 + length + timeout - heardBefore
            #expect(changes.map { Self.seconds($0.time) } == [expected], "\(obstacle)")
            #expect(changes.allSatisfy { $0.kind == .state && $0.state == .outside && $0.before == .unknown })
            #expect(changes.allSatisfy { $0.receiver == nil && $0.identity == nil })
        }
    }

    @Test("A region with a state from an earlier run causes no second change", arguments: [10, 30])
    func restored(timeout: Int) {
        var core = MonitoringCore()
        let ids = [RegionState.unknown, .outside].map { core.startMonitoring(Self.region(timeout), assuming: $0) }
        core.name(Self.first, "hall")
        core.advance(upTo: Self.time(0))
        core.advance(upTo: Self.time(1000))
        var changed: [ConditionID] = []
        for case .state(let change) in core.drainEvents() { changed.append(change.condition) }
        #expect(changed == [ids[0]])
    }

    // MARK: - Any receivers

    /// A region of the oracle: the start of its wait, and the seconds of hearing it waits for.
    private struct Waiting {
        var since: Int
        var timeout: Int
    }

    /// Returns when a region is outside: the first second in which a receiver hears, after a receiver has heard for the
    /// time-out. Nil if it is not outside.
    private static func outside(_ region: Waiting, hearing: [Int: Set<Int>], before end: Int) -> Int? {
        var heard = 0
        for second in region.since..<max(region.since, end) where hearing[second]?.isEmpty == false {
            if heard == region.timeout { return second }
            heard += 1
        }
        return nil
    }

    @Test("Receivers that appear, disappear and sleep, and added regions, match a simple model", arguments: 1...300)
    func random(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var core = MonitoringCore()
        var waiting: [ConditionID: Waiting] = [:]
        var log: [String] = []
        var now = 0
        // For each second, the receivers that hear in it.
        var hearing: [Int: Set<Int>] = [:]
        var known: Set<Int> = []
        var deaf: Set<Int> = []

        func add(_ core: inout MonitoringCore) {
            let timeout = Int.random(in: 1...12, using: &random)
            log.append("\(now) region of \(timeout)")
            waiting[core.startMonitoring(Self.region(timeout))] = Waiting(since: now, timeout: timeout)
        }
        func pass(_ core: inout MonitoringCore, _ count: Int, asleep: Set<Int> = []) {
            for second in now..<now + count { hearing[second] = known.subtracting(deaf).subtracting(asleep) }
            now += count
            core.advance(upTo: Self.time(now))
        }

        add(&core)
        core.advance(upTo: Self.time(0))
        for _ in 0..<60 {
            let number = Int.random(in: 0..<4, using: &random)
            let receiver = ReceiverID(UInt16(number))
            switch Int.random(in: 0..<9, using: &random) {
            case 0 where !known.contains(number):
                log.append("\(now) \(number) appears")
                core.name(receiver, "receiver \(number)")
                known.insert(number)
            case 1, 2:
                guard known.contains(number) else { continue }
                let kind: MonitoringCore.Hearing = Bool.random(using: &random) ? .lost : .interrupted
                log.append("\(now) \(number) is \(kind)")
                core.setHearing(kind, of: receiver, at: Self.time(now))
                deaf.insert(number)
            case 3, 4:
                guard known.contains(number) else { continue }
                log.append("\(now) \(number) hears")
                core.setHearing(.hearing, of: receiver, at: Self.time(now))
                deaf.remove(number)
            case 5 where known.contains(number) && !deaf.contains(number):
                log.append("\(now) \(number) is replaced")
                core.reassign(receiver, to: "receiver \(number) at \(now)")
                core.setHearing(.hearing, of: receiver)
            case 6:
                let length = Int.random(in: 1...15, using: &random)
                let asleep = known.filter { _ in Bool.random(using: &random) }
                log.append("\(now) \(asleep.sorted()) sleep for \(length)")
                for one in asleep.sorted() {
                    core.skip(
                        from: Self.time(now), to: Self.time(now + length), of: ReceiverID(UInt16(one)))
                }
                pass(&core, length, asleep: asleep)
            case 7 where waiting.count < 12: add(&core)
            default: pass(&core, Int.random(in: 1...6, using: &random))
            }
        }
        for number in 0..<4 { core.setHearing(.hearing, of: ReceiverID(UInt16(number)), at: Self.time(now)) }
        known = [0, 1, 2, 3]
        deaf = []
        pass(&core, 30)

        var found: [ConditionID: [Int]] = [:]
        for case .state(let change) in core.drainEvents() where change.before == .unknown {
            #expect(change.kind == .state && change.state == .outside)
            found[change.condition, default: []].append(Self.seconds(change.time))
        }
        for (id, region) in waiting {
            let expected = Self.outside(region, hearing: hearing, before: now)
            #expect(
                found[id] == expected.map { [$0] },
                "seed \(seed), since \(region.since) for \(region.timeout): \(log.joined(separator: "; "))")
            #expect(core.knownState(of: id) == (expected == nil ? .unknown : .outside))
        }
    }
}
