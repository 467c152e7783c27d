public import BeaconModel
public import BeaconRadio
import Dispatch
import Synchronization

/// A capture or a simulation that plays as if it were a radio, at its own pace.
///
/// It plays once, from when somebody begins to listen to its events; at the end the events end, and with them the time.
public final class ReplayRadio: Radio {
    private let specification: SourceSpecification
    private let speed: Double
    private let isListening = Atomic<Bool>(false)
    private let isStopped = Atomic<Bool>(false)
    private let listener = Locked<AsyncStream<RadioEvent>.Continuation?>(nil)

    /// A radio that plays a source.
    ///
    /// - Parameters:
    ///   - specification: a capture or a simulation.
    ///   - speed: so many times as fast as the clock on the wall.
    public init(_ specification: SourceSpecification, speed: Double = 1) {
        self.specification = specification
        self.speed = speed
    }

    /// What happens, from the beginning of the source on.
    public func events() -> AsyncStream<RadioEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: RadioEvent.self)
        // Pulling blocks while it waits for the time, which a thread of its own may and a task may not.
        let thread = DispatchQueue(label: "swift-beacon.replay")
        continuation.onTermination = { [weak self] _ in self?.isStopped.store(true, ordering: .relaxed) }
        listener.withLock { $0 = continuation }
        thread.async { [self] in
            play { continuation.yield($0) }
            continuation.finish()
        }
        return stream
    }

    /// Whether sightings are told.
    public func scan(_ mode: ScanMode) { isListening.store(mode != .off, ordering: .relaxed) }

    /// What is recorded or simulated cannot be sent into, which is told.
    public func advertise(_ frames: [IBeaconFrame]) {
        guard !frames.isEmpty else { return }
        let error = RadioError(.unsupported, "a capture or a simulation hears, and cannot send")
        listener.withLock { _ = $0?.yield(.advertising(.failure(error))) }
    }

    private func play(_ tell: (RadioEvent) -> Void) {
        var source: SightingSource
        do {
            source = SightingSource(try OpenSource(specification))
        } catch {
            return tell(.state(.unsupported))
        }
        var pacer = Pacer(.times(speed))
        var last: Timestamp?
        tell(.state(.poweredOn))
        let shouldStop = { self.isStopped.load(ordering: .relaxed) }
        while !shouldStop(), let record = try? source.next() {
            guard let time = record.time ?? last else { continue }
            var second = (last ?? time).nextWholeSecond
            while second < time, !shouldStop() {
                pacer.wait(until: second, shouldStop: shouldStop)
                tell(.time(second))
                second = second.nextWholeSecond
            }
            pacer.wait(until: time, shouldStop: shouldStop)
            if isListening.load(ordering: .relaxed), !source.sightings.isEmpty { tell(.sightings(source.sightings)) }
            last = max(time, last ?? time)
        }
        if let last { tell(.time(last)) }
    }
}
