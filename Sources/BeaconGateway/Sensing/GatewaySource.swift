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

    /// Ends the run soon. Earlier adverts are still delivered.
    func stop()

    /// Sets the scan mode of a radio.
    func scan(_ mode: ScanMode)

    /// Sets the adverts that a radio sends; the outcome of each is an event.
    func advertise(_ adverts: [OutgoingAdvert])
}

extension SourceRunner: GatewayRunner {}

/// A source of a gateway: its thread, its receivers and its time shift.
///
/// All sources of a gateway share the time of the first source that gives one; in an ordered playback, the first in the
/// configuration. Other sources may have other times, such as a recording of another year. Such a source is shifted by
/// whole seconds so that it begins when it is opened. Its events are published with its own times.
struct GatewaySource {
    /// The settings, with room for the receivers that the configuration names.
    private(set) var settings: SourceSettings
    /// The settings without that room. A reload compares them.
    private(set) var given: SourceSettings
    private(set) var runner: any GatewayRunner

    /// Signaled when all events of the runner are handled.
    private(set) var pumpEnd = AsyncSignal()
    /// True while it ends, because a new configuration has changed or removed it.
    var isLeaving = false
    /// True once it is no longer configured.
    var isRemoved = false

    /// The source's receivers. The first exists from the beginning, so that a source that cannot be opened has a deaf
    /// receiver. Receivers that held a region in the last run may not have appeared yet.
    var listener: SourceReceivers
    /// The gateway's ids of the source's receivers.
    var receivers: [ReceiverID] { listener.receivers }
    /// The source's names of its receivers.
    var receiverNames: [String] { listener.names }

    /// The nanoseconds by which the source's times are behind the gateway's; nil before its first time.
    var shift: Int64?
    /// The nanoseconds by which the wall clock is ahead of the source's times, as its radio reports.
    var wallOffset: Int64 = 0
    /// The hearing of the radio as a whole, if the source does not report it per receiver.
    var hearing = MonitoringCore.Hearing.interrupted
    var isEnded = false
    /// The report that messages name more receivers than there is room for; nil while all have room.
    var crowd: String?

    /// The state for people, and the number of failures.
    var state = GatewayStatistics.Source.State.starting
    var failures = 0

    /// The counts from before the source was last opened, and the counts since then.
    private var earlier = (packets: 0, iBeacons: 0)
    private var current = (packets: 0, iBeacons: 0)

    init(_ settings: SourceSettings, given: SourceSettings, runner: any GatewayRunner, first: ReceiverID) {
        self.settings = settings
        self.given = given
        self.runner = runner
        listener = SourceReceivers(standIn: first)
    }

    /// The number of packets of the source.
    var packets: Int { earlier.packets + current.packets }
    /// The number of iBeacons of the source.
    var iBeacons: Int { earlier.iBeacons + current.iBeacons }

    /// The counts, for people.
    var statistics: GatewayStatistics.Source {
        var statistics = GatewayStatistics.Source(name: settings.name)
        (statistics.state, statistics.failures) = (state, failures)
        (statistics.packets, statistics.iBeacons) = (packets, iBeacons)
        return statistics
    }

    /// Why the receivers do not hear, as the subject and verb of a sentence; nil if unknown.
    var reason: String? {
        switch state {
        case .failing(let reason), .failed(let reason): reason
        case .ended: "its source has ended"
        case .starting, .running: nil
        }
    }

    /// Returns the source in the form of the interface.
    ///
    /// - Parameter names: the names of its receivers.
    func value(receivers names: [String]) -> SourceValue {
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
            packets: packets, beacons: iBeacons, receivers: names,
            advertises: settings.specification.canSend)
    }

    /// Switches to other settings and another runner, with the same receivers.
    mutating func reopen(as settings: SourceSettings, given: SourceSettings, runner: any GatewayRunner) {
        (self.settings, self.given, self.runner) = (settings, given, runner)
        pumpEnd = AsyncSignal()
        (isLeaving, isEnded) = (false, false)
        crowd = nil
        hearing = .interrupted
        state = .starting
    }

    /// Updates the counts when the source is opened or reopened.
    mutating func opened() {
        earlier = (packets, iBeacons)
        current = (0, 0)
    }

    /// Adds the counts of a batch. While the radio is lost, a batch has only a time and counts nothing.
    mutating func count(_ batch: SourceBatch) {
        current = (max(current.packets, batch.packets), max(current.iBeacons, batch.iBeacons))
    }

    /// Returns a time of the source by the gateway's clock.
    func shared(_ time: Timestamp) -> Timestamp { time.advanced(by: shift ?? 0) }

    /// Sets the source's time shift by its first time.
    ///
    /// - Parameters:
    ///   - time: the source's first time.
    ///   - now: the gateway's time.
    mutating func begin(at time: Timestamp, now: Timestamp) {
        guard shift == nil else { return }
        // Whole seconds, so that each second's report falls on a whole second of the source's times.
        let second = Timestamp.nanosecondsPerSecond
        let behind = now.since(time)
        shift = behind > 0 ? (behind + second - 1) / second * second : behind / second * second
    }
}

extension SourceSettings {
    /// The name of the source's receiver until the source has named it.
    var standInName: String { receiver ?? name }

    /// Returns the settings with room for named receivers.
    func reserving(_ receivers: Set<String>, recognizing tags: TagDirectory) -> SourceSettings {
        var settings = self
        settings.specification = specification.reserving(receivers)
        settings.specification.tags = tags
        return settings
    }
}

extension GatewayConfiguration {
    /// The names of receivers that the user chose.
    var namedReceivers: Set<String> {
        var names = Set(places?.receiverNames ?? []).union(suspicions.map { Array($0.positions.keys) } ?? [])
        for source in sources {
            names.formUnion(source.specification.namedReceivers)
            if let receiver = source.receiver { names.insert(receiver) }
        }
        return names
    }

    /// Returns the sources at a common speed.
    ///
    /// - Parameter report: receives a message for each source whose speed differs from its settings.
    func sourcesAtOneSpeed(isInFleet: Bool, report: (String) -> Void = { _ in }) -> [SourceSettings] {
        // All sources share one time, and therefore one speed. A radio or a pipe delivers adverts in real time.
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
