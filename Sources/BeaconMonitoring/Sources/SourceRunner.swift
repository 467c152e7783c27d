package import BeaconModel
package import BeaconRadio
package import BeaconSupport
import Foundation
import Synchronization

/// The clock of a source that waits for its adapter. Tests replace it with their own.
package struct RunnerClock: Sendable {
    /// Returns the time.
    package var now: @Sendable () -> Timestamp

    /// Waits for the waker, at most this many milliseconds.
    package var wait: @Sendable (Waker, Int32) -> Void

    /// Creates a clock.
    package init(now: @escaping @Sendable () -> Timestamp, wait: @escaping @Sendable (Waker, Int32) -> Void) {
        self.now = now
        self.wait = wait
    }

    /// The clock of real radios.
    package static let system = RunnerClock(now: RadioClock.now) { $0.wait(atMost: $1) }
}

/// A source on its own thread, which opens the source, reads it, keeps its pace, and reopens a failed radio.
///
/// Reading blocks while it waits, which is acceptable on a separate thread but not in a task. Events go to one reader
/// over a channel with bounded capacity. If the reader is slow, a file or a simulation waits. A radio's adverts wait in
/// the kernel, which counts as deafness if it takes too long.
package final class SourceRunner: Sendable {
    /// A function that opens a source.
    package typealias Opening = @Sendable (ScanMode, Waker, @escaping (SourceEvent) -> Void) throws -> SourceReader

    /// The waits before a failed radio is reopened: they double each time, up to a minute.
    private static let retries = Backoff(first: .seconds(1), longest: .seconds(60))

    /// After a radio ran for this long, its next failure starts with the first wait again.
    private static let healthyTime = Duration.seconds(60)

    /// The number of events that may wait for the reader.
    private static let capacity = 64

    /// The most adverts in one event.
    private static let largestBatch = 512

    /// The reader's requests, which the thread carries out.
    private struct Requests {
        var mode: ScanMode
        var adverts: [OutgoingAdvert] = []
        var isModeNew = false
        var areAdvertsNew = false
        /// True if a recording that plays in real time counts as heard now, until its first time is known.
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
    ///   - pace: how fast a file or a simulation plays; a radio runs in real time.
    ///   - packetInterval: the time from one packet of a file to the next, replacing its own times.
    ///   - mode: the initial scan mode.
    ///   - clock: the clock for reopening a radio, and for the present time of recordings that play in real time.
    ///   - observer: also receives all adverts; nil for none.
    package convenience init(
        _ specification: SourceSpecification, pace: Pace, packetInterval: Duration? = nil, mode: ScanMode = .off,
        clock: RunnerClock = .system, observer: (any AdvertObserver)? = nil
    ) {
        self.init(
            specification, pace: pace, packetInterval: packetInterval, mode: mode, clock: clock, observer: observer,
            opening: nil)
    }

    /// Creates a runner whose source a function opens, for measurements and tests without an adapter.
    ///
    /// - Parameters:
    ///   - mode: the initial scan mode.
    ///   - clock: the clock for reopening the source.
    ///   - opening: opens the source, each time that is necessary.
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

    /// Starts the thread. Harmless if it has started already.
    package func start() {
        guard !isStarted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let thread = Thread { self.run() }
        thread.name = "beacon source"
        thread.start()
    }

    /// Ends the run soon. Adverts that were heard before are still delivered.
    package func stop() {
        isStopped.store(true, ordering: .releasing)
        waker.wake()
        interruption.wake()
    }

    /// Sets the scan mode of a radio. Captures and simulations deliver all their adverts.
    package func scan(_ mode: ScanMode) {
        requests.withLock {
            $0.mode = mode
            $0.isModeNew = true
        }
        waker.wake()
    }

    /// Sets the adverts to send. The outcome of each is delivered as an event of the radio.
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
                // Stopping in the middle of a record of a pipe does not mean that the pipe is damaged.
                if shouldStop { break }
                guard specification.isRadio else {
                    // A damaged file stays damaged, and reading it again would report everything twice.
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
        source.keepAdvertsAhead()
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
                // Earlier adverts come first.
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
            // A recording only adds names. The batch must not share their storage, so that adding is cheap.
            let known = source.isRecording ? batch.receiverNames.count : 0
            if known > 0 ? names.count > known : names != batch.receiverNames {
                // A new receiver has nothing to report about the time before.
                send()
                batch.receiverNames.removeSubrange(known...)
                batch.receiverNames.append(contentsOf: names[known...])
                batch.receiverKeys = source.receiverKeys
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
                // A radio delivers several sightings at once, each with its own time. A record's sightings have the
                // record's time.
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
            // A change of a receiver does not wait for the next second: it may change back before.
            let isChange = batch.receiverStatuses != sent.receiverStatuses
            if isGradual ? count > 0 || isSecond || isChange : count >= Self.largestBatch { send() }
        }
    }

    /// Reports once how far the wall clock is ahead of a recording that plays in real time, for a reader that compares
    /// its times with the present.
    private func reportWallClock(of batch: SourceBatch) {
        guard !specification.isRadio, pace == .times(1), let first = batch.sightings.first?.time ?? batch.time,
            requests.withLock({ requests in
                defer { requests.isHeardNow = false }
                return requests.isHeardNow
            })
        else { return }
        channel.send(.wallClock(ahead: clock.now().since(first)))
    }

    /// Makes a recording that plays in real time count as heard now. Call it before ``start()``.
    private func countAsHeardNow() { requests.withLock { $0.isHeardNow = true } }

    private func takeRequests() -> Requests {
        requests.withLock { requests in
            let taken = requests
            requests.isModeNew = false
            requests.areAdvertsNew = false
            return taken
        }
    }

    /// Waits without an adapter, and reports the error as the outcome of each advert to send.
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

/// A source on its own thread, as the radio of a center.
extension SourceRunner: Radio, Advertiser {
    /// The runner itself if its source can send; recordings cannot.
    package var advertiser: (any Advertiser & Sendable)? { specification.canSend ? self : nil }

    /// The source's title, for people.
    package var title: String { specification.title }

    /// True for receivers in the network.
    package var hasReceivers: Bool { specification.hasReceivers }

    /// Powered off after a simulation, whose air has ended. After a capture, an app keeps its state.
    package var stateAtEnd: RadioState? {
        specification.isRadio ? nil : specification.isSimulation ? .poweredOff : .poweredOn
    }

    /// Starts the thread, and returns the events of the source. The source is stopped when the iteration ends.
    package func events() -> Events {
        countAsHeardNow()
        start()
        return Events(runner: self)
    }

    /// The events of a source, for a single reader.
    package struct Events: AsyncSequence, Sendable {
        fileprivate let runner: SourceRunner

        package func makeAsyncIterator() -> Iterator { Iterator(runner) }

        package struct Iterator: AsyncIteratorProtocol {
            private var events: BoundedChannel<SourceEvent>.AsyncIterator
            private let end: End

            /// Stops the source when it is deallocated, at the end of the iteration.
            private final class End: Sendable {
                let runner: SourceRunner
                init(_ runner: SourceRunner) { self.runner = runner }
                deinit {
                    runner.stop()
                    // The thread may be waiting for capacity, and there is no reader left.
                    runner.channel.finish()
                }
            }

            fileprivate init(_ runner: SourceRunner) {
                events = runner.channel.makeAsyncIterator()
                end = End(runner)
            }

            package mutating func next() async -> SourceEvent? { await events.next() }
        }
    }
}
