import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconService
import Foundation
import LinuxRadio
import Synchronization

/// Pulls one source on a thread of its own, which may block, and says what it finds.
final class SourceThread: Sendable {
    /// The waits before a radio that failed is tried again: doubled each time, up to a minute.
    static let firstRetry = Duration.seconds(1)
    static let longestRetry = Duration.seconds(60)

    /// A source that failed and then ran for this long begins with the first wait again.
    private static let healthyTime = Duration.seconds(60)

    /// So many events go in one message at most.
    private static let largestMessage = 256

    private let number: Int
    private let settings: SourceSettings
    private let rangings: [BeaconConstraint]
    private let wanted: WantedRegions
    private let channel: SourceChannel
    private let isStopped = Atomic<Bool>(false)
    /// Ends the wait for a radio.
    private let waker = Locked<Waker?>(nil)

    /// A thread that does not run yet.
    init(
        number: Int, settings: SourceSettings, rangings: [BeaconConstraint], wanted: WantedRegions,
        channel: SourceChannel
    ) {
        self.number = number
        self.settings = settings
        self.rangings = rangings
        self.wanted = wanted
        self.channel = channel
    }

    /// Begins.
    func start() {
        let thread = Thread { self.run() }
        thread.name = "source \(settings.name)"
        thread.start()
    }

    /// Has the thread end soon. What it has found by then it says yet.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        waker.withLock { $0?.wake() }
    }

    private var shouldStop: Bool { isStopped.load(ordering: .relaxed) }

    private func run() {
        var retry = Self.firstRetry
        while !shouldStop {
            let begin = ContinuousClock.now
            do {
                try play()
                return channel.say(.ended, from: number)
            } catch {
                guard settings.specification.isRadio else {
                    // A file that is damaged stays so, and reading it once more would tell everything twice.
                    return channel.say(.failed("\(error)", retryAfter: nil), from: number)
                }
                if ContinuousClock.now - begin > Self.healthyTime { retry = Self.firstRetry }
                channel.say(.failed("\(error)", retryAfter: retry), from: number)
                sleep(retry)
                retry = min(retry * 2, Self.longestRetry)
            }
        }
        channel.say(.ended, from: number)
    }

    /// Plays the source from its beginning to its end.
    private func play() throws {
        let ear = RadioEar()
        let source = SightingSource(
            try OpenSource(settings.specification, mode: scanMode, tell: { ear.hear($0) }))
        waker.withLock { [waker = source.waker] in $0 = waker }
        defer { waker.withLock { $0 = nil } }
        var configuration = SessionConfiguration()
        configuration.rangings = rangings
        var session = Session(configuration, source: source, pace: settings.pace)
        channel.say(.opened, from: number)
        var version = -1
        var numbers: [String: Int] = [:]
        var events: [SessionEvent] = []
        var lastSecond: Int64?
        var isLost = false
        let shouldStop = { self.shouldStop }
        let isGradual = settings.isGradual

        func tell(_ session: borrowing Session) {
            let progress = SourceProgress(
                packets: session.packetCount, iBeacons: session.iBeaconCount, time: session.time,
                wallAhead: ear.wallAhead)
            channel.say(.events(events, progress), from: number)
            events.removeAll()
            lastSecond = session.time?.wholeSecond
        }

        do {
            var goesOn = true
            while goesOn, !shouldStop() {
                if !isLost, wanted.version != version {
                    version = bring(&session, upToDate: &numbers)
                    session.scan(scanMode)
                }
                // That nothing is heard while nobody listens says nothing.
                goesOn = try session.step(shouldStop: shouldStop) { if !isLost { events.append(named($0)) } }
                let isSecond = session.time?.wholeSecond != lastSecond
                let isDue = isGradual ? !events.isEmpty || isSecond : events.count >= Self.largestMessage
                if isDue { tell(session) }
                for notice in ear.takeNotices() {
                    channel.say(.notice("\(notice)", isTrouble: notice.isTrouble), from: number)
                }
                if let outage = ear.outage, !isLost {
                    isLost = true
                    for name in numbers.keys { session.stopMonitoring(name) }
                    numbers = [:]
                    channel.say(.lost(outage), from: number)
                } else if ear.outage == nil, isLost {
                    isLost = false
                    version = -1
                    channel.say(.returned, from: number)
                }
            }
            try session.finish { if !isLost { events.append(named($0)) } }
        } catch {
            // What was found before goes out before the error.
            tell(session)
            throw error
        }
        tell(session)
    }

    /// How hard a radio has to listen: where nobody asks how near beacons are, only for those that are watched for.
    private var scanMode: ScanMode {
        guard rangings.isEmpty else { return .ranging }
        let deployments = Set(wanted.all.values.map(\.region.region.constraint.uuid))
        return deployments.isEmpty ? .off : .watching(deployments)
    }

    /// Has the session watch for what is wanted now.
    ///
    /// - Returns: the version that it was brought to.
    private func bring(_ session: inout Session, upToDate numbers: inout [String: Int]) -> Int {
        // Before the regions, so that what changes in between is looked at again.
        let version = wanted.version
        let entries = wanted.all
        for (name, number) in numbers where entries[name]?.number != number {
            session.stopMonitoring(name)
            numbers[name] = nil
        }
        for (name, entry) in entries where numbers[name] == nil {
            session.startMonitoring(entry.region)
            numbers[name] = entry.number
        }
        return version
    }

    /// An event with the receiver's name that the configuration gives.
    private func named(_ event: SessionEvent) -> SessionEvent {
        guard let name = settings.receiver else { return event }
        switch event {
        case .region(let kind, var change):
            if change.receiver != nil { change.receiver = name }
            return .region(kind, change)
        case .ranged(var report):
            report.receiver = name
            return .ranged(report)
        }
    }

    private func sleep(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while !shouldStop, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.1) }
    }
}

extension Timestamp {
    /// The second that the moment lies in.
    fileprivate var wholeSecond: Int64 { nanoseconds / Timestamp.nanosecondsPerSecond }
}
