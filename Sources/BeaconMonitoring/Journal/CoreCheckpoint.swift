import BeaconEngine
import BeaconModel

/// The calls that bring a new core into the state of a running one. The adverts of the last minutes are missing.
struct CoreCheckpoint: Sendable {
    private struct Condition {
        var region: MonitoredRegion
        var owner: String
    }

    private struct Receiver {
        var name: String?
        var title: String?
        var hearing: CoreInput?
        var isSmoothed = false
        var moves = false
        var wallOffset: Int64?
    }

    private var conditions: [ConditionID: Condition] = [:]
    private var requests: [RangingRequestID: BeaconConstraint?] = [:]
    private var receivers: [ReceiverID: Receiver] = [:]
    private var lastOffset: ReceiverID?
    private var location: CoreInput?
    private var awaited: [BeaconIdentity] = []
    private var suspicion: (rules: SuspicionRules, beacons: [BeaconConstraint], positions: [String: ReceiverPosition])?
    private var learns = false
    private var recorded = RecordedBeacons()

    /// Returns true for a call that repeats what the receiver is already, as sources do with each message.
    func has(_ input: CoreInput) -> Bool {
        guard case .smooth(let receiver, let isSmoothed) = input else { return false }
        return (receivers[receiver]?.isSmoothed ?? false) == isSmoothed
    }

    mutating func note(_ input: CoreInput) {
        switch input {
        case .monitor(let id, let region, _, _, let owner): conditions[id] = Condition(region: region, owner: owner)
        case .own(let id, let owner): conditions[id]?.owner = owner
        case .forget(let id): conditions[id] = nil
        case .range(let id, let constraint): requests[id] = .some(constraint)
        case .stopRanging(let id): requests[id] = nil
        case .add(let receiver): receivers[receiver] = receivers[receiver] ?? Receiver()
        case .hear(let receiver, _, _): receivers[receiver, default: Receiver()].hearing = input
        case .smooth(let receiver, let isSmoothed): receivers[receiver, default: Receiver()].isSmoothed = isSmoothed
        case .wallOffset(let receiver, let offset):
            receivers[receiver, default: Receiver()].wallOffset = offset
            lastOffset = receiver
        case .name(let receiver, let name): receivers[receiver, default: Receiver()].name = name
        case .title(let receiver, let title): receivers[receiver, default: Receiver()].title = title
        case .reassign(let receiver, let name):
            receivers[receiver] = Receiver(
                name: name, hearing: .hear(receiver, .interrupted, at: nil),
                wallOffset: receivers[receiver]?.wallOffset)
        case .retire(let receiver): receivers[receiver]?.hearing = .hear(receiver, .lost, at: nil)
        case .move(let receiver, let moves): receivers[receiver, default: Receiver()].moves = moves
        case .locate: location = input
        case .stopLocating: (location, awaited) = (nil, [])
        case .await(let beacons): awaited = beacons
        case .suspect(let rules, let beacons, let positions): suspicion = (rules, beacons, positions)
        case .stopSuspecting: suspicion = nil
        case .position(let positions): suspicion?.positions = positions
        case .learn: learns = true
        case .stopLearning: learns = false
        case .record(let beacons): recorded = beacons
        case .confirm, .skip, .know, .renameOffset, .note: break
        }
    }

    /// Returns the calls.
    ///
    /// - Parameters:
    ///   - core: the running core, for the states of conditions.
    ///   - places: the last known places of beacons.
    func inputs(for core: borrowing MonitoringCore, places: [BeaconIdentity: String]) -> [CoreInput] {
        var inputs: [CoreInput] = [.record(recorded), learns ? .learn(core.learnedOffsets) : .stopLearning]
        for (id, receiver) in receivers.sorted(by: { $0.key.index < $1.key.index }) {
            inputs.append(.add(id))
            if let title = receiver.title { inputs.append(.title(id, title)) }
            inputs.append(.move(id, receiver.moves))
            if let name = receiver.name { inputs.append(.name(id, name)) }
            if receiver.isSmoothed { inputs.append(.smooth(id, true)) }
            if let hearing = receiver.hearing { inputs.append(hearing) }
            if let offset = receiver.wallOffset { inputs.append(.wallOffset(id, offset)) }
        }
        // Events that no receiver caused have the offset that was set last.
        if let lastOffset, let offset = receivers[lastOffset]?.wallOffset {
            inputs.append(.wallOffset(lastOffset, offset))
        }
        for (id, condition) in conditions.sorted(by: { $0.key < $1.key }) {
            inputs.append(
                .monitor(
                    id, condition.region, assuming: core.knownState(of: id), heldBy: core.holder(of: id),
                    owner: condition.owner))
        }
        for (id, constraint) in requests.sorted(by: { $0.key < $1.key }) { inputs.append(.range(id, constraint)) }
        if let suspicion {
            inputs.append(.suspect(suspicion.rules, suspicion.beacons, suspicion.positions))
        }
        if let location {
            inputs.append(location)
            for (beacon, place) in places.sorted(by: { $0.key < $1.key }) { inputs.append(.know(beacon, place: place)) }
            inputs.append(.await(awaited))
        }
        return inputs
    }
}
