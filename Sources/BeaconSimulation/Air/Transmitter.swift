import BeaconModel
import BeaconSupport

/// A sender in the air: a beacon or a phone.
struct Transmitter: Sendable {
    /// The content of the adverts.
    private enum Content: Sendable {
        case fixed
        case foreign(ForeignAdvert, stream: String, seed: UInt64)
    }

    let placement: Placement

    /// The strength one meter away, in dBm.
    let power: Double

    let kind: AdvertisingReport.Kind

    /// The AD structures that it currently sends.
    private(set) var advert: [UInt8]

    /// The AD structures of its scan response; empty if it has none.
    let scanResponse: [UInt8]

    var schedule: AdvertisingSchedule
    private var addresses: AddressBook
    private let content: Content

    /// The current address.
    var address: DeviceAddress { addresses.address }

    /// Creates a beacon.
    init(_ plan: BeaconPlan, seed: UInt64) {
        placement = plan.placement
        power = Double(plan.measuredPower) + plan.powerOffset
        let sent = OutgoingAdvert(
            frame: IBeaconFrame(identity: plan.identity, measuredPower: plan.measuredPower),
            localName: plan.localName, services: plan.services)
        (advert, scanResponse) = (sent.advert, sent.scanResponse)
        kind = scanResponse.isEmpty ? .nonConnectable : .scannable
        schedule = AdvertisingSchedule(
            interval: plan.interval, jitter: plan.jitter, onTimes: plan.onTimes,
            random: SplitMix64(seed: seed, stream: "rhythm of \(plan.key)"))
        addresses = AddressBook(
            plan.addressing, start: plan.onTimes.spans.first?.lowerBound ?? 0, seed: seed, stream: plan.key)
        content = .fixed
    }

    /// Creates a device that is not a beacon.
    init(_ plan: DevicePlan, seed: UInt64) {
        placement = plan.placement
        power = plan.power
        let sent = OutgoingAdvert(frame: nil, localName: plan.localName, services: plan.services)
        (advert, scanResponse) = (sent.advert, sent.scanResponse)
        kind = scanResponse.isEmpty ? .nonConnectable : .scannable
        schedule = AdvertisingSchedule(
            interval: plan.interval, jitter: plan.jitter, onTimes: plan.onTimes,
            random: SplitMix64(seed: seed, stream: "rhythm of \(plan.key)"))
        addresses = AddressBook(
            plan.addressing, start: plan.onTimes.spans.first?.lowerBound ?? 0, seed: seed, stream: plan.key)
        content = .fixed
    }

    /// Creates a phone of a crowd.
    ///
    /// - Parameters:
    ///   - placement: its owner.
    ///   - key: the name of its random streams.
    init(_ plan: CrowdPlan, placement: Placement, key: String, seed: UInt64) {
        var random = SplitMix64(seed: seed, stream: "phone of \(key)")
        let kinds = ForeignAdvert.allCases
        let foreign = kinds[Int(random.below(UInt64(kinds.count)))]
        self.placement = placement
        power = plan.power
        kind = .connectable
        scanResponse = []
        advert = Self.advert(foreign, turn: 0, stream: key, seed: seed)
        schedule = AdvertisingSchedule(
            interval: plan.interval, jitter: plan.jitter, onTimes: .always,
            random: SplitMix64(seed: seed, stream: "rhythm of \(key)"))
        // Phones change their addresses at different times.
        addresses = AddressBook(
            .rotating(plan.rotation), start: -Int64(random.below(UInt64(plan.rotation))), seed: seed, stream: key)
        content = .foreign(foreign, stream: key, seed: seed)
    }

    /// Updates ``address`` and ``advert`` to a time, in nanoseconds after the start of the simulation.
    mutating func prepare(for time: Int64) {
        // A phone's advert changes with its address, so that the advert does not identify the phone.
        if addresses.advance(to: time), case .foreign(let foreign, let stream, let seed) = content {
            advert = Self.advert(foreign, turn: addresses.turn, stream: stream, seed: seed)
        }
    }

    private static func advert(_ foreign: ForeignAdvert, turn: Int, stream: String, seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed, stream: "advert \(turn) of \(stream)")
        return foreign.advert(random: &random)
    }
}

/// The adverts of devices that are not iBeacons, common in any town.
///
/// The layouts are those that the makers publish or that are commonly seen. The bytes after the headers are random. A
/// decoder must recognize from the type, the length or the company that none is an iBeacon.
enum ForeignAdvert: CaseIterable, Sendable {
    /// Apple's company identifier with another type than iBeacon's.
    case appleNearby
    /// Apple's company identifier and iBeacon's type with a length that is invalid for iBeacon.
    case appleLookalike
    /// Microsoft's company identifier.
    case microsoft
    /// Google's Eddystone-UID, service data of 0xFEAA.
    case eddystone
    /// Exposure notification, service data of 0xFD6F.
    case exposure
    /// A name, for instance of headphones.
    case name

    /// Returns an advert of this kind, of at most 31 bytes.
    func advert(random: inout SplitMix64) -> [UInt8] {
        let flags: [UInt8] = [0x02, 0x01, 0x1A]
        switch self {
        case .appleNearby: return flags + [0x0A, 0xFF, 0x4C, 0x00, 0x10, 0x05] + Self.bytes(5, random: &random)
        case .appleLookalike: return flags + [0x09, 0xFF, 0x4C, 0x00, 0x02, 0x04] + Self.bytes(4, random: &random)
        case .microsoft: return flags + [0x1B, 0xFF, 0x06, 0x00, 0x01, 0x09] + Self.bytes(22, random: &random)
        case .eddystone:
            return [0x02, 0x01, 0x06, 0x03, 0x03, 0xAA, 0xFE, 0x17, 0x16, 0xAA, 0xFE, 0x00, 0xE7]
                + Self.bytes(16, random: &random) + [0x00, 0x00]
        case .exposure:
            return flags + [0x03, 0x03, 0x6F, 0xFD, 0x17, 0x16, 0x6F, 0xFD] + Self.bytes(20, random: &random)
        case .name:
            // Complete local name: "Phones" and four digits.
            return flags + [0x0B, 0x09, 0x50, 0x68, 0x6F, 0x6E, 0x65, 0x73]
                + (0..<4).map { _ in UInt8(0x30 + random.below(10)) }
        }
    }

    private static func bytes(_ count: Int, random: inout SplitMix64) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}
