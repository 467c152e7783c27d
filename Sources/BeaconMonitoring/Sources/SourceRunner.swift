package import BeaconModel
package import BeaconRadio
package import BeaconSupport
import Foundation
import Synchronization

/// The clock of a source that waits for its adapter, which a test replaces by a time of its own.
package struct RunnerClock: Sendable {
    /// Returns the time.
    package var now: @Sendable () -> Timestamp

    /// Waits for the waker to be called, at most so many milliseconds.
    package var wait: @Sendable (Waker, Int32) -> Void

    /// A clock from its parts.
    package init(now: @escaping @Sendable () -> Timestamp, wait: @escaping @Sendable (Waker, Int32) -> Void) {
        self.now = now
        self.wait = wait
    }

    /// The clock of real radios.
    package static let system = RunnerClock(now: RadioClock.now) { $0.wait(atMost: $1) }
}

/// A source on a thread of its own: it opens the source, pulls it, keeps its pace, and opens a radio again that failed.
///
/// Pulling blocks while it waits, which a thread of its own may and a task may not. What is heard goes to one listener
/// over a channel with room for a bounded number of events; where the listener is behind, a file or a simulation
/// waits, and a radio's adverts wait in the kernel, which counts as deafness when it takes too long.
package final class SourceRunner: Sendable {
    /// A function that opens a source.
    package typealias Opening = @Sendable (ScanMode, Waker, @escaping (SourceEvent) -> Void) throws -> SourceReader

    /// The waits before a radio that failed is opened again: doubled each time, up to a minute.
    private static let retries = Backoff(first: .seconds(1), longest: .seconds(60))

    /// A radio that failed and then ran for this long begins with the first wait again.
    private static let healthyTime = Duration.seconds(60)

    /// The number of events that may wait for the listener.
    private static let capacity = 64

    /// The most adverts in one event.
    private static let largestBatch = 512

    /// The listener's requests, which the thread carries out.
    private struct Requests {
        var mode: ScanMode
        var adverts: [OutgoingAdvert] = []
        var isModeNew = false
        var areAdvertsNew = false
        /// True where what plays in real time counts as heard now, until its times are known.
        var isHeardNow = false
    }

    let specification: SourceSpecification
    private let pace: Pace
    private let packetInterval: Duration?
    private let isGradual: Bool
    private let clock: RunnerClock
    private let opening: Opening?
    private let observer: (any AdvertObserver)?
    private let requests: Locked<Requests>
    private let isStopped = Atomic<Bool>(false)
    private let isStarted = Atomic<Bool>(false)
    private let waker = Waker()
    private let interruption = Waker()

    /// The events of the source, in order, for one task.
    package let channel = BoundedChannel<SourceEvent>(capacity: SourceRunner.capacity)

    /// Creates a runner, which ``start()`` starts.
    ///
    /// - Parameters:
    ///   - specification: the source.
    ///   - pace: how fast a file or a simulation plays; a radio has its own time.
    ///   - packetInterval: the time from one packet of a file to the next, in place of its own times.
    ///   - mode: the scan mode to begin with.
    ///   - clock: the clock by which a radio is opened again, and by which what plays in real time is heard now.
    ///   - observer: gets all adverts as well; nil for none.
    package convenience init(
        _ specification: SourceSpecification, pace: Pace, packetInterval: Duration? = nil, mode: ScanMode = .off,
        clock: RunnerClock = .system, observer: (any AdvertObserver)? = nil
    ) {
        self.init(
            specification, pace: pace, packetInterval: packetInterval, mode: mode, clock: clock, observer: observer,
            opening: nil)
    }

    /// Creates a runner whose source is opened by a function: for measurements and tests without an adapter.
    ///
    /// - Parameters:
    ///   - mode: the scan mode to begin with.
    ///   - clock: the clock by which the source is opened again.
    ///   - opening: opens the source, each time that it is to be opened.
    package convenience init(
        mode: ScanMode = .off, clock: RunnerClock = .system,
        opening: @escaping Opening
    ) {
        self.init(
            .auto, pace: .fastest, packetInterval: nil, mode: mode, clock: clock, observer: nil, opening: opening)
    }

    private init(
        _ specification: SourceSpecification, pace: Pace, packetInterval: Duration?, mode: ScanMode, clock: RunnerClock,
        observer: (any AdvertObserver)?,
        opening: Opening?
    ) {
        self.specification = specification
        self.pace = specification.isRadio ? .fastest : pace
        self.packetInterval = specification.isRadio ? nil : packetInterval
        self.opening = opening
        self.observer = observer
        self.clock = clock
        isGradual = specification.isGradual(at: pace)
        requests = Locked(Requests(mode: mode))
    }

    /// Starts the thread. Doing so twice is harmless.
    package func start() {
        guard !isStarted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let thread = Thread { self.run() }
        thread.name = "beacon source"
        thread.start()
    }

    /// Ends the run soon. What was heard before is still delivered.
    package func stop() {
        isStopped.store(true, ordering: .releasing)
        waker.wake()
        interruption.wake()
    }

    /// Sets the scan mode of a radio. Captures and simulations give all they have.
    package func scan(_ mode: ScanMode) {
        requests.withLock {
            $0.mode = mode
            $0.isModeNew = true
        }
        waker.wake()
    }

    /// Sets the adverts to send. Each gets its outcome as an event of the radio.
    package func advertise(_ adverts: [OutgoingAdvert]) {
        requests.withLock {
            $0.adverts = adverts
            $0.areAdvertsNew = true
        }
        waker.wake()
    }

    // MARK: - The thread

    private var shouldStop: Bool { isStopped.load(ordering: .acquiring) }

    private func run() {
        var retries = Self.retries
        while !shouldStop {
            let begin = clock.now()
            do {
                try play()
                break
            } catch {
                // A pipe that was left in the middle of a record is not damaged.
                if shouldStop { break }
                guard specification.isRadio else {
                    // A file that is damaged stays so, and reading it once more would report everything twice.
                    channel.send(.failed(error, retryAfter: nil))
                    channel.finish()
                    return
                }
                if clock.now().since(begin) > Self.healthyTime.components.seconds * Timestamp.nanosecondsPerSecond {
                    retries.reset()
                }
                let retry = retries.next()
                channel.send(.failed(error, retryAfter: retry))
                wait(for: retry, because: error)
            }
        }
        channel.send(.ended)
        channel.finish()
    }

    /// Plays the source from its beginning to its end.
    private func play() throws {
        var pending: [SourceEvent] = []
        let report: (SourceEvent) -> Void = { pending.append($0) }
        var mode = takeRequests().mode
        var source =
            try opening?(mode, waker, report)
            ?? SourceReader(
                specification, mode: mode, waker: waker, interruption: interruption.descriptor,
                packetInterval: packetInterval, keepsAdverts: observer != nil, report: report)
        var pacer = Pacer(pace)
        var batch = SourceBatch()
        var sent = SourceBatch()
        let shouldStop = { self.shouldStop }

        func send() {
            guard
                !batch.sightings.isEmpty || !batch.adverts.isEmpty || batch.time != sent.time
                    || batch.receiverStatuses != sent.receiverStatuses
            else { return }
            reportWallClock(of: batch)
            channel.send(.heard(batch))
            sent = batch
            batch.sightings.removeAll()
            batch.adverts.removeAll()
        }

        func sendPending() {
            for event in pending {
                // Adverts that were heard before come first.
                send()
                channel.send(event)
            }
            pending.removeAll()
        }

        let adverts = requests.withLock { $0.adverts }
        if !adverts.isEmpty { source.advertise(adverts) }
        sendPending()
        channel.send(.opened)
        // A radio reports its state itself.
        if source.isRecording { channel.send(.state(.poweredOn)) }
        defer {
            send()
            observer?.lose()
        }
        while !shouldStop() {
            let requests = takeRequests()
            if requests.isModeNew {
                mode = requests.mode
                source.scan(mode)
            }
            if requests.areAdvertsNew {
                source.advertise(requests.adverts)
                sendPending()
            }
            let next = try source.next()
            sendPending()
            guard let record = next else { return }
            if let observer { source.forEachAdvert { observer.hear($0, $1) } }
            guard let time = record.time ?? batch.time else {
                throw SourceError.noTimes
            }
            let names = source.receiverNames
            if names != batch.receiverNames {
                // A receiver that is new has nothing to report of the time before.
                send()
                batch.receiverNames = names
            }
            batch.receiverStatuses = source.receiverStatuses
            observer?.update(names: batch.receiverNames, statuses: batch.receiverStatuses)
            if pacer.isPaced {
                var second = (batch.time ?? time).nextWholeSecond
                while second < time, !shouldStop() {
                    pacer.wait(until: second, shouldStop: shouldStop)
                    batch.time = second
                    send()
                    second = second.nextWholeSecond
                }
                pacer.wait(until: time, shouldStop: shouldStop)
            }
            observer?.release()
            for var sighting in source.sightings {
                // A radio delivers several at once, each heard at its own time; so does a record that has one.
                if source.isRecording { sighting.time = time }
                batch.sightings.append(sighting)
            }
            if mode == .discovery {
                source.forEachAdvert { reception, advert in
                    var heard = HeardAdvert(reception, bytes: advert.withUnsafeBytes { [UInt8]($0) })
                    if source.isRecording { heard.reception.time = time }
                    batch.adverts.append(heard)
                }
            }
            let isSecond = time.nextWholeSecond != (sent.time ?? .zero).nextWholeSecond
            batch.packets = source.counts.packets
            batch.iBeacons = source.iBeaconCount
            batch.time = max(time, batch.time ?? time)
            let count = batch.sightings.count + batch.adverts.count
            if isGradual ? count > 0 || isSecond : count >= Self.largestBatch { send() }
        }
    }

    /// Reports once how far the wall clock is ahead of a recording that plays in real time, for a listener that
    /// compares its times with the present.
    private func reportWallClock(of batch: SourceBatch) {
        guard !specification.isRadio, pace == .times(1), let first = batch.sightings.first?.time ?? batch.time,
            requests.withLock({ requests in
                defer { requests.isHeardNow = false }
                return requests.isHeardNow
            })
        else { return }
        channel.send(.wallClock(ahead: clock.now().since(first)))
    }

    /// Counts a recording that plays in real time as heard now. Call it before ``start()``.
    func countAsHeardNow() { requests.withLock { $0.isHeardNow = true } }

    private func takeRequests() -> Requests {
        requests.withLock { requests in
            let taken = requests
            requests.isModeNew = false
            requests.areAdvertsNew = false
            return taken
        }
    }

    /// Waits without an adapter, and reports the error as the outcome of each advert that is to be sent.
    private func wait(for duration: Duration, because error: any Error) {
        let reason = (error as? RadioError) ?? RadioError(.failed, "\(error)")
        channel.send(.state(reason.code == .notPermitted ? .unauthorized : .unsupported))
        let unsent = requests.withLock { requests in
            requests.areAdvertsNew = false
            return requests.adverts
        }
        for advert in unsent { channel.send(.advertising(advert, .failure(reason))) }
        let end = clock.now().advanced(by: Int64(duration / .nanoseconds(1)))
        while !shouldStop {
            let now = clock.now()
            guard now < end else { return }
            let wake = min(end, now.nextWholeSecond)
            clock.wait(waker, Int32(clamping: wake.since(now) / 1_000_000 + 1))
            let requests = takeRequests()
            if requests.areAdvertsNew {
                for advert in requests.adverts { channel.send(.advertising(advert, .failure(reason))) }
            }
            var batch = SourceBatch()
            batch.time = clock.now()
            channel.send(.heard(batch))
        }
    }
}
