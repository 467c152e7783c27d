import BeaconModel
import BeaconRadio
import BeaconSupport
import Glibc

@testable import LinuxRadio

/// A source and its reports, with a thread of this process as its adapter.
struct DriverBench: ~Copyable {
    var source: SourceReader
    let adapter: SocketAdapter
    let reported: Locked<[SourceEvent]>

    init(
        _ mode: ScanMode, _ controller: VirtualController = VirtualController(), sending count: Int = 0,
        packet: @escaping @Sendable (Int) -> [UInt8] = { _ in [] },
        until isOver: @escaping @Sendable (VirtualController) -> Bool = { _ in false }
    ) throws {
        let ends = try SocketPair()
        let own = ends.takeFirst()
        var yes: Int32 = 1
        setsockopt(own, SOL_SOCKET, SO_TIMESTAMPNS, &yes, 4)
        let adapter = SocketAdapter(dup(ends.second))
        adapter.start(controller, sending: count, packet: packet, until: isOver)
        let reported = Locked<[SourceEvent]>([])
        let source = SourceReader(
            [try HCIDriver.lent(own)], mode: mode, waker: Waker(), keepsAdverts: true
        ) { event in reported.withLock { $0.append(event) } }
        self.source = source
        self.adapter = adapter
        self.reported = reported
    }

    /// Reads until a condition holds, for a minute at most.
    mutating func pull(until isDone: () -> Bool, _ deliver: (Reception, RawSpan) throws -> Void) throws {
        let end = RadioClock.now().advanced(by: 60_000_000_000)
        while !isDone(), RadioClock.now() < end {
            _ = try source.next()
            try source.forEachAdvert(deliver)
        }
    }

    var notices: [RadioNotice] {
        reported.withLock { events in
            events.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
        }
    }

    static func hasBegunToSend(_ reported: Locked<[SourceEvent]>) -> Bool {
        reported.withLock { events in
            events.contains { if case .advertising(_, .success) = $0 { true } else { false } }
        }
    }
}
