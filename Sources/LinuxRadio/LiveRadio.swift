public import BeaconModel
public import BeaconRadio
import Dispatch

/// Real adapters as a radio: a thread of its own waits for them while somebody listens.
///
/// Where there is no adapter that could be used, the radio says why and looks again now and then, since one may be plugged
/// in or allowed yet.
public final class LiveRadio: Radio {
    /// What is asked of the radio.
    private struct Wishes {
        var mode = ScanMode.off
        var frames: [IBeaconFrame] = []
        var isOver = false
        /// Whether somebody wished for something since the thread last looked.
        var isModeNew = false
        var areFramesNew = false
    }

    private let open: @Sendable () throws(RadioError) -> [any AdapterDriver]
    private let waker: Waker?
    private let wishes = Locked(Wishes())

    /// How long to wait before looking for an adapter again: soon enough for somebody who has just plugged one in, and seldom
    /// enough to cost nothing.
    private static let patience = 5 * Timestamp.nanosecondsPerSecond

    /// A radio that opens its adapters when somebody begins to listen to its events.
    public init(_ selection: RadioSelection) {
        open = { () throws(RadioError) in try AdapterChoice.drivers(for: selection) }
        waker = try? Waker()
    }

    /// A radio on a socket that is open already and speaks as a raw HCI socket does, for measurements without an adapter.
    ///
    /// - Parameter hciSocket: the descriptor, which is closed when nobody listens any more.
    @_spi(Measurement)
    public init(hciSocket: Int32) {
        open = { () throws(RadioError) in [try HCIDriver.lent(hciSocket)] }
        waker = try? Waker()
    }

    /// What happens from now on.
    public func events() -> AsyncStream<RadioEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: RadioEvent.self)
        continuation.onTermination = { [weak self] _ in self?.wish { $0.isOver = true } }
        guard let waker else {
            continuation.yield(.state(.unsupported))
            continuation.finish()
            return stream
        }
        // Waiting for adapters blocks, which a thread of its own may and a task may not.
        let thread = DispatchQueue(label: "swift-beacon.radio")
        thread.async { [self] in
            run(waker) { continuation.yield($0) }
            continuation.finish()
        }
        return stream
    }

    /// Listens this hard from now on.
    public func scan(_ mode: ScanMode) {
        wish {
            $0.mode = mode
            $0.isModeNew = true
        }
    }

    /// Sends these frames from now on.
    public func advertise(_ frames: [IBeaconFrame]) {
        wish {
            $0.frames = frames
            $0.areFramesNew = true
        }
    }

    private func wish(_ change: (inout sending Wishes) -> Void) {
        wishes.withLock { change(&$0) }
        waker?.wake()
    }

    private func takeWishes() -> Wishes {
        wishes.withLock { wishes in
            let taken = wishes
            wishes.isModeNew = false
            wishes.areFramesNew = false
            return taken
        }
    }

    private func run(_ waker: Waker, _ tell: (RadioEvent) -> Void) {
        var told: RadioError?
        while !wishes.withLock({ $0.isOver }) {
            do throws(RadioError) {
                return listen(AdapterLoop(try open(), waker: waker), tell)
            } catch {
                if error != told {
                    told = error
                    tell(.state(error.code == .notPermitted ? .unauthorized : .unsupported))
                    tell(.notice(RadioNotice(.adapterLost, adapter: "radio", error.message)))
                }
                waitForAdapter(waker, error, tell)
            }
        }
    }

    /// Does what the radio is asked to, until nobody listens any more.
    private func listen(_ loop: AdapterLoop, _ tell: (RadioEvent) -> Void) {
        defer { loop.close() }
        let wishes = takeWishes()
        loop.scan(wishes.mode)
        if !wishes.frames.isEmpty { loop.advertise(wishes.frames) }
        var sightings: [Sighting] = []
        var tick = RadioClock.now().nextWholeSecond
        while true {
            let wishes = takeWishes()
            if wishes.isOver { return }
            if wishes.isModeNew { loop.scan(wishes.mode) }
            if wishes.areFramesNew { loop.advertise(wishes.frames) }
            // The closure throws nothing, so that the loop does not either.
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

    /// Lets time pass without an adapter, and tells whoever wants to send why that does not work.
    private func waitForAdapter(_ waker: Waker, _ error: RadioError, _ tell: (RadioEvent) -> Void) {
        let clock = AdapterLoop([], waker: waker)
        let end = RadioClock.now().advanced(by: Self.patience)
        var tick = RadioClock.now().nextWholeSecond
        while tick < end {
            let wishes = takeWishes()
            if wishes.isOver { return }
            if wishes.areFramesNew, !wishes.frames.isEmpty { tell(.advertising(.failure(error))) }
            guard let now = try? clock.step(until: tick, deliver: { _, _ in }, tell: { _ in }) else { return }
            if now >= tick {
                tell(.time(now))
                tick = now.nextWholeSecond
            }
        }
    }
}
