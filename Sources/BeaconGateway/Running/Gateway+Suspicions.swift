import BeaconDelivery
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import Logging

// Beacons that may have been cloned: where receivers are, and what becomes of a suspicion.

extension Gateway {
    /// Begins to look for beacons that were cloned, or goes on with others.
    func lookForClones(_ plan: MonitoringPlan) {
        guard let settings = configuration.suspicions, !plan.suspected.isEmpty else {
            if configuration.suspicions != nil, fleet == nil, !configuration.regions.isEmpty {
                logger.warning("no beacon is looked at for clones: \"suspicious\" names no region that there is")
            }
            return core.stopSuspecting()
        }
        core.startSuspecting(settings.rules, of: plan.suspected, positions: receiverPositions(settings))
        guard settings.needsPositions, receiverPositions(settings).count < 2, !hasReportedPositions else { return }
        hasReportedPositions = true
        logger.notice(
            "of beacons that may have been cloned, only addresses are compared: where receivers are is not known. Put them on the console's plan, or write \"suspicious: {receivers: {NAME: [x, y]}}\" in the file"
        )
    }

    /// The positions of receivers: those of the file, and for others those of the plan.
    private func receiverPositions(_ settings: SuspicionSettings) -> [String: ReceiverPosition] {
        planPositions.merging(settings.positions) { _, own in own }
    }

    /// Reads where receivers are on the plan of the building.
    func readPlan() async {
        guard configuration.suspicions?.needsPositions == true, let state else { return }
        do {
            let positions = try await state.buildingPlan().receiverPositions
            // Somebody may have changed it meanwhile.
            if !hasPlan { planPositions = positions }
        } catch {
            logger.error(
                "cannot read the plan of the building: \(error); clones of beacons are looked for with the positions of the file alone until it is changed"
            )
        }
    }

    /// Takes in where receivers are on another plan of the building.
    func usePlan(_ plan: BuildingPlan) {
        hasPlan = true
        planPositions = plan.receiverPositions
        guard let settings = configuration.suspicions else { return }
        core.setPositions(receiverPositions(settings))
    }

    /// Logs positions of receivers that no source has.
    func reportMissingPositions(_ names: Set<String>) {
        let missing = configuration.suspicions?.positions.keys.filter { !names.contains($0) }.sorted() ?? []
        guard !missing.isEmpty else { return }
        logger.warning(
            "no source has the receiver \(missing.joined(separator: ", ")) of \"suspicious\"; there are \(names.sorted().joined(separator: ", "))"
        )
    }

    /// Takes in a beacon that may have been cloned.
    func handle(_ event: SuspicionEvent, events: inout [GatewayEvent]) {
        let record = HistoryEvent(event, name: title(of: event.identity))
        logger.warning("\(record.summary)", metadata: ["beacon": "\(event.identity)"])
        add(own(policy.receive(.suspected(event), at: event.time)), shownAs: record, to: &events)
        for destination in destinations { destination.receive?(.suspected(event)) }
    }

    /// Logs that suspicions were left out, once an hour.
    func reportOmittedSuspicions() {
        let omitted = core.omittedSuspicions
        guard omitted.count > toldOmissions.count, let time = core.time,
            toldOmissions.count == 0 || time.since(toldOmissions.time) >= 3600 * Timestamp.nanosecondsPerSecond
        else { return }
        toldOmissions = (omitted.count, time)
        logger.warning(
            "\(omitted)"
        )
    }
}
