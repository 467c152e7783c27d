package import BeaconModel
import BeaconMonitoring
package import BeaconRadio
package import BeaconSupport

/// The thread of a source, as a gateway uses it.
package protocol GatewayRunner: Sendable {
    /// The events of the source, in order, for one task.
    var channel: BoundedChannel<SourceEvent> { get }

    /// Starts the thread.
    func start()

    /// Ends the run soon. What was heard before is still delivered.
    func stop()

    /// Sets the scan mode of a radio.
    func scan(_ mode: ScanMode)

    /// Sets the adverts that a radio sends; the outcome of each is an event.
    func advertise(_ adverts: [OutgoingAdvert])
}

extension SourceRunner: GatewayRunner {}

/// A source of a gateway: its thread, its receivers among those of the gateway, and its place in the gateway's time.
///
/// All sources of a gateway share one time, that of the first which gives any, in the order of the configuration where
/// they are played in order. A source with times of its own, a file of another year for instance, is shifted by whole
/// seconds so that it begins when it is opened; its events are published with its own times.
struct GatewaySource {
    /// The settings, with the places that are kept for the receivers that the configuration names.
    private(set) var settings: SourceSettings
    /// The settings without those places. A reload compares them.
    private(set) var given: SourceSettings
    private(set) var runner: any GatewayRunner

    /// The signal that all events of the runner are handled.
    private(set) var pumpEnd = AsyncSignal()
    /// True while it ends, since another configuration has other settings for it, or has it no longer.
    var isLeaving = false
    /// True once it is no longer configured.
    var isRemoved = false

    /// The source's receivers. The first is there from the beginning, so that a source which cannot be opened is a
    /// receiver that does not hear. Those that kept a region in the last run may not have come yet.
    var listener: Listener
    /// The gateway's numbers for the source's receivers.
    var receivers: [ReceiverID] { listener.receivers }
    /// The names of the source's receivers, as the source has them.
    var receiverNames: [String] { listener.names }

    /// The nanoseconds by which the source's times are behind the gateway's; nil before the first.
    var shift: Int64?
    /// The nanoseconds by which the wall clock is ahead of the source's times, as its radio reports.
    var wallOffset: Int64 = 0
    /// The hearing of the radio as a whole, where the source gives none for each receiver.
    var hearing = MonitoringCore.Hearing.interrupted
    var isEnded = false
    /// The report that messages name more receivers than there are places; nil while all have one.
    var crowd: String?

    /// The state for people, and the number of failures.
    var state = GatewayStatistics.Source.State.starting
    var failures = 0

    /// The counts of the source before it was opened anew, and those that it gave since.
    private var earlier = (packets: 0, iBeacons: 0)
    private var current = (packets: 0, iBeacons: 0)

    init(_ settings: SourceSettings, given: SourceSettings, runner: any GatewayRunner, first: ReceiverID) {
        self.settings = settings
        self.given = given
        self.runner = runner
        listener = Listener(standIn: first)
    }

    /// The number of packets that the source gave.
    var packets: Int { earlier.packets + current.packets }
    /// The number of iBeacons that the source gave.
    var iBeacons: Int { earlier.iBeacons + current.iBeacons }

    /// The counts, for people.
    var statistics: GatewayStatistics.Source {
        var statistics = GatewayStatistics.Source(name: settings.name)
        (statistics.state, statistics.failures) = (state, failures)
        (statistics.packets, statistics.iBeacons) = (packets, iBeacons)
        return statistics
    }

    /// Why the receivers do not hear, as the subject and verb of a sentence; nil where that is not known.
    var reason: String? {
        switch state {
        case .failing(let reason), .failed(let reason): reason
        case .ended: "its source has ended"
        case .starting, .running: nil
        }
    }

    /// The source as the interface shows it.
    var value: SourceValue {
        let (state, reason): (String, String?) =
            switch self.state {
            case .starting: ("starting", nil)
            case .running: ("running", nil)
            case .failing(let reason): ("failing", reason)
            case .failed(let reason): ("failed", reason)
            case .ended: ("ended", nil)
            }
        return SourceValue(
            name: settings.name, from: settings.specification.title, state: state, reason: reason, ended: isEnded,
            packets: packets, beacons: iBeacons, receivers: receivers.indices.map(name),
            advertises: settings.specification.canSend)
    }

    /// Continues with other settings and another runner, and the same receivers.
    mutating func reopen(as settings: SourceSettings, given: SourceSettings, runner: any GatewayRunner) {
        (self.settings, self.given, self.runner) = (settings, given, runner)
        pumpEnd = AsyncSignal()
        (isLeaving, isEnded) = (false, false)
        crowd = nil
        hearing = .interrupted
        state = .starting
    }

    /// Updates the counts when the source is opened, perhaps anew.
    mutating func opened() {
        earlier = (packets, iBeacons)
        current = (0, 0)
    }

    /// Adds the counts of a batch. One that has only a time, while the radio is lost, counts nothing.
    mutating func count(_ batch: SourceBatch) {
        current = (max(current.packets, batch.packets), max(current.iBeacons, batch.iBeacons))
    }

    /// Returns the name of a receiver in events.
    func name(_ place: Int) -> String {
        settings.receiver ?? (place < receiverNames.count ? receiverNames[place] : settings.name)
    }

    /// Returns a time of the source by the gateway's clock.
    func shared(_ time: Timestamp) -> Timestamp { time.advanced(by: shift ?? 0) }

    /// Sets the source's place in the gateway's time with its first time.
    ///
    /// - Parameters:
    ///   - time: the source's first time.
    ///   - now: the gateway's time.
    mutating func begin(at time: Timestamp, now: Timestamp) {
        guard shift == nil else { return }
        // Whole seconds, so that the reports of each second fall on whole seconds of the source's own times.
        let second = Timestamp.nanosecondsPerSecond
        let behind = now.since(time)
        shift = behind > 0 ? (behind + second - 1) / second * second : behind / second * second
    }
}

extension SourceSettings {
    /// Returns the settings with places for the receivers that a plan names.
    func reserving(_ places: PlacePlan?) -> SourceSettings {
        var settings = self
        settings.specification = specification.reserving(places?.receiverNames ?? [])
        return settings
    }
}

extension GatewayConfiguration {
    /// Returns the sources at the speed that all of them have.
    ///
    /// - Parameter report: receives a sentence for each source whose speed differs from the configured one.
    func sourcesAtOneSpeed(isInFleet: Bool, report: (String) -> Void = { _ in }) -> [SourceSettings] {
        // All sources share one time, and so one speed: a radio or a pipe gives adverts in real time.
        let comesByItself =
            isInFleet || sources.count > 1 && sources.contains { $0.specification.isGradual(at: .fastest) }
        let pace = comesByItself ? .times(1) : sources.map(\.pace).first { $0 != .fastest } ?? .fastest
        return sources.map { settings in
            var settings = settings
            if settings.pace != pace, !settings.specification.isGradual(at: .fastest) {
                settings.pace = pace
                let others = isInFleet ? "the sources of a fleet" : "other sources of this configuration"
                let speed = pace == .times(1) ? "in real time" : "at the same speed"
                report("\(settings.name) plays \(speed), as \(others) do")
            }
            return settings
        }
    }
}
