import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import BeaconTerminal

/// What a source hears in a few seconds, for whoever is to name a beacon.
struct HeardBeacons {
    /// A beacon that was heard.
    struct Beacon {
        var identity: BeaconIdentity
        /// The distance in metres; negative where it is unknown.
        var accuracy: Double
    }

    /// The time for which is listened where something is heard: several adverts of a slow beacon, and what the filter
    /// of the distance needs to settle.
    private static let usualTime = Duration.seconds(6)

    /// The time after which it is said that nothing is heard.
    private static let patience = Duration.seconds(8)

    /// The part of a simulation that is looked through, in nanoseconds of its own time: all that comes in its first
    /// minutes.
    private static let simulatedTime: Int64 = 180_000_000_000

    let source: SourceSpecification
    let prompt: Prompt

    /// Listens until something was heard for some seconds, or the user ends it.
    ///
    /// - Returns: the beacons, nearest first, those of unknown distance last.
    /// - Throws: the error of the source, and `ExitCode` where the user ended it.
    func listen() throws -> [Beacon] {
        var nearest: [BeaconIdentity: Beacon] = [:]
        var outage: String?
        let waker = Waker()
        let source = try SourceReader(self.source, waker: waker) { [specification = self.source] event in
            if case .state(let state) = event { outage = specification.outage(in: state) }
        }
        var configuration = MonitoringSession.Configuration()
        configuration.rangings = [nil]
        var session = MonitoringSession(configuration, source: source, pace: .fastest)
        let clock = ContinuousClock()
        let start = clock.now
        var firstHeard: ContinuousClock.Instant?
        var firstTime: Timestamp?
        var hasComplained = false
        if self.source.isRadio { ErrorOutput.shared.write("Listening…") }
        try prompt.interruptible(by: waker.wake) {
            while !prompt.isInterrupted {
                let goesOn = try session.step(shouldStop: { prompt.isInterrupted }) { event in
                    guard case .ranged(let report) = event else { return }
                    for beacon in report.beacons {
                        let before = nearest[beacon.identity]
                        let isNearer = before.map { RangedBeacon.isNearer(beacon.accuracy, than: $0.accuracy) } ?? true
                        if isNearer || self.source.isRadio {
                            nearest[beacon.identity] = Beacon(
                                identity: beacon.identity, accuracy: beacon.accuracy)
                        }
                    }
                }
                guard goesOn else { break }
                if self.source.isRadio {
                    if !nearest.isEmpty { firstHeard = firstHeard ?? clock.now }
                    if let firstHeard, clock.now - firstHeard >= Self.usualTime { break }
                    if nearest.isEmpty, !hasComplained, clock.now - start > Self.patience {
                        hasComplained = true
                        ErrorOutput.shared.write(
                            outage.map { "Nothing can be heard: \($0)." }
                                ?? "Nothing so far. Is the beacon on? Many send only after a button is pressed. Ctrl-C ends this."
                        )
                    }
                } else if let time = session.time {
                    firstTime = firstTime ?? time
                    if let firstTime, time.nanoseconds - firstTime.nanoseconds > Self.simulatedTime { break }
                }
            }
        }
        return nearest.values.sorted { one, other in
            one.accuracy == other.accuracy
                ? one.identity < other.identity : RangedBeacon.isNearer(one.accuracy, than: other.accuracy)
        }
    }
}
