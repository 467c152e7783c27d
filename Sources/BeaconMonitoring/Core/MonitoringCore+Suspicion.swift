package import BeaconEngine
package import BeaconModel

extension MonitoringCore {
    /// Begins to look for identities behind which there is more than one device, or goes on with other beacons.
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

    /// Ends that. Doing so twice is harmless.
    package mutating func stopSuspecting() {
        suspicions = nil
        positions = [:]
    }

    /// Sets where receivers are, by their names. Nothing is said of the distances of others.
    package mutating func setPositions(_ positions: [String: ReceiverPosition]) {
        self.positions = positions
        for (receiver, name) in receiverNames { locate(receiver, named: name) }
    }

    /// What was left out of suspicions, since there was too much of it.
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
                        grounds: SuspicionGrounds(
                            reason: finding.reason,
                            receivers: sides.map { receiverNames[$0.receiver] ?? "receiver \($0.receiver.index)" },
                            addresses: sides.map { "\($0.address)" }, distance: finding.distance,
                            seconds: finding.seconds, speed: finding.speed))))
        }
    }
}

/// What was left out of suspicions, since there was too much of it. Its text is for the log.
package struct OmittedSuspicions: CustomStringConvertible {
    /// The suspicions that were not reported.
    package var findings: Int
    /// The adverts of identities that were not followed.
    package var adverts: Int

    /// The sum of both.
    package var count: Int { findings + adverts }

    /// What it means, in a sentence.
    package var description: String {
        "somebody may be inventing beacons: \(findings) suspicions were left out, since there were more than \(SuspicionDetector.mostFindings) in an hour, and \(adverts) adverts of identities beyond \(SuspicionDetector.mostIdentities)"
    }
}
