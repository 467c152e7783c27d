import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import BeaconTerminal

/// The beacons that a source hears in a few seconds, for the user to name one.
struct HeardBeacons {
    /// A beacon that was heard.
    struct Beacon {
        var identity: BeaconIdentity
        /// The distance in meters; negative if it is unknown.
        var accuracy: Double
        /// The distance in meters that it is probably beyond, if the accuracy says no more; nil otherwise.
        var leastDistance: Double?
    }

    /// How long to listen after the first beacon: several adverts of a slow beacon, and time for the distance filter to
    /// settle.
    private static let usualTime = Duration.seconds(6)

    /// How long to listen before reporting that nothing is heard.
    private static let patience = Duration.seconds(8)

    /// How much of a simulation to read, in nanoseconds of simulated time: all beacons of its first minutes.
    private static let simulatedTime: Int64 = 180_000_000_000

    let source: SourceSpecification
    let prompt: Prompt

    /// Listens until beacons were heard for some seconds, or the user stops it.
    ///
    /// - Returns: the beacons, nearest first, those of unknown distance last.
    /// - Throws: the error of the source, and `ExitCode` if the user stopped it.
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
                let continues = try session.step(shouldStop: { prompt.isInterrupted }) { event in
                    guard case .ranged(let report) = event else { return }
                    for beacon in report.beacons {
                        let before = nearest[beacon.identity]
                        let isNearer = before.map { RangedBeacon.isNearer(beacon.accuracy, than: $0.accuracy) } ?? true
                        if isNearer || self.source.isRadio {
                            nearest[beacon.identity] = Beacon(
                                identity: beacon.identity, accuracy: beacon.accuracy,
                                leastDistance: beacon.leastDistance)
                        }
                    }
                }
                guard continues else { break }
                if self.source.isRadio {
                    if !nearest.isEmpty { firstHeard = firstHeard ?? clock.now }
                    if let firstHeard, clock.now - firstHeard >= Self.usualTime { break }
                    if nearest.isEmpty, !hasComplained, clock.now - start > Self.patience {
                        hasComplained = true
                        ErrorOutput.shared.write(
                            outage.map { "Nothing can be heard: \($0)." }
                                ?? "No beacon yet. Is it on? Many send only after you press a button. Stop: Ctrl-C."
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
