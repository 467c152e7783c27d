import BeaconEngine
import BeaconModel
import BeaconMonitoring
import Logging

/// The search for cloned beacons: the positions of receivers, and the reports in the log.
struct CloneSearch {
    /// The positions of receivers on the plan of the building, by name.
    private var planPositions: [String: ReceiverPosition] = [:]
    private var hasPlan = false
    private var hasReportedPositions = false
    /// The suspicions that were left out, as they were logged last, and when.
    private var reportedOmissions = (count: 0, time: Timestamp.zero)
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Searches for clones as a configuration asks, or ends the search.
    mutating func update(
        _ core: inout MonitoringCore, for configuration: GatewayConfiguration, _ plan: MonitoringPlan, isInFleet: Bool
    ) {
        guard let settings = configuration.suspicions, !plan.suspected.isEmpty else {
            if configuration.suspicions != nil, !isInFleet, !configuration.regions.isEmpty {
                logger.warning("no beacon is looked at for clones: \"suspicious\" names no known region")
            }
            return core.stopSuspecting()
        }
        let positions = positions(settings)
        core.startSuspecting(settings.rules, of: plan.suspected, positions: positions)
        guard settings.rules.needsPositions, positions.count < 2, !hasReportedPositions else { return }
        hasReportedPositions = true
        logger.notice(
            "of beacons that may have been cloned, only addresses are compared: where receivers are is not known. Put them on the console's plan, or write \"suspicious: {receivers: {NAME: [x, y]}}\" in the file"
        )
    }

    /// The positions of receivers: those of the file, and for others those of the plan.
    private func positions(_ settings: SuspicionSettings) -> [String: ReceiverPosition] {
        planPositions.merging(settings.positions) { _, own in own }
    }

    /// Begins with the positions of the plan that was stored, unless another plan came first.
    mutating func restore(_ positions: [String: ReceiverPosition]) {
        if !hasPlan { planPositions = positions }
    }

    /// Continues with the positions of another plan.
    mutating func use(_ plan: BuildingPlan, for settings: SuspicionSettings?, in core: inout MonitoringCore) {
        hasPlan = true
        planPositions = plan.receiverPositions
        if let settings { core.setPositions(positions(settings)) }
    }

    /// Logs that suspicions were left out, once an hour.
    mutating func reportOmissions(of core: borrowing MonitoringCore) {
        let omitted = core.omittedSuspicions
        guard omitted.count > reportedOmissions.count, let time = core.time,
            reportedOmissions.count == 0
                || time.since(reportedOmissions.time) >= 3600 * Timestamp.nanosecondsPerSecond
        else { return }
        reportedOmissions = (omitted.count, time)
        logger.warning("\(omitted)")
    }
}
