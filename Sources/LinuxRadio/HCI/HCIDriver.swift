import BeaconModel
import BeaconRadio
import BeaconSupport
import CBluetooth
import CLibrary

/// The input and output of a controller session on raw HCI sockets.
///
/// The loop waits for one descriptor that combines others: the adapter's socket, the socket for events of adapters, and
/// the waker of ``AdapterPower``.
final class HCIDriver: ReceiverDriver, Advertiser {
    let descriptor: Int32

    let named: AdapterName
    private let adapterEvents: HCISocket?
    private let power: AdapterPower
    var index: UInt16
    var socket: HCISocket?
    var session: ControllerSession
    private var assembler = ExtendedAdvertAssembler()
    var protection: Protection

    private var requestedMode: ScanMode?
    private var requestedFrames: [OutgoingAdvert]?
    var mode = ScanMode.off
    var filtering: AdvertFilter.Scope?

    private var drained = RadioClock.now()
    private var nextCheck = Timestamp.zero
    var dropped: Int64 = 0
    private var isCountKnown = true

    /// The interval of searches for a removed adapter. The kernel's events also trigger a search, but they arrive
    /// before the adapter's address is known.
    private static let searchInterval = 2 * Timestamp.nanosecondsPerSecond

    /// The interval at which the driver reads the kernel's counts.
    private static let checkInterval = ControllerConfiguration().countInterval

    /// The most batches to read before other drivers get their turn.
    private static let maximumBatches = 16

    /// Opens an adapter.
    ///
    /// - Parameter name: the user's name for it, which identifies it again after it was unplugged.
    /// - Throws: the reason why it cannot be used.
    convenience init(_ adapter: LocalAdapter, named name: AdapterName?) throws(HCISystemError) {
        let protection = Protection(adapter, isLent: !adapter.isUp, directory: .standard())
        try self.init(
            adapter, named: name, socket: try HCISocket(adapter: adapter.index), adapterEvents: try .ofAdapterEvents(),
            protection: protection)
    }

    /// Creates a driver for any socket that carries HCI packets of an adapter unknown to the kernel.
    static func lent(_ descriptor: Int32) throws(RadioError) -> HCIDriver {
        let adapter = LocalAdapter(index: .max, address: DeviceAddress(bits: 0, kind: .public), isUp: true)
        do throws(HCISystemError) {
            return try HCIDriver(
                adapter, named: nil, socket: try HCISocket(owning: descriptor), adapterEvents: nil,
                protection: Protection(adapter, isLent: false, directory: nil, socket: descriptor))
        } catch {
            throw RadioError(.failed, "the socket cannot be used: \(error).")
        }
    }

    /// Creates a driver for an open socket.
    ///
    /// - Parameter adapterEvents: the socket for events of added and removed adapters; nil for none.
    init(
        _ adapter: LocalAdapter, named name: AdapterName?, socket: HCISocket, adapterEvents: HCISocket?,
        protection: consuming Protection
    ) throws(HCISystemError) {
        let power = AdapterPower()
        guard power.descriptor >= 0 else { throw HCISystemError(EMFILE) }
        descriptor = beacon_group_make()
        guard descriptor >= 0 else { throw HCISystemError(errno) }
        self.adapterEvents = adapterEvents
        self.power = power
        self.socket = socket
        self.protection = protection
        named = name ?? .index(adapter.index)
        index = adapter.index
        session = ControllerSession(name: adapter.name)
        for part in [socket.descriptor, power.descriptor, adapterEvents?.descriptor] {
            if let part { beacon_group_add(descriptor, part) }
        }
        inherit()
        session.begin(isOn: adapter.isUp, at: RadioClock.now())
    }

    deinit { CLibrary.close(descriptor) }

    var name: String { session.name }

    var state: RadioState { session.state }

    var deadline: Timestamp {
        if requestedMode != nil || requestedFrames != nil { return .zero }
        return min(session.deadline, nextCheck)
    }

    func scan(_ mode: ScanMode) { requestedMode = mode }

    func advertise(_ adverts: [OutgoingAdvert]) { requestedFrames = adverts }

    func rotateAddresses(every rotation: Duration?) {
        session.rotateAddresses(every: rotation.map(\.clampedNanoseconds), at: RadioClock.now())
    }

    func wokeUp(at now: Timestamp) { session.wokeUp(at: now) }

    func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) { body(descriptor, Int16(POLLIN)) }

    func process(at now: Timestamp, into batch: inout AdvertBatch) {
        let ready = readyParts()
        func isReady(_ part: Int32) -> Bool { ready.indices.contains { ready[$0] == part } }
        if let adapterEvents, isReady(adapterEvents.descriptor) { read(adapterEvents: adapterEvents, at: now) }
        if isReady(power.descriptor), let outcome = power.drainOutcome() {
            session.powered(outcome.failure, change: outcome.change, at: now)
        }
        defer {
            applyRequests(at: now, &batch)
            session.advance(to: now)
            perform(at: now, &batch)
        }
        if let socket, isReady(socket.descriptor) {
            read(socket, at: now, into: &batch)
        } else {
            drained = now
        }
        if now >= nextCheck || isFirstCountDue { check(at: now, &batch) }
    }

    /// True if a scan behind a filter has just begun. From now on only the controller's count shows filtered adverts.
    /// The sooner it is first read, the sooner a silence can be judged.
    private var isFirstCountDue: Bool {
        filtering != nil && isCountKnown && session.isScanning && !session.isCounting
    }

    /// Returns the descriptors with data to read. One call checks all of them; usually just one is ready.
    private func readyParts() -> InlineArray<4, Int32> {
        var ready = InlineArray<4, Int32>(repeating: -1)
        var parts = ready.mutableSpan
        parts.withUnsafeMutableBufferPointer { _ = beacon_group_ready(descriptor, $0.baseAddress, UInt32($0.count)) }
        return ready
    }

    func close() {
        guard let socket else { return protection.end(isUndone: true) }
        // While an adapter is off or being switched, nothing of ours is on the air, and its answers would never arrive.
        let isUndone = session.isWorking && session.undo.allSatisfy { HCIExchange.send($0, over: socket) }
        protection.end(isUndone: isUndone)
        if session.isWorking, protection.isLent, !protection.isShared() { _ = beacon_adapters_switch(index, 0) }
        lose()
    }
}

// MARK: - Requests and steps

extension HCIDriver {
    private func applyRequests(at now: Timestamp, _ batch: inout AdvertBatch) {
        if let requested = requestedMode {
            requestedMode = nil
            mode = requested
            filter(&batch)
            session.scan(ScanParameters(requested), at: now)
        }
        if let adverts = requestedFrames {
            requestedFrames = nil
            session.advertise(adverts, at: now)
        }
    }

    /// Attaches a filter for the wanted adverts, as far as the kernel accepts one.
    private func filter(_ batch: inout AdvertBatch) {
        guard let socket else { return }
        guard case .monitoring(let uuids) = mode else {
            // An attached filter must be removed, or ranging would miss most adverts. This cannot fail.
            try? socket.attach(nil)
            filtering = nil
            return
        }
        for filter in [AdvertFilter(uuids), AdvertFilter(nil)] {
            guard let filter, (try? socket.attach(filter.program)) != nil else { continue }
            if filter.scope != filtering {
                batch.report(.notice(RadioNotice(.filtering, adapter: name, filter.scope.description)))
            }
            filtering = filter.scope
            return
        }
        try? socket.attach(nil)
        filtering = nil
        batch.report(
            .notice(
                RadioNotice(
                    .degraded, adapter: name,
                    "the kernel accepts no filter, so each advert wakes this process. Raise its limit: "
                        + "sysctl net.core.optmem_max=131072")))
    }

    private func perform(at now: Timestamp, _ batch: inout AdvertBatch) {
        for notice in protection.drainNotices(name) { batch.report(.notice(notice)) }
        // A step may cause further steps.
        while case let steps = session.drainSteps(), !steps.isEmpty {
            for step in steps {
                switch step {
                case .send(let command): send(command, at: now)
                case .protect(let commands): protection.protect(commands)
                case .power(let change): power.begin(change, adapter: index)
                case .report(let event): batch.report(event)
                case .deaf(let from, let to): batch.report(.deaf(from: from, to: to, receiver: batch.firstReceiver))
                }
            }
        }
    }

    private func send(_ command: HCICommand, at now: Timestamp) {
        guard let socket else { return }
        do throws(HCISystemError) {
            try socket.write(command.packet)
        } catch {
            if error.isAbsence {
                lose()
            } else if error.number == ENETDOWN {
                session.wentOff(isBlocked: LocalAdapter.isBlocked(index: index), at: now)
            }
            // Any other error equals a command without an answer, which the session handles.
        }
    }

    /// Reads the kernel's counts, or searches for a removed adapter.
    private func check(at now: Timestamp, _ batch: inout AdvertBatch) {
        guard let socket else {
            nextCheck = now.advanced(by: Self.searchInterval).nextWholeSecond
            return search(at: now)
        }
        nextCheck = now.advanced(by: Self.checkInterval - Timestamp.nanosecondsPerSecond).nextWholeSecond
        if let count = socket.dropped, count > dropped {
            batch.report(
                .notice(
                    RadioNotice(
                        .degraded, adapter: name,
                        "the kernel dropped \(count - dropped) packets because this process was too slow.")))
            dropped = count
        }
        guard filtering != nil, session.isScanning else { return }
        if let adapter = try? LocalAdapter(index: index) {
            session.counted(adapter.eventCount, at: now)
        } else {
            // Without a count, silence proves nothing, so nothing is restarted.
            session.heard(at: now)
            if isCountKnown {
                isCountKnown = false
                let message =
                    "the kernel does not count the adapter's events, so a failed scan looks like silence."
                batch.report(.notice(RadioNotice(.livenessUnknown, adapter: name, message)))
            }
        }
    }
}

extension HCIDriver {
    func read(_ socket: HCISocket, at now: Timestamp, into batch: inout AdvertBatch) {
        let receiver = batch.firstReceiver
        var hasHeard = false
        defer { if hasHeard { session.heard(at: now) } }
        do throws(HCISystemError) {
            for _ in 0..<Self.maximumBatches {
                // One clock sample per batch: the clocks do not drift apart in so short a time.
                let ahead = RadioClock.wallAhead()
                let hasMore = try socket.read { packet, wall in
                    guard packet.byteCount >= 4 else { return }
                    guard packet[0] == UInt8(BEACON_HCI_EVENT) else {
                        if let command = HCICommand(packet: packet) {
                            session.receive(othersCommand: command, at: now)
                        }
                        return
                    }
                    let event = packet.extracting(1..<packet.byteCount)
                    var reports = HCIAdvertisingReportCursor(event: event)
                    guard let first = reports.next(in: event) else { return session.receive(event: event, at: now) }
                    hasHeard = true
                    let time = wall.map { self.time(ofWall: $0, ahead: ahead, now: now) } ?? now
                    var found: HCIAdvertisingReport? = first
                    while let report = found {
                        session.heardAdvert(at: now)
                        let reception = Reception(time: time, receiver: receiver, report: report.report)
                        if report.report.kind == .extended {
                            // Behind a filter, the last piece of an advert arrives only if a beacon is in that piece.
                            assembler.add(report, of: event, from: receiver, isImpatient: filtering != nil) {
                                batch.hear(reception, $0)
                            }
                        } else {
                            batch.hear(reception, event.extracting(report.offset..<report.offset + report.count))
                        }
                        found = reports.next(in: event)
                    }
                }
                // Later packets were received later.
                if !hasMore {
                    drained = now
                    return
                }
            }
        } catch {
            if error.isAbsence { lose() }
        }
    }

    /// Returns the time of a packet by the radio's clock. The result lies between the last time that the socket was
    /// empty and now, even if the wall clock was set in between.
    private func time(ofWall wall: Int64, ahead: Int64, now: Timestamp) -> Timestamp {
        let time = min(max(RadioClock.time(ofWall: wall, ahead: ahead), drained), now)
        drained = time
        return time
    }

    func read(adapterEvents: HCISocket, at now: Timestamp) {
        _ = try? adapterEvents.read { packet, _ in
            guard let item = AdapterEvent(packet: packet) else { return }
            switch item.kind {
            case .removed where item.adapter == index: lose()
            // An adapter that is being removed is switched off first, and can no longer be queried.
            case .wentOff where item.adapter == index && (try? LocalAdapter(index: index)) == nil: lose()
            case .wentOff where item.adapter == index:
                session.wentOff(isBlocked: LocalAdapter.isBlocked(index: index), at: now)
            case .cameOn where item.adapter == index && socket != nil: session.cameOn(at: now)
            case .added, .cameOn: if socket == nil { search(at: now) }
            default: break
            }
        }
    }

    private func lose() {
        guard let socket else { return }
        beacon_group_remove(descriptor, socket.descriptor)
        self.socket = nil
        session.adapterRemoved()
    }

    /// Searches for the adapter by the user's name for it.
    func search(at now: Timestamp) {
        guard let adapter = (try? LocalAdapter.all())?.first(where: { $0.isNamed(named) }),
            let socket = try? HCISocket(adapter: adapter.index)
        else { return }
        beacon_group_add(descriptor, socket.descriptor)
        self.socket = socket
        index = adapter.index
        dropped = 0
        session.name = adapter.name
        protection.move(to: adapter)
        filtering = nil
        requestedMode = requestedMode ?? mode
        inherit()
        session.begin(isOn: adapter.isUp, at: now)
    }

    /// Takes over the adverts and scans of dead processes, and leaves those of running ones alone.
    func inherit() {
        session.inherit(protection.abandoned())
        session.leave(protection.setsInUse())
    }
}
