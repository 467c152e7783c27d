import BeaconModel
import BeaconRadio
import CBluetooth
import Glibc

/// One adapter by raw HCI: a session's hands and ears.
///
/// A descriptor that gathers others is what the loop waits for: the adapter's socket, news of adapters, and the end of
/// what ``AdapterPower`` does.
final class HCIDriver: AdapterDriver {
    let descriptor: Int32
    let interest = Int16(POLLIN)

    private let named: AdapterName
    private let news: HCISocket?
    private let power: AdapterPower
    private var index: UInt16
    private var socket: HCISocket?
    private var session: ControllerSession
    private var assembler = ExtendedAdvertAssembler()
    private var protection: Protection

    private var wishedMode: ScanMode?
    private var wishedFrames: [IBeaconFrame]?
    private var mode = ScanMode.off
    private var filtering: AdvertFilter.Scope?

    private var drained = RadioClock.now()
    private var asleep = RadioClock.asleep()
    private var nextCheck = Timestamp.zero
    private var dropped: Int64 = 0
    private var isCountKnown = true

    /// How often an adapter that is gone is looked for, beside the kernel's news of it, which come before its address is known.
    private static let searchInterval = 2 * Timestamp.nanosecondsPerSecond

    /// How often the kernel's counts are looked at.
    private static let checkInterval = SessionConfiguration().countInterval

    /// Batches that are read before others have their turn.
    private static let mostBatches = 16

    /// Opens an adapter.
    ///
    /// - Parameter name: how the user named it, by which it is found again after it was unplugged.
    /// - Throws: why it cannot be used.
    convenience init(_ adapter: LocalAdapter, named name: AdapterName?) throws(HCISystemError) {
        let protection = Protection(adapter, isLent: !adapter.isUp, directory: .standard())
        try self.init(
            adapter, named: name, socket: try HCISocket(adapter: adapter.index), news: try .ofAdapterNews(),
            protection: protection)
    }

    /// A driver by any socket that carries HCI packets, for an adapter that the kernel knows nothing of.
    static func lent(_ descriptor: Int32) throws(RadioError) -> HCIDriver {
        let adapter = LocalAdapter(index: .max, address: DeviceAddress(bits: 0, kind: .public), isUp: true)
        do throws(HCISystemError) {
            return try HCIDriver(
                adapter, named: nil, socket: try HCISocket(owning: descriptor), news: nil,
                protection: Protection(adapter, isLent: false, directory: nil, socket: descriptor))
        } catch {
            throw RadioError(.failed, "the socket cannot be used: \(error).")
        }
    }

    /// A driver by a socket that is there already.
    ///
    /// - Parameter news: what tells of adapters that come and go; nil for nothing.
    init(
        _ adapter: LocalAdapter, named name: AdapterName?, socket: HCISocket, news: HCISocket?,
        protection: consuming Protection
    ) throws(HCISystemError) {
        guard let power = try? AdapterPower() else { throw HCISystemError(EMFILE) }
        descriptor = beacon_group_make()
        guard descriptor >= 0 else { throw HCISystemError(errno) }
        self.news = news
        self.power = power
        self.socket = socket
        self.protection = protection
        named = name ?? .index(adapter.index)
        index = adapter.index
        session = ControllerSession(name: adapter.name)
        for part in [socket.descriptor, power.descriptor, news?.descriptor] {
            if let part { beacon_group_add(descriptor, part) }
        }
        inherit()
        session.begin(isOn: adapter.isUp, at: RadioClock.now())
    }

    deinit { Glibc.close(descriptor) }

    var name: String { session.name }

    var state: RadioState { session.state }

    var deadline: Timestamp {
        if wishedMode != nil || wishedFrames != nil { return .zero }
        return min(session.deadline, nextCheck)
    }

    func scan(_ mode: ScanMode) { wishedMode = mode }

    func advertise(_ frames: [IBeaconFrame]) { wishedFrames = frames }

    func process(
        at now: Timestamp, as receiver: ReceiverID, deliver: (Reception, RawSpan) throws -> Void,
        tell: (RadioEvent) -> Void
    ) throws {
        let slept = RadioClock.asleep()
        if slept - asleep > Timestamp.nanosecondsPerSecond { session.wokeUp(at: now) }
        asleep = slept
        let ready = readyParts()
        func isReady(_ part: Int32) -> Bool { ready.indices.contains { ready[$0] == part } }
        if let news, isReady(news.descriptor) { read(news, at: now) }
        if isReady(power.descriptor), let outcome = power.takeOutcome() {
            session.powered(outcome.failure, change: outcome.change, at: now)
        }
        defer {
            takeWishes(at: now, tell)
            session.advance(to: now)
            perform(at: now, tell)
        }
        if let socket, isReady(socket.descriptor) {
            try read(socket, at: now, as: receiver, deliver: deliver)
        } else {
            drained = now
        }
        if now >= nextCheck { check(at: now, tell) }
    }

    /// Which of the descriptors have something to read. One call asks for all, most often to find just one.
    private func readyParts() -> InlineArray<4, Int32> {
        var ready = InlineArray<4, Int32>(repeating: -1)
        var parts = ready.mutableSpan
        parts.withUnsafeMutableBufferPointer { _ = beacon_group_ready(descriptor, $0.baseAddress, UInt32($0.count)) }
        return ready
    }

    func close() {
        guard let socket else { return protection.end(isTakenBack: true) }
        // While an adapter is off or being switched nothing of ours is on the air, and it would keep us waiting.
        let isTakenBack = session.isWorking && session.undo.allSatisfy { HCIExchange.send($0, over: socket) }
        protection.end(isTakenBack: isTakenBack)
        if session.isWorking, protection.isLent, !protection.isShared() { _ = beacon_adapters_switch(index, 0) }
        lose()
    }
}

// MARK: - What comes

extension HCIDriver {
    private func read(
        _ socket: HCISocket, at now: Timestamp, as receiver: ReceiverID, deliver: (Reception, RawSpan) throws -> Void
    ) throws {
        var hasHeard = false
        defer { if hasHeard { session.heard(at: now) } }
        do {
            for _ in 0..<Self.mostBatches {
                // One sample a batch: the clocks do not drift apart in so short a time.
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
                        let reception = Reception(time: time, receiver: receiver, report: report.report)
                        if report.report.kind == .extended {
                            // A filter knows the last piece of an advert only where a beacon is in that piece.
                            try assembler.add(report, of: event, from: receiver, isImpatient: filtering != nil) {
                                try deliver(reception, $0)
                            }
                        } else {
                            try deliver(reception, event.extracting(report.offset..<report.offset + report.count))
                        }
                        found = reports.next(in: event)
                    }
                }
                // Whatever comes later was received later.
                if !hasMore {
                    drained = now
                    return
                }
            }
        } catch let error as HCISystemError {
            if error.isAbsence { lose() }
        }
    }

    /// When a packet came, by even time. It came after the last time that none was left, and it is not from the future, even
    /// if the clock on the wall was set in between.
    private func time(ofWall wall: Int64, ahead: Int64, now: Timestamp) -> Timestamp {
        let time = min(max(RadioClock.time(ofWall: wall, ahead: ahead), drained), now)
        drained = time
        return time
    }

    private func read(_ news: HCISocket, at now: Timestamp) {
        _ = try? news.read { packet, _ in
            guard let item = AdapterNews(packet: packet) else { return }
            switch item.kind {
            case .removed where item.adapter == index: lose()
            // One that is being removed goes off first, and cannot be asked any more.
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
        session.went()
    }

    /// Looks for the adapter by the name that the user gave it.
    private func search(at now: Timestamp) {
        guard let adapter = (try? LocalAdapter.all())?.first(where: { $0.isMeant(by: named) }),
            let socket = try? HCISocket(adapter: adapter.index)
        else { return }
        beacon_group_add(descriptor, socket.descriptor)
        self.socket = socket
        index = adapter.index
        dropped = 0
        session.name = adapter.name
        protection.move(to: adapter)
        filtering = nil
        wishedMode = wishedMode ?? mode
        inherit()
        session.begin(isOn: adapter.isUp, at: now)
    }

    /// Takes over what processes left that are gone, and keeps away from what living ones use.
    private func inherit() {
        session.inherit(protection.abandoned())
        session.leave(protection.setsInUse())
    }
}

// MARK: - What is to be done

extension HCIDriver {
    private func takeWishes(at now: Timestamp, _ tell: (RadioEvent) -> Void) {
        if let wished = wishedMode {
            wishedMode = nil
            mode = wished
            filter(tell)
            session.scan(ScanParameters(wished), at: now)
        }
        if let frames = wishedFrames {
            wishedFrames = nil
            session.advertise(frames.map(\.advert), at: now)
        }
    }

    /// Lets the kernel keep from us what nobody wants, as far as it can.
    private func filter(_ tell: (RadioEvent) -> Void) {
        guard let socket else { return }
        guard case .watching(let uuids) = mode else {
            // Whatever was attached has to go, or ranging would miss most adverts; there is nothing in this that can fail.
            try? socket.attach(nil)
            filtering = nil
            return
        }
        for filter in [AdvertFilter(uuids), AdvertFilter(nil)] {
            guard let filter, (try? socket.attach(filter.program)) != nil else { continue }
            if filter.scope != filtering {
                tell(.notice(RadioNotice(.filtering, adapter: name, filter.scope.description)))
            }
            filtering = filter.scope
            return
        }
        try? socket.attach(nil)
        filtering = nil
        tell(
            .notice(
                RadioNotice(
                    .degraded, adapter: name,
                    "the kernel takes no filter, so that each advert wakes this process. Allow for more: "
                        + "sysctl net.core.optmem_max=131072")))
    }

    private func perform(at now: Timestamp, _ tell: (RadioEvent) -> Void) {
        for notice in protection.takeNotices(name) { tell(.notice(notice)) }
        // A step may have further steps as its consequence.
        while case let steps = session.takeSteps(), !steps.isEmpty {
            for step in steps {
                switch step {
                case .send(let command): send(command, at: now)
                case .protect(let commands): protection.protect(commands)
                case .power(let change): power.begin(change, adapter: index)
                case .tell(let event): tell(event)
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
            // Anything else is no worse than a command that is not answered, which the session sees to.
        }
    }

    /// Looks at what the kernel counts, and for an adapter that is gone.
    private func check(at now: Timestamp, _ tell: (RadioEvent) -> Void) {
        guard let socket else {
            nextCheck = now.advanced(by: Self.searchInterval).nextWholeSecond
            return search(at: now)
        }
        nextCheck = now.advanced(by: Self.checkInterval - Timestamp.nanosecondsPerSecond).nextWholeSecond
        if let count = socket.dropped, count > dropped {
            tell(
                .notice(
                    RadioNotice(
                        .degraded, adapter: name,
                        "this process was too slow: the kernel had no room for \(count - dropped) packets.")))
            dropped = count
        }
        guard filtering != nil, session.isScanning else { return }
        if let adapter = try? LocalAdapter(index: index) {
            session.counted(adapter.eventCount, at: now)
        } else {
            // Nothing is restarted for want of knowledge.
            session.heard(at: now)
            if isCountKnown {
                isCountKnown = false
                let message = "the kernel does not tell how many events the adapter sent."
                tell(.notice(RadioNotice(.livenessUnknown, adapter: name, message)))
            }
        }
    }
}
