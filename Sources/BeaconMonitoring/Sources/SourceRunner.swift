package import BeaconModel
package import BeaconRadio
package import BeaconSupport
import Foundation
import LinuxRadio
import Synchronization

/// A message of a source that runs on a thread of its own.
package enum SourceMessage: Sendable {
    /// The source is open. A radio that was opened anew hears from now on; a file begins.
    case opened

    /// Adverts that were heard, and the time up to which everything has been delivered.
    case heard(SourceBatch)

    /// An event of the source's radio other than what it heard and the time.
    case radio(RadioEvent)

    /// The source failed. A radio is tried again after a while; nil where it is not.
    case failed(any Error, retryAfter: Duration?)

    /// The source has come to its end.
    case ended
}

/// The adverts of a source since the message before.
package struct SourceBatch: Sendable {
    /// The iBeacons that were heard, in order.
    package var sightings: [Sighting] = []
    /// The time up to which everything has been delivered; nil before there is one.
    package var time: Timestamp?
    /// The names of the receivers so far.
    package var receiverNames: [String] = []
    /// The status of each receiver of a real radio; none for what always hears.
    package var receiverStatuses: [ReceiverStatus] = []
    /// The number of packets read since the source was opened.
    package var packets = 0
    /// The number of iBeacons heard since the source was opened.
    package var iBeacons = 0
}

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
/// over a channel with room for a bounded number of messages; where the listener is behind, a file or a simulation
/// waits, and a radio's adverts wait in the kernel, which counts as deafness when it takes too long.
package final class SourceRunner: Sendable {
    /// The waits before a radio that failed is opened again: doubled each time, up to a minute.
    private static let retries = Backoff(first: .seconds(1), longest: .seconds(60))

    /// A radio that failed and then ran for this long begins with the first wait again.
    private static let healthyTime = Duration.seconds(60)

    /// The number of messages that may wait for the listener.
    private static let capacity = 64

    /// The most adverts in one message.
    private static let largestBatch = 512

    /// The listener's requests, which the thread carries out.
    private struct Requests {
        var mode: ScanMode
        var frames: [IBeaconFrame] = []
        var isModeNew = false
        var areFramesNew = false
    }

    private let specification: SourceSpecification
    private let pace: Pace
    private let packetInterval: Duration?
    private let isGradual: Bool
    private let clock: RunnerClock
    private let opening: (@Sendable (ScanMode, Waker, @escaping (RadioEvent) -> Void) throws -> AnyAdvertSource)?
    private let proxy: ProxyFeed?
    private let requests: Locked<Requests>
    private let isStopped = Atomic<Bool>(false)
    private let isStarted = Atomic<Bool>(false)
    private let waker = Waker()
    private let interruption = Waker()

    /// The messages of the source, in order, for one task.
    package let messages = BoundedChannel<SourceMessage>(capacity: SourceRunner.capacity)

    /// Creates a runner, which ``start()`` starts.
    ///
    /// - Parameters:
    ///   - specification: the source.
    ///   - pace: how fast a file or a simulation plays; a radio has its own time.
    ///   - packetInterval: the time from one packet of a file to the next, in place of its own times.
    ///   - mode: the scan mode to begin with.
    ///   - clock: the clock by which a radio is opened again, and by which what plays in real time is heard now.
    ///   - proxy: passes all adverts on to clients of a proxy; nil where there is none.
    package convenience init(
        _ specification: SourceSpecification, pace: Pace, packetInterval: Duration? = nil, mode: ScanMode = .off,
        clock: RunnerClock = .system, proxy: ProxyFeed? = nil
    ) {
        self.init(
            specification, pace: pace, packetInterval: packetInterval, mode: mode, clock: clock, proxy: proxy,
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
        opening: @escaping @Sendable (ScanMode, Waker, @escaping (RadioEvent) -> Void) throws -> AnyAdvertSource
    ) {
        self.init(
            .auto, pace: .fastest, packetInterval: nil, mode: mode, clock: clock, proxy: nil, opening: opening)
    }

    private init(
        _ specification: SourceSpecification, pace: Pace, packetInterval: Duration?, mode: ScanMode, clock: RunnerClock,
        proxy: ProxyFeed?,
        opening: (@Sendable (ScanMode, Waker, @escaping (RadioEvent) -> Void) throws -> AnyAdvertSource)?
    ) {
        self.specification = specification
        self.pace = specification.isRadio ? .fastest : pace
        self.packetInterval = specification.isRadio ? nil : packetInterval
        self.opening = opening
        self.proxy = proxy
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

    /// Sets the frames to send. Each gets its outcome as an event of the radio.
    package func advertise(_ frames: [IBeaconFrame]) {
        requests.withLock {
            $0.frames = frames
            $0.areFramesNew = true
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
                    messages.send(.failed(error, retryAfter: nil))
                    messages.finish()
                    return
                }
                if clock.now().since(begin) > Self.healthyTime.components.seconds * Timestamp.nanosecondsPerSecond {
                    retries.reset()
                }
                let retry = retries.next()
                messages.send(.failed(error, retryAfter: retry))
                wait(for: retry, because: error)
            }
        }
        messages.send(.ended)
        messages.finish()
    }

    /// Plays the source from its beginning to its end.
    private func play() throws {
        var pending: [RadioEvent] = []
        let report: (RadioEvent) -> Void = { pending.append($0) }
        let mode = takeRequests().mode
        let opened =
            try opening?(mode, waker, report)
            ?? AnyAdvertSource(
                specification, mode: mode, waker: waker, interruption: interruption.descriptor, report: report)
        var source = SightingSource(opened, packetInterval: packetInterval)
        let frames = requests.withLock { $0.frames }
        if !frames.isEmpty { advertise(frames, &source) }
        messages.send(.opened)
        var pacer = Pacer(pace)
        var batch = SourceBatch()
        var sent = SourceBatch()
        let shouldStop = { self.shouldStop }

        func send() {
            guard !batch.sightings.isEmpty || batch.time != sent.time || batch.receiverStatuses != sent.receiverStatuses
            else { return }
            messages.send(.heard(batch))
            sent = batch
            batch.sightings.removeAll()
        }

        defer {
            send()
            proxy?.lose()
        }
        while !shouldStop() {
            let requests = takeRequests()
            if requests.isModeNew { source.scan(requests.mode) }
            if requests.areFramesNew { advertise(requests.frames, &source) }
            guard let record = try source.next(passingTo: proxy) else { return }
            for event in pending {
                // What was heard before comes first.
                send()
                messages.send(.radio(event))
            }
            pending.removeAll()
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
            proxy?.update(names: batch.receiverNames, statuses: batch.receiverStatuses)
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
            proxy?.release()
            for var sighting in source.sightings {
                // A radio delivers several at once, each heard at its own time; so does a record that has one.
                if !specification.isRadio { sighting.time = time }
                batch.sightings.append(sighting)
            }
            let isSecond = time.nextWholeSecond != (sent.time ?? .zero).nextWholeSecond
            batch.packets = source.counts.packets
            batch.iBeacons = source.iBeaconCount
            batch.time = max(time, batch.time ?? time)
            if isGradual ? !batch.sightings.isEmpty || isSecond : batch.sightings.count >= Self.largestBatch { send() }
        }
    }

    /// Sets the frames that a radio sends; for a capture or a simulation each frame's outcome is an error.
    private func advertise(_ frames: [IBeaconFrame], _ source: inout SightingSource) {
        guard !specification.isRadio else { return source.advertise(frames) }
        for frame in frames { messages.send(.radio(.advertising(frame, .failure(.cannotSend)))) }
    }

    private func takeRequests() -> Requests {
        requests.withLock { requests in
            let taken = requests
            requests.isModeNew = false
            requests.areFramesNew = false
            return taken
        }
    }

    /// Waits without an adapter, and reports the error as the outcome of each frame that is to be sent.
    private func wait(for duration: Duration, because error: any Error) {
        let reason = (error as? RadioError) ?? RadioError(.failed, "\(error)")
        messages.send(.radio(.state(reason.code == .notPermitted ? .unauthorized : .unsupported)))
        let unsent = requests.withLock { requests in
            requests.areFramesNew = false
            return requests.frames
        }
        for frame in unsent { messages.send(.radio(.advertising(frame, .failure(reason)))) }
        let end = clock.now().advanced(by: Int64(duration / .nanoseconds(1)))
        while !shouldStop {
            let now = clock.now()
            guard now < end else { return }
            let wake = min(end, now.nextWholeSecond)
            clock.wait(waker, Int32(clamping: wake.since(now) / 1_000_000 + 1))
            let requests = takeRequests()
            if requests.areFramesNew {
                for frame in requests.frames { messages.send(.radio(.advertising(frame, .failure(reason)))) }
            }
            var batch = SourceBatch()
            batch.time = clock.now()
            messages.send(.heard(batch))
        }
    }
}

/// A source that runs on a thread of its own, as the radio of a center.
extension SourceRunner: Radio {
    /// True for a radio: what is recorded or simulated cannot be sent into.
    package var canAdvertise: Bool { specification.canSend }

    /// The events of the source, from when somebody begins to listen.
    package func events() -> RadioEvents {
        start()
        return RadioEvents(runner: self)
    }

    /// The messages of a source as events of a radio. The source is stopped when the iteration ends.
    package struct RadioEvents: AsyncSequence, Sendable {
        fileprivate let runner: SourceRunner

        package func makeAsyncIterator() -> Iterator { Iterator(runner) }

        package struct Iterator: AsyncIteratorProtocol {
            private var messages: BoundedChannel<SourceMessage>.AsyncIterator
            private var waiting: [RadioEvent] = []
            private let listener: Listener
            private let isRadio: Bool
            /// True for a source that is not a radio and plays in real time, until its times are known.
            private var isPlayedNow: Bool
            private var reportedError: String?
            private var statuses: [ReceiverStatus] = []

            /// An object that stops the source when the iteration ends.
            private final class Listener: Sendable {
                let runner: SourceRunner
                init(_ runner: SourceRunner) { self.runner = runner }
                deinit {
                    runner.stop()
                    // The thread may wait for capacity, and no reader is left.
                    runner.messages.finish()
                }
            }

            fileprivate init(_ runner: SourceRunner) {
                messages = runner.messages.makeAsyncIterator()
                isRadio = runner.specification.isRadio
                isPlayedNow = !isRadio && runner.pace == .times(1)
                listener = Listener(runner)
            }

            package mutating func next() async -> RadioEvent? {
                while waiting.isEmpty {
                    guard let message = await messages.next() else { return nil }
                    waiting = events(of: message)
                }
                return waiting.removeFirst()
            }

            private mutating func events(of message: SourceMessage) -> [RadioEvent] {
                switch message {
                case .opened:
                    reportedError = nil
                    return isRadio ? [] : [.state(.poweredOn)]
                case .heard(let batch):
                    return wallClock(for: batch) + receivers(of: batch)
                        + (batch.sightings.isEmpty ? [] : [.sightings(batch.sightings)])
                        + (batch.time.map { [.time($0)] } ?? [])
                case .radio(let event):
                    return [event]
                case .failed(let error, let retry):
                    let sentence = "\(error)"
                    // The same failure is reported once.
                    defer { reportedError = sentence }
                    let notice = reportedError == sentence ? [] : [notice(.adapterLost, sentence)]
                    return (retry == nil ? [.state(.unsupported)] : []) + notice
                case .ended:
                    guard !isRadio else { return [] }
                    // A capture has no more to tell, and its app keeps what it knows; the air of a scenario is over.
                    return [notice(.sourceEnded, end)]
                        + (listener.runner.specification.isSimulation ? [.state(.poweredOff)] : [])
                }
            }

            /// Returns the status of each receiver where there are several and it is news.
            private mutating func receivers(of batch: SourceBatch) -> [RadioEvent] {
                guard listener.runner.specification.hasReceivers, batch.receiverStatuses != statuses else { return [] }
                statuses = batch.receiverStatuses
                return [.receivers(statuses)]
            }

            /// Returns the lead of the wall clock over the times of a file or a simulation that plays in real time,
            /// once: what an app hears of it happens now, and is compared with the present time.
            private mutating func wallClock(for batch: SourceBatch) -> [RadioEvent] {
                guard isPlayedNow, let first = batch.sightings.first?.time ?? batch.time else { return [] }
                isPlayedNow = false
                return [.wallClock(ahead: listener.runner.clock.now().since(first))]
            }

            /// What an end means, which is told once: nothing is invented, neither an exit nor another beginning.
            private var end: String {
                "it has ended, and nothing is heard from now on"
                    + (listener.runner.specification.isSimulation ? "; write ?loop behind its name to repeat it" : "")
            }

            private func notice(_ kind: RadioNotice.Kind, _ sentence: String) -> RadioEvent {
                .notice(RadioNotice(kind, adapter: listener.runner.specification.title, sentence))
            }
        }
    }
}
