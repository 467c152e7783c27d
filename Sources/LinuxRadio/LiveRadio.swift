public import BeaconModel
public import BeaconRadio
import Dispatch

/// Real adapters as a radio: a thread of its own waits for them while somebody listens.
public final class LiveRadio: Radio {
    /// What is asked of the radio and not yet done.
    private struct Wishes {
        var mode: ScanMode?
        var frames: [IBeaconFrame]?
        var isOver = false
    }

    private let selection: RadioSelection
    private let waker: Waker?
    private let wishes = Locked(Wishes())

    /// A radio that opens its adapters when somebody begins to listen to its events.
    public init(_ selection: RadioSelection) {
        self.selection = selection
        waker = try? Waker()
    }

    /// What happens from now on.
    public func events() -> AsyncStream<RadioEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: RadioEvent.self)
        // Waiting for adapters blocks, which a thread of its own may and a task may not.
        let thread = DispatchQueue(label: "swift-beacon.radio")
        continuation.onTermination = { [weak self] _ in self?.wish { $0.isOver = true } }
        thread.async { [self] in
            run { continuation.yield($0) }
            continuation.finish()
        }
        return stream
    }

    /// Listens this hard from now on.
    public func scan(_ mode: ScanMode) { wish { $0.mode = mode } }

    /// Sends these frames from now on.
    public func advertise(_ frames: [IBeaconFrame]) { wish { $0.frames = frames } }

    private func wish(_ change: (inout sending Wishes) -> Void) {
        wishes.withLock { change(&$0) }
        waker?.wake()
    }

    private func run(_ tell: (RadioEvent) -> Void) {
        let loop: AdapterLoop
        do throws(RadioError) {
            guard let waker else { throw RadioError(.failed, "this process has no descriptor left.") }
            loop = AdapterLoop(try AdapterChoice.drivers(for: selection), waker: waker)
        } catch {
            tell(.state(error.code == .notPermitted ? .unauthorized : .unsupported))
            tell(.notice(RadioNotice(.adapterLost, adapter: "radio", error.message)))
            return refuseToAdvertise(error, tell)
        }
        defer { loop.close() }
        var sightings: [Sighting] = []
        var tick = RadioClock.now().nextWholeSecond
        while true {
            let wishes = wishes.withLock { wishes in
                let taken = wishes
                wishes.mode = nil
                wishes.frames = nil
                return taken
            }
            if wishes.isOver { return }
            if let mode = wishes.mode { loop.scan(mode) }
            if let frames = wishes.frames { loop.advertise(frames) }
            // The closure below throws nothing.
            let now = try? loop.step(
                until: tick,
                deliver: { reception, advert in
                    guard !reception.isDamaged, let frame = IBeaconFrame(advert: advert) else { return }
                    sightings.append(
                        Sighting(
                            time: reception.time ?? tick, receiver: reception.receiver,
                            address: reception.report.address, identity: frame.identity,
                            measuredPower: frame.measuredPower, rssi: reception.report.rssi))
                }, tell: tell)
            if !sightings.isEmpty {
                tell(.sightings(sightings))
                sightings.removeAll(keepingCapacity: true)
            }
            if let now, now >= tick {
                tell(.time(now))
                tick = now.nextWholeSecond
            }
        }
    }

    /// Where there is no adapter, whoever wants to send is told why, until nobody listens any more.
    private func refuseToAdvertise(_ error: RadioError, _ tell: (RadioEvent) -> Void) {
        var tick = RadioClock.now().nextWholeSecond
        guard let waker else { return }
        let loop = AdapterLoop([], waker: waker)
        while true {
            let wishes = wishes.withLock { wishes in
                let taken = wishes
                wishes.frames = nil
                return taken
            }
            if wishes.isOver { return }
            if let frames = wishes.frames, !frames.isEmpty { tell(.advertising(.failure(error))) }
            guard let now = try? loop.step(until: tick, deliver: { _, _ in }, tell: { _ in }) else { return }
            if now >= tick {
                tell(.time(now))
                tick = now.nextWholeSecond
            }
        }
    }
}
