import ArgumentParser
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconTerminal

/// A runner of a command's session.
///
/// It opens the source, reports problems to the user, and ends the session cleanly.
struct SessionRunner {
    var source: ChosenSource
    var receiver: String?

    /// The receivers that the user named in other options.
    var expected: [String] = []

    /// Called with each event of the source's radio.
    var radioObserver: ((SourceEvent) -> Void)?

    /// Called with the source's adverts, at least once per interval, in nanoseconds.
    var sourceObserver: (interval: Int64, observe: (SourceBatch) throws -> Void)?

    /// False if the command's own output marks uncalibrated beacons.
    var reportsUncalibrated = true

    /// Whether the command itself shows its progress on the terminal.
    var hasOwnDisplay: Bool

    /// Runs to the end of the source, or until the user requests to stop.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of the session.
    ///   - mode: the scan mode of a radio.
    ///   - programs: starts the user's program for events.
    ///   - settled: called after all events with the same time.
    ///   - handle: called with each event, whose time is by the wall clock.
    ///   - atEnd: called once at the end, even if the source is damaged.
    func run(
        _ configuration: MonitoringSession.Configuration,
        mode: ScanMode = .ranging,
        programs: ProgramStarter? = nil,
        settled: () throws -> Void = {},
        handle: (BeaconEvent) throws -> Void,
        atEnd: () throws -> Void
    ) throws {
        let radio = RadioStatus.printing(hasReceivers: source.specification.hasReceivers)
        let input = try source.open(mode: mode) { event in
            radio.update(event)
            radioObserver?(event)
        }
        Interruption.wake(input.waker)
        var configuration = configuration
        let exponent = configuration.calibrations.exponent
        configuration.calibrations = try source.calibrations()
        if let exponent { configuration.calibrations.exponent = exponent }
        var session = MonitoringSession(configuration, source: input, pace: source.pace)
        if let sourceObserver { session.observe(each: sourceObserver.interval, sourceObserver.observe) }
        session.noticeObserver = { if reportsUncalibrated || $0.kind != .uncalibrated { radio.update(.notice($0)) } }
        session.rangingObserver = { programs?.handle($0, at: $1, from: $2) }
        var progress = ReplayProgress(isWanted: !source.isGradual && !hasOwnDisplay && !Terminal.output.isInteractive)
        var failure: (any Error)?
        do {
            try session.run(
                shouldStop: { Interruption.isRequested },
                progress: { packets, time in progress.step(packets: packets, time: time) },
                settled: {
                    programs?.settle()
                    try settled()
                },
                handle: { event in
                    if case .region(let change) = event { programs?.handle(change) }
                    try handle(event)
                })
        } catch {
            failure = error
        }
        progress.clear()
        try atEnd()
        if let receiver, !session.receiverNames.contains(receiver), failure == nil {
            let heard = session.receiverNames.joined(separator: ", ")
            ErrorOutput.shared.write(
                "Note: there is no receiver \"\(receiver)\" in this source; it has \(heard.isEmpty ? "none" : heard).")
        }
        let missing = expected.filter { !session.receiverNames.contains($0) }
        if !missing.isEmpty, failure == nil {
            let heard = session.receiverNames.joined(separator: ", ")
            ErrorOutput.shared.write(
                "Note: this source has no receiver \(missing.joined(separator: ", ")); it has "
                    + "\(heard.isEmpty ? "none" : heard). Missing receivers count as deaf.")
        }
        if let failure { throw failure }
        if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
    }
}
