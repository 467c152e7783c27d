import BeaconEngine
package import BeaconModel

/// The places of beacons: names instead of the numbers of the engine.
extension MonitoringCore {
    /// Starts to locate beacons in the places of a plan.
    ///
    /// - Parameters:
    ///   - plan: the places and the names of their receivers.
    ///   - constraints: the beacons; nil stands for all.
    package mutating func startLocating(_ plan: PlacePlan, _ constraints: [BeaconConstraint?]) {
        recording?.note(.locate(plan, constraints))
        places = plan
        placeNames = plan.placeNames
        placeReceivers = Dictionary(uniqueKeysWithValues: plan.receiverNames.enumerated().map { ($1, $0) })
        engine.startLocating(plan.map, constraints)
        for (receiver, name) in receiverNames.sorted(by: { $0.key.index < $1.key.index }) {
            attach(receiver, named: name)
        }
    }

    /// Waits for beacons that were not heard. A beacon that stays unheard is in no place after the exit time-out of
    /// places.
    package mutating func awaitBeacons(_ identities: [BeaconIdentity]) {
        recording?.note(.await(identities))
        engine.awaitBeacons(identities)
    }

    /// Stops locating beacons. Harmless if none are located.
    package mutating func stopLocating() {
        recording?.note(.stopLocating)
        places = nil
        placeNames = []
        placeReceivers = [:]
        engine.stopLocating()
    }

    /// Sets the name by which plans know a receiver, and adds the receiver.
    package mutating func name(_ receiver: ReceiverID, _ name: String) {
        addReceiver(receiver)
        guard receiverNames[receiver] != name else { return }
        recording?.note(.name(receiver, name))
        receiverNames[receiver] = name
        if !calibrations.receivers.isEmpty {
            engine.setCalibration(calibrations.calibration(of: name) ?? ReceiverCalibration(), of: receiver)
        }
        engine.setName(name, isMeasured: calibrations.receivers[name] != nil, of: receiver)
        attach(receiver, named: name)
        locate(receiver, named: name)
    }

    /// Sets the last known place of a beacon, for example from an earlier run.
    ///
    /// - Parameters:
    ///   - place: the place's name; nil if the beacon was in none. An unknown name is ignored.
    ///   - identity: the beacon.
    package mutating func setKnownPlace(_ place: String?, of identity: BeaconIdentity) {
        recording?.note(.know(identity, place: place))
        guard let place else { return engine.setKnownPlace(.nowhere, of: identity) }
        guard let number = placeNames.firstIndex(of: place) else { return }
        engine.setKnownPlace(.place(number), of: identity)
    }

    private mutating func attach(_ receiver: ReceiverID, named name: String) {
        guard let places else { return }
        engine.setReceiver(receiver, of: places.deafReceivers.contains(name) ? nil : placeReceivers[name])
    }

    /// Converts the engine's report of one second, replacing numbers with names.
    func event(of beacons: [LocatedBeacon], at time: Timestamp) -> LocatingEvent {
        LocatingEvent(
            time: wall(time, of: nil),
            beacons: beacons.map { beacon in
                event(
                    of: beacon.identity, at: time, whereabouts: beacon.whereabouts, before: beacon.whereabouts,
                    beacon.grounds)
            })
    }

    /// Converts a change of the engine, replacing numbers with names.
    func event(of change: PlaceChange) -> PlaceEvent {
        event(
            of: change.identity, at: change.time, whereabouts: change.whereabouts, before: change.before,
            change.grounds)
    }

    private func event(
        of identity: BeaconIdentity, at time: Timestamp, whereabouts: PlaceState, before: PlaceState,
        _ grounds: PlaceEvidence
    ) -> PlaceEvent {
        func name(_ whereabouts: PlaceState) -> String? {
            guard case .place(let number) = whereabouts, placeNames.indices.contains(number) else { return nil }
            return placeNames[number]
        }
        let state: RegionState =
            switch whereabouts {
            case .unknown: .unknown
            case .nowhere: .outside
            case .place: .inside
            }
        let receiver = grounds.receiver
        return PlaceEvent(
            time: wall(time, of: receiver), identity: identity, state: state, place: name(whereabouts),
            before: name(before), receiver: receiver.flatMap { receiverNames[$0] }, level: grounds.level,
            margin: grounds.margin, runnerUp: grounds.runnerUp.flatMap { name(.place($0)) })
    }
}
