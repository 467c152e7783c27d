package import BeaconModel

/// A core that repeats recorded inputs.
///
/// It gives conditions and requests other numbers than the recorded core if the playback begins at a checkpoint.
package struct CorePlayer: ~Copyable {
    package var core: MonitoringCore
    private var conditions: [ConditionID: ConditionID] = [:]
    private var requests: [RangingRequestID: RangingRequestID] = [:]
    private var owners: [ConditionID: String] = [:]
    private var titles: [ReceiverID: String] = [:]
    private var constraints: [ConditionID: BeaconConstraint] = [:]
    private var recorded = RecordedBeacons()

    /// Creates a player that has played nothing.
    package init(_ core: consuming MonitoringCore) { self.core = core }

    /// Returns the name of a receiver in events.
    package func title(of receiver: ReceiverID) -> String { titles[receiver] ?? "receiver \(receiver.index)" }

    /// Returns the owner of a condition and its beacons; nil if not all adverts of its beacons were recorded.
    package func owner(of id: ConditionID) -> (label: String, constraint: BeaconConstraint)? {
        guard let label = owners[id], let constraint = constraints[id], recorded.covers(constraint) else { return nil }
        return (label, constraint)
    }

    /// The owners whose beacons were not all recorded, so that a playback says nothing of them.
    package var omitted: [String] {
        owners.filter { id, _ in constraints[id].map { !recorded.covers($0) } ?? false }.map(\.value).sorted()
    }

    /// Repeats a part of a journal's traffic.
    package mutating func play(_ piece: CoreTraffic.Piece) {
        switch piece {
        case .advert(let sighting): core.receive(sighting)
        case .upTo(let time): core.advance(upTo: time)
        case .to(let time): core.advance(to: time)
        case .passed(let time): core.pass(time)
        }
    }

    /// Repeats a call.
    package mutating func play(_ input: CoreInput) {
        switch input {
        case .monitor(let id, let region, let state, let holder, let owner):
            let own = core.startMonitoring(region, assuming: state, heldBy: holder, owner: owner)
            conditions[id] = own
            (owners[own], constraints[own]) = (owner, region.constraint)
        case .own(let id, let owner): if let own = conditions[id] { owners[own] = owner }
        case .forget(let id):
            guard let own = conditions.removeValue(forKey: id) else { return }
            core.stopMonitoring(own)
            (owners[own], constraints[own]) = (nil, nil)
        case .range(let id, let constraint): requests[id] = core.startRanging(constraint)
        case .stopRanging(let id): if let own = requests.removeValue(forKey: id) { core.stopRanging(own) }
        case .add(let receiver): core.addReceiver(receiver)
        case .hear(let receiver, let hearing, let time): core.setHearing(hearing, of: receiver, at: time)
        case .confirm(let receiver, let time): core.confirmHearing(of: receiver, until: time)
        case .smooth(let receiver, let isSmoothed): core.setSmoothed(isSmoothed, of: receiver)
        case .skip(let receiver, let from, let to): core.skip(from: from, to: to, of: receiver)
        case .wallOffset(let receiver, let offset): core.setWallOffset(offset, of: receiver)
        case .name(let receiver, let name): core.name(receiver, name)
        case .title(let receiver, let title): titles[receiver] = title
        case .reassign(let receiver, let name): core.reassign(receiver, to: name)
        case .retire(let receiver): core.retire(receiver)
        case .move(let receiver, let moves): core.setMoves(moves, of: receiver)
        case .locate(let plan, let constraints): core.startLocating(plan, constraints)
        case .stopLocating: core.stopLocating()
        case .know(let beacon, let place): core.setKnownPlace(place, of: beacon)
        case .await(let beacons): core.awaitBeacons(beacons)
        case .suspect(let rules, let beacons, let positions):
            core.startSuspecting(rules, of: beacons, positions: positions)
        case .stopSuspecting: core.stopSuspecting()
        case .position(let positions): core.setPositions(positions)
        case .learn(let learner): core.startLearningOffsets(from: learner)
        case .renameOffset(let old, let new): core.renameOffset(of: old, to: new)
        case .stopLearning: core.stopLearningOffsets()
        case .record(let beacons): recorded = beacons
        case .note: break
        }
    }
}
