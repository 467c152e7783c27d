import BeaconEngine
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Logging

/// The search for cloned beacons: the positions of receivers, and the reports in the log.
struct CloneSearch {
    /// The positions of receivers on the plan of the building, by name.
    private var planPositions: [String: ReceiverPosition] = [:]
    private var hasPlan = false
    private var hasReportedPositions = false
    /// The last logged number of omitted suspicions, and the time of that log line.
    private var reportedOmissions = (count: 0, time: Timestamp.zero)
    /// The times of the last reported forgeries, by tag.
    private var forgeries: [BeaconIdentity: Timestamp] = [:]
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Starts, changes or ends the search, as the configuration requests.
    mutating func update(
        _ core: inout MonitoringCore, for configuration: GatewayConfiguration, _ plan: MonitoringPlan, isInFleet: Bool
    ) {
        guard let settings = configuration.suspicions, !plan.suspected.isEmpty else {
            if configuration.suspicions != nil, !isInFleet, !configuration.regions.isEmpty {
                logger.warning("the search for cloned beacons is off: \"suspicious\" names no known region")
            }
            return core.stopSuspecting()
        }
        let positions = positions(settings)
        core.startSuspecting(settings.rules, of: plan.suspected, positions: positions)
        guard settings.rules.needsPositions, positions.count < 2, !hasReportedPositions else { return }
        hasReportedPositions = true
        logger.notice(
            "the search for cloned beacons compares only addresses, because the positions of receivers are unknown. Put the receivers on the console's plan, or write \"suspicious: {receivers: {NAME: [x, y]}}\" in the file"
        )
    }

    /// Returns the positions of receivers: from the file, and otherwise from the plan.
    private func positions(_ settings: SuspicionSettings) -> [String: ReceiverPosition] {
        planPositions.merging(settings.positions) { _, own in own }
    }

    /// Restores the positions of the stored plan, unless another plan arrived first.
    mutating func restore(_ positions: [String: ReceiverPosition]) {
        if !hasPlan { planPositions = positions }
    }

    /// Switches to the positions of another plan.
    mutating func use(_ plan: BuildingPlan, for settings: SuspicionSettings?, in core: inout MonitoringCore) {
        hasPlan = true
        planPositions = plan.receiverPositions
        if let settings { core.setPositions(positions(settings)) }
    }

    /// Returns the suspicion of a forged tag; nil if the configuration does not want it, or if another source reported
    /// the same tag within ``SuspicionRules/pause``.
    ///
    /// - Parameters:
    ///   - sighting: the forged iBeacon with the tag's identity, at a time of the wall clock.
    ///   - receiver: the name of its receiver.
    mutating func forgery(
        _ sighting: Sighting, at receiver: String?, for configuration: GatewayConfiguration
    ) -> SuspicionEvent? {
        let rules = configuration.suspicions?.rules ?? SuspicionRules()
        guard rules.reasons.contains(.forged) else { return nil }
        // Tags that the configuration no longer has are forgotten, so the table is never longer than it.
        forgeries = forgeries.filter { known in configuration.tags.contains { $0.identity == known.key } }
        let last = forgeries[sighting.identity]
        if let last, abs(sighting.time.since(last)) < rules.pause.clampedNanoseconds { return nil }
        forgeries[sighting.identity] = sighting.time
        return SuspicionEvent(
            time: sighting.time, identity: sighting.identity,
            grounds: SuspicionEvidence(
                reason: .forged, receivers: receiver.map { [$0] } ?? [], addresses: ["\(sighting.address)"],
                seconds: 0))
    }

    /// Logs omitted suspicions, at most once an hour.
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
