import BeaconModel
import VirtualController

/// Adverts in large numbers, to check that receivers lose none.
///
/// The iBeacon adverts are numbered: major is the upper half of the number and minor the lower. A flood waits for a
/// host that falls behind, and numbers an advert only when it is sent, so each missing number was lost after the
/// controller.
struct Flood: Sendable {
    /// The UUID of the numbered iBeacons.
    static let uuid = ProximityUUID(high: 0xF100_DF10_0DF1_400D, low: 0x8F10_0DF1_00DF_100D)

    /// The UUID of the foreign iBeacons.
    private static let foreignUUID = ProximityUUID(high: 0x0BAD_0BAD_0BAD_4BAD, low: 0x8BAD_0BAD_0BAD_0BAD)

    /// The bytes in a controller's output above which the flood waits.
    static let backlogLimit = 16 * 1024

    /// The number of simulated devices; more would only fill the tables of other software.
    private static let deviceCount = 64

    /// Once a millisecond is often enough, and leaves processor time to the guest.
    private static let step: Int64 = 1_000_000

    /// The longest backlog, in seconds. Older adverts are skipped, so that a host that returns is not overwhelmed.
    private static let longestDebt = 0.1

    private let plan: FloodPlan
    private let end: Int64
    private var time: Int64
    private var owedForeign = 0.0
    private var owedBeacons = 0.0

    /// The numbers of adverts sent.
    private(set) var counts = FloodCounts()

    init(_ plan: FloodPlan, start: Int64) {
        self.plan = plan
        time = start
        end = start + Int64(plan.duration) * 1_000_000_000
    }

    /// True if the flood has ended.
    var isOver: Bool { time >= end }

    /// The time of the next step, or nil after the end.
    var deadline: Int64? { isOver ? nil : time + Self.step }

    /// Advances the flood to a time.
    mutating func advance(to now: Int64) {
        let until = min(now, end)
        guard until > time else { return }
        let seconds = Double(until - time) / 1e9
        time = until
        func owed(_ debt: Double, rate: Int) -> Double {
            min(debt + seconds * Double(rate), max(1, Double(rate) * Self.longestDebt))
        }
        owedForeign = owed(owedForeign, rate: plan.foreignRate)
        owedBeacons = owed(owedBeacons, rate: plan.beaconRate)
    }

    /// Returns the next advert that is due, or nil if none is.
    mutating func next() -> (packet: AirPacket, rssi: Int8)? {
        if owedBeacons >= 1 {
            owedBeacons -= 1
            defer { counts.beacons += 1 }
            return advert(
                number: counts.beacons, kind: .nonConnectable, frame(uuid: Self.uuid, number: counts.beacons))
        }
        guard owedForeign >= 1 else { return nil }
        owedForeign -= 1
        defer { counts.foreign += 1 }
        let number = counts.foreign
        let digits = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        // Adverts that a filter must distinguish from iBeacons: another type, another company, service data; and
        // another UUID.
        return switch number % 4 {
        case 0: advert(number: number, kind: .connectable, [2, 1, 0x1A, 9, 0xFF, 0x4C, 0, 0x10, 5] + digits)
        case 1: advert(number: number, kind: .connectable, [2, 1, 0x1A, 9, 0xFF, 6, 0, 1, 9] + digits)
        case 2: advert(number: number, kind: .nonConnectable, [3, 3, 0xAA, 0xFE, 8, 0x16, 0xAA, 0xFE, 0] + digits)
        default: advert(number: number, kind: .nonConnectable, frame(uuid: Self.foreignUUID, number: number))
        }
    }

    private func frame(uuid: ProximityUUID, number: Int) -> [UInt8] {
        IBeaconFrame(
            identity: BeaconIdentity(
                uuid: uuid, major: UInt16(truncatingIfNeeded: number >> 16),
                minor: UInt16(truncatingIfNeeded: number)),
            measuredPower: -59
        ).advert
    }

    private func advert(number: Int, kind: AdvertisingReport.Kind, _ data: [UInt8]) -> (AirPacket, Int8) {
        // Static random addresses, which have both top bits set (Core Specification 5.3, Vol 6, Part B, 1.3.2.1).
        let address = DeviceAddress(bits: 0xC0F1_00D0_0000 | UInt64(number % Self.deviceCount), kind: .random)
        return (AirPacket(form: AdvertisingForm(kind), address: address, data: data), Int8(-50 - number % 30))
    }
}
