import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Foundation

/// A stretch of the journal as one file, to send with a report.
package struct JournalCase: Sendable {
    private let replay: Replay
    private let stretch: Replay.Stretch

    /// Creates a case.
    ///
    /// - Parameter folder: the journal's folder.
    package init(of stretch: Replay.Stretch, in folder: String) {
        (replay, self.stretch) = (Replay(folder: folder), stretch)
    }

    /// Writes the file, from the last segment that begins early enough for a settled replay of the stretch.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - isAnonymous: whether to replace identities, addresses and names.
    /// - Throws: `Replay.Failure`, `StateError`.
    package func write(to path: String, isAnonymous: Bool) throws {
        var cover = isAnonymous ? JournalCover() : nil
        var bytes = JournalSegment.mark
        var before: Replay.Segment?
        var isWhole = false
        for segment in try replay.segments(for: stretch, isBounded: true) {
            guard let content = JournalContent(segment.file) else { break }
            let isContinued = isWhole && before.map { segment.continues($0) } ?? false
            isWhole = content.isWhole
            for (number, block) in content.blocks.enumerated() {
                guard var parts = content.parts(of: number, isKept: false) else { break }
                if isContinued {
                    parts.removeAll { if case .head = $0 { true } else { false } }
                }
                parts = parts.map { fixingZones($0, isAnonymous: isAnonymous) }
                if !parts.isEmpty {
                    bytes += try JournalSegment.block(
                        parts.map { cover?.covered($0) ?? $0 }, end: block.end)
                }
                if block.end > stretch.to + 1 { break }
            }
            before = segment
        }
        try AtomicFile.replace(path, with: bytes)
    }

    /// Names this machine's time zone in the schedules of rules, since the file may be played elsewhere; or only its
    /// distance from UTC, since a name tells where the house is.
    private func fixingZones(_ part: JournalSegment.Part, isAnonymous: Bool) -> JournalSegment.Part {
        func fixed(_ input: CoreInput) -> CoreInput {
            guard case .note(let text) = input, var rules = RecordedRules(text) else { return input }
            let begin = Date(timeIntervalSince1970: stretch.from)
            for index in rules.rules.indices {
                if rules.rules[index].schedule?.zone == .machine {
                    rules.rules[index].schedule?.zone = .named(.current)
                }
                guard isAnonymous, case .named(let zone)? = rules.rules[index].schedule?.zone,
                    let plain = TimeZone(secondsFromGMT: zone.secondsFromGMT(for: begin))
                else { continue }
                rules.rules[index].schedule?.zone = .named(plain)
            }
            return (try? rules.input) ?? input
        }
        switch part {
        case .input(let input): return .input(fixed(input))
        case .head(var head):
            head.checkpoint = head.checkpoint?.map(fixed)
            return .head(head)
        case .traffic: return part
        }
    }
}

/// Replaces identities, addresses and names by others, the same ones always by the same.
struct JournalCover {
    private var salt = (0..<16).map { _ in UInt8.random(in: 0...255) }
    private var names: [String: String] = [:]

    mutating func covered(_ part: JournalSegment.Part) -> JournalSegment.Part {
        switch part {
        case .head(var head):
            head.run = name(head.run, "run")
            head.calibrations = calibrations(head.calibrations)
            head.checkpoint = head.checkpoint?.map { covered($0) }
            return .head(head)
        case .traffic(let bytes):
            var traffic = CoreTraffic()
            _ = CoreTraffic.read(bytes) { piece in
                guard case .advert(var sighting) = piece else { return traffic.add(piece) }
                sighting.identity = identity(sighting.identity)
                sighting.address = DeviceAddress(
                    bits: number([0], sighting.address.bits) & 0xFFFF_FFFF_FFFF, kind: sighting.address.kind)
                traffic.add(.advert(sighting))
            }
            return .traffic(traffic.bytes)
        case .input(let input): return .input(covered(input))
        }
    }

    private mutating func covered(_ input: CoreInput) -> CoreInput {
        switch input {
        case .monitor(let id, var region, let state, let holder, let owner):
            region.constraint = constraint(region.constraint)
            return .monitor(id, region, assuming: state, heldBy: holder, owner: self.owner(owner))
        case .own(let id, let owner): return .own(id, self.owner(owner))
        case .range(let id, let constraint): return .range(id, constraint.map { self.constraint($0) })
        case .name(let receiver, let name): return .name(receiver, self.name(name, "receiver"))
        case .title(let receiver, let name): return .title(receiver, self.name(name, "receiver"))
        case .reassign(let receiver, let name): return .reassign(receiver, self.name(name, "receiver"))
        case .locate(let plan, let beacons): return .locate(self.plan(plan), beacons.map { $0.map { constraint($0) } })
        case .know(let beacon, let place): return .know(identity(beacon), place: place.map { name($0, "place") })
        case .await(let beacons): return .await(beacons.map { identity($0) })
        case .suspect(let rules, let beacons, let positions):
            return .suspect(rules, beacons.map { constraint($0) }, self.positions(positions))
        case .position(let positions): return .position(self.positions(positions))
        case .renameOffset(let old, let new):
            return .renameOffset(name(old, "receiver"), name(new, "receiver"))
        // The learner's pairs have names and identities, and only change distances a little.
        case .learn: return .learn(nil)
        case .record(let beacons): return .record(beacons.mapped { constraint($0) })
        // Text that is not understood may have names.
        case .note(let text): return RecordedRules(text).flatMap { try? rules($0).input } ?? .note("")
        case .forget, .stopRanging, .add, .hear, .confirm, .smooth, .skip, .wallOffset, .retire, .move, .stopLocating,
            .stopSuspecting, .stopLearning:
            return input
        }
    }

    private mutating func name(_ name: String, _ kind: String) -> String {
        if let known = names[kind + name] { return known }
        let number = names.keys.count { $0.hasPrefix(kind) } + 1
        names[kind + name] = "\(kind) \(number)"
        return "\(kind) \(number)"
    }

    private mutating func owner(_ label: String) -> String {
        let kind = label.prefix { $0 != " " }
        return "\(kind) \(name(String(label.dropFirst(kind.count + 1)), String(kind)))"
    }

    private func number(_ kind: [UInt8], _ value: UInt64) -> UInt64 {
        let bytes = kind + (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        return SHA256.hmac(bytes, key: salt).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func constraint(_ constraint: BeaconConstraint) -> BeaconConstraint {
        let (high, low) = (constraint.uuid.high, constraint.uuid.low)
        let key = high ^ (low &* 0x9E37_79B9_7F4A_7C15)
        let uuid = ProximityUUID(high: number([1], key), low: number([2], key))
        guard let major = constraint.major else { return BeaconConstraint(uuid: uuid) }
        let newMajor = UInt16(truncatingIfNeeded: number([3], key ^ UInt64(major)))
        guard let minor = constraint.minor else { return BeaconConstraint(uuid: uuid, major: newMajor) }
        // Two beacons must not become one: a minor is shifted by an amount of its major.
        let shift = UInt16(truncatingIfNeeded: number([4], key ^ UInt64(major)))
        return BeaconConstraint(uuid: uuid, major: newMajor, minor: minor &+ shift)
    }

    private func identity(_ beacon: BeaconIdentity) -> BeaconIdentity {
        let covered = constraint(BeaconConstraint(beacon))
        return BeaconIdentity(uuid: covered.uuid, major: covered.major ?? 0, minor: covered.minor ?? 0)
    }

    private mutating func positions(_ positions: [String: ReceiverPosition]) -> [String: ReceiverPosition] {
        var covered: [String: ReceiverPosition] = [:]
        for (receiver, position) in positions.sorted(by: { $0.key < $1.key }) {
            covered[name(receiver, "receiver")] = position
        }
        return covered
    }

    private mutating func plan(_ plan: PlacePlan) -> PlacePlan {
        var covered = plan
        covered.places = plan.places.map { place in
            PlacePlan.Place(
                name: name(place.name, "place"), receivers: place.receivers.map { name($0, "receiver") })
        }
        covered.deafReceivers = Set(plan.deafReceivers.map { name($0, "receiver") })
        covered.rules.exitTimeouts = [:]
        for (beacon, time) in plan.rules.exitTimeouts { covered.rules.exitTimeouts[identity(beacon)] = time }
        guard let taught = plan.taught else { return covered }
        covered.taught = TaughtMap()
        for place in taught.places {
            let points = place.points.map { point in
                var levels: [String: Double?] = [:]
                for (receiver, level) in point { levels[name(receiver, "receiver")] = .some(level) }
                return levels
            }
            covered.taught?.add(points, to: name(place.name, "place"))
        }
        return covered
    }

    private mutating func rules(_ recorded: RecordedRules) -> RecordedRules {
        var covered = recorded
        covered.regions = recorded.regions.map {
            RecordedRules.Region(name: name($0.name, "region"), constraint: constraint($0.constraint))
        }
        covered.beacons = recorded.beacons.map { beacon in
            RecordedRules.Beacon(
                name: name(beacon.name, "beacon"), identity: identity(beacon.identity),
                place: beacon.place.map { name($0, "place") })
        }
        covered.ranged = recorded.ranged.map { constraint($0) }
        covered.rules = recorded.rules.map { entry in
            var rule = entry
            rule.name = name(entry.name, "rule")
            rule.regions = entry.regions.map { Set($0.sorted().map { name($0, "region") }) }
            rule.beacons = entry.beacons.map { Set($0.map { identity($0) }) }
            rule.places = entry.places.map { Set($0.sorted().map { name($0, "place") }) }
            rule.unless?.regions = entry.unless?.regions.map { Set($0.sorted().map { name($0, "region") }) }
            rule.unless?.beacons = entry.unless?.beacons.map { Set($0.map { identity($0) }) }
            // Their texts have names.
            rule.state?.seen = nil
            rule.state?.held = nil
            if let state = entry.state {
                rule.state?.heard = state.heard.mapped { identity($0) }
                rule.state?.firings = [:]
                for (person, time) in state.firings {
                    let known = BeaconIdentity(person: person).map { identity($0).description }
                    rule.state?.firings[known ?? name(person, "region")] = time
                }
            }
            return rule
        }
        return covered
    }

    private mutating func calibrations(_ set: CalibrationSet) -> CalibrationSet {
        var covered = CalibrationSet()
        for (receiver, values) in set.receivers { covered.receivers[name(receiver, "receiver")] = values }
        for (beacon, values) in set.beacons {
            guard let constraint = BeaconConstraint(beacon), let major = constraint.major, let minor = constraint.minor
            else { continue }
            covered[identity(BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor))] = values
        }
        return covered
    }
}
