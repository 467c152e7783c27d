import BeaconModel
import CBluetooth

/// A program for the kernel that stops adverts without a match from waking this process.
///
/// It passes everything but adverts, since a session needs that. It passes events with several reports and incomplete
/// pieces of adverts, which it could not follow. It passes adverts with a beacon of a wanted UUID, found by the same
/// walk as in ``BeaconModel/IBeaconFrame``. It never drops an advert that the walk would accept: an undecided advert
/// passes.
struct AdvertFilter {
    /// The beacons that wake this process.
    enum Scope: Hashable, CustomStringConvertible {
        /// Beacons of this number of UUIDs.
        case uuids(Int)
        /// All beacons.
        case anyBeacon

        var description: String {
            switch self {
            case .uuids(1): "the kernel wakes this process for beacons of one UUID only."
            case .uuids(let count): "the kernel wakes this process for beacons of \(count) UUIDs only."
            case .anyBeacon:
                "the kernel wakes this process for every iBeacon: there are too many UUIDs for a filter."
            }
        }
    }

    /// The beacons that pass.
    let scope: Scope

    /// The instructions.
    let program: [sock_filter]

    /// The most instructions that the kernel accepts (linux/filter.h: BPF_MAXINSNS).
    static let maximumInstructions = 4096

    /// The number of AD structures that the program examines. The kernel's programs have no loops, so each step of the
    /// walk exists once. An advert with more structures passes; those of common products have two to five.
    static let maximumStructures = 32

    /// Creates a filter for beacons of these UUIDs; nil for any beacon.
    ///
    /// - Returns: nil if the program would be too long.
    init?(_ uuids: Set<ProximityUUID>?) {
        var assembler = FilterAssembler()
        Self.writeHead(to: &assembler)
        for _ in 0..<Self.maximumStructures { Self.writeStep(to: &assembler) }
        assembler.jump(to: .pass)
        Self.writeDecision(uuids?.sorted(), to: &assembler)
        program = assembler.program
        scope = uuids.map { .uuids($0.count) } ?? .anyBeacon
        guard program.count <= Self.maximumInstructions else { return nil }
    }

    // Offsets in a packet, counted from the type byte: code at 1, subevent at 3, number of reports at 4, then as in
    // HCIAdvertisingReportCursor (Core Specification 5.3, Vol 4, Part E, 7.7.65.2 and 7.7.65.13).
    private static let legacyCount: UInt32 = 13
    private static let extendedType: UInt32 = 5
    private static let extendedCount: UInt32 = 28

    /// In memory: the end of the advert, then the UUID as four numbers.
    private static let end: UInt32 = 0
    private static let uuid: UInt32 = 1

    /// Passes everything but a single complete advert. Leaves the offset of the advert in X and its end in memory.
    private static func writeHead(to assembler: inout FilterAssembler) {
        assembler.loadByte(at: 0)
        assembler.unless(equal: UInt32(BEACON_HCI_EVENT), goTo: .pass)
        assembler.loadByte(at: 1)
        assembler.unless(equal: UInt32(HCIEventCode.leMeta), goTo: .pass)
        assembler.loadLength()
        // A load from beyond the end drops a packet, so shorter packets pass before.
        assembler.unless(atLeast: 5, goTo: .pass)
        assembler.loadByte(at: 4)
        assembler.unless(equal: 1, goTo: .pass)
        assembler.loadByte(at: 3)
        assembler.when(equal: 0x02, goTo: .legacy)
        assembler.unless(equal: 0x0D, goTo: .pass)

        assembler.loadByte(at: extendedType)
        // Bits 5 and 6 of the type: whether the advert is complete.
        assembler.when(anyOf: 0x60, goTo: .pass)
        assembler.loadByte(at: extendedCount)
        assembler.add(extendedCount + 1)
        assembler.store(end)
        assembler.setIndex(extendedCount + 1)
        assembler.jump(to: .walk)

        assembler.place(.legacy)
        assembler.loadByte(at: legacyCount)
        assembler.add(legacyCount + 1)
        assembler.store(end)
        assembler.setIndex(legacyCount + 1)
        assembler.place(.walk)
    }

    /// Examines the AD structure at X and moves X to the next.
    private static func writeStep(to assembler: inout FilterAssembler) {
        // No beacon fits in the remaining bytes. If a structure exceeded the end, the difference is a huge number. The
        // next load is then beyond the packet or finds bytes that the decoder would not examine. Both are harmless.
        assembler.load(end)
        assembler.subtractIndex()
        assembler.unless(atLeast: UInt32(IBeaconFrame.payloadCount) + 2, goTo: .drop)
        // Manufacturer specific data of Apple that begins with 02.
        assembler.loadWord(behindIndex: 1)
        assembler.when(equal: 0xFF4C_0002, goTo: .decide)
        assembler.loadByte(behindIndex: 0)
        assembler.when(equal: 0, goTo: .drop)
        assembler.addIndex()
        assembler.add(1)
        assembler.moveToIndex()
    }

    /// Decides on the structure at X, which resembles a beacon's. An incomplete match is rare and passes.
    private static func writeDecision(_ uuids: [ProximityUUID]?, to assembler: inout FilterAssembler) {
        assembler.place(.decide)
        assembler.loadByte(behindIndex: 5)
        assembler.unless(equal: 0x15, goTo: .pass)
        assembler.loadByte(behindIndex: 0)
        assembler.unless(atLeast: UInt32(IBeaconFrame.payloadCount) + 1, goTo: .pass)
        if let uuids {
            for part in 0..<4 as Range<UInt32> {
                assembler.loadWord(behindIndex: 6 + part * 4)
                assembler.store(uuid + part)
            }
            for wanted in uuids { write(wanted, to: &assembler) }
            assembler.place(.drop)
            assembler.drop()
            assembler.place(.pass)
            assembler.pass()
        } else {
            assembler.place(.pass)
            assembler.pass()
            assembler.place(.drop)
            assembler.drop()
        }
    }

    /// Passes the beacon if it has this UUID.
    private static func write(_ wanted: ProximityUUID, to assembler: inout FilterAssembler) {
        let parts = [wanted.high >> 32, wanted.high, wanted.low >> 32, wanted.low].map {
            UInt32(truncatingIfNeeded: $0)
        }
        for (index, part) in parts.enumerated() {
            assembler.load(uuid + UInt32(index))
            // Skips the rest of this comparison: two instructions for each part, and the end.
            assembler.unless(equal: part, skip: UInt8((parts.count - 1 - index) * 2 + 1))
        }
        assembler.pass()
    }
}
