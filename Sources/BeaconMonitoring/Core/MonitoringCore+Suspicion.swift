package import BeaconEngine
package import BeaconModel

extension MonitoringCore {
    /// Starts the search for identities that more than one device uses, or changes the beacons that it covers.
    ///
    /// - Parameters:
    ///   - rules: the rules.
    ///   - constraints: the beacons.
    ///   - positions: where receivers are, by their names.
    package mutating func startSuspecting(
        _ rules: SuspicionRules, of constraints: [BeaconConstraint], positions: [String: ReceiverPosition]
    ) {
        if suspicions?.rules == rules {
            suspicions?.setConstraints(constraints)
        } else {
            suspicions = SuspicionDetector(rules, of: constraints, calibrations: calibrations.beaconCalibrations)
        }
        setPositions(positions)
    }

    /// Stops the search. Harmless if it is not running.
    package mutating func stopSuspecting() {
        suspicions = nil
        positions = [:]
    }

    /// Sets the positions of receivers, by name. Receivers without a position are not compared by distance.
    package mutating func setPositions(_ positions: [String: ReceiverPosition]) {
        self.positions = positions
        for (receiver, name) in receiverNames { locate(receiver, named: name) }
    }

    /// The number of suspicions that were omitted because there were too many.
    package var omittedSuspicions: OmittedSuspicions {
        OmittedSuspicions(findings: suspicions?.omittedFindings ?? 0, adverts: suspicions?.ignoredAdverts ?? 0)
    }

    mutating func locate(_ receiver: ReceiverID, named name: String) {
        let offset = calibrations.receivers.isEmpty ? nil : calibrations.calibration(of: name)?.offset
        suspicions?.setReceiver(receiver, at: positions[name], offset: offset ?? 0)
    }

    @inline(never)
    mutating func suspect(_ sighting: Sighting) {
        suspicions?.receive(sighting)
        if suspicions?.hasFindings == true { drainSuspicions() }
    }

    mutating func suspect(at time: Timestamp) {
        suspicions?.advance(to: time)
        if suspicions?.hasFindings == true { drainSuspicions() }
    }

    private mutating func drainSuspicions() {
        for finding in suspicions?.takeFindings() ?? [] {
            let sides = [finding.first, finding.second]
            events.append(
                .suspected(
                    SuspicionEvent(
                        time: wall(finding.time, of: finding.second.receiver), identity: finding.identity,
                        grounds: SuspicionEvidence(
                            reason: finding.reason,
                            receivers: sides.map { receiverNames[$0.receiver] ?? "receiver \($0.receiver.index)" },
                            addresses: sides.map { "\($0.address)" }, distance: finding.distance,
                            seconds: finding.seconds, speed: finding.speed))))
        }
    }
}

/// The number of suspicions that were omitted because there were too many. Its description is for the log.
package struct OmittedSuspicions: CustomStringConvertible {
    /// The suspicions that were not reported.
    package var findings: Int
    /// The adverts of identities that were not tracked.
    package var adverts: Int

    /// The sum of both.
    package var count: Int { findings + adverts }

    /// A sentence for the log.
    package var description: String {
        "a sender may be inventing beacons: \(findings) suspicions were omitted because there were more than \(SuspicionDetector.maximumFindings) in an hour, and \(adverts) adverts of identities beyond \(SuspicionDetector.maximumIdentities)"
    }
}
