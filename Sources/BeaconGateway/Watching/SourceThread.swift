import BeaconEngine
import BeaconModel
import BeaconService
import Foundation
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
    func stop() { isStopped.store(true, ordering: .relaxed) }

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
        var configuration = SessionConfiguration()
        configuration.rangings = rangings
        var session = Session(
            configuration, source: SightingSource(try OpenSource(settings.specification)), pace: settings.pace)
        channel.say(.opened, from: number)
        var version = -1
        var numbers: [String: Int] = [:]
        var events: [SessionEvent] = []
        var lastSecond: Int64?
        let shouldStop = { self.shouldStop }
        let isGradual = settings.isGradual

        func tell(_ session: borrowing Session) {
            let progress = SourceProgress(
                packets: session.packetCount, iBeacons: session.iBeaconCount, time: session.time,
                wallAhead: settings.specification.isRadio ? session.time?.wallAhead ?? 0 : 0)
            channel.say(.events(events, progress), from: number)
            events.removeAll()
            lastSecond = session.time?.wholeSecond
        }

        do {
            var goesOn = true
            while goesOn, !shouldStop() {
                if wanted.version != version { version = bring(&session, upToDate: &numbers) }
                goesOn = try session.step(shouldStop: shouldStop) { events.append(named($0)) }
                let isSecond = session.time?.wholeSecond != lastSecond
                let isDue = isGradual ? !events.isEmpty || isSecond : events.count >= Self.largestMessage
                if isDue { tell(session) }
            }
            try session.finish { events.append(named($0)) }
        } catch {
            // What was found before goes out before the error.
            tell(session)
            throw error
        }
        tell(session)
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

    /// How far the clock on the wall is ahead of this, if that is more than a radio takes to tell: two seconds.
    fileprivate var wallAhead: Int64 {
        let ahead = Int64(Date.now.timeIntervalSince1970 * 1000) * 1_000_000 - nanoseconds
        return abs(ahead) > 2 * Timestamp.nanosecondsPerSecond ? ahead : 0
    }
}
