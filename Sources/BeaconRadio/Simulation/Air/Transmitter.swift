import BeaconModel

/// A sender in the air: a beacon, or somebody's phone.
struct Transmitter: Sendable {
    /// What is sent.
    private enum Content: Sendable {
        case beacon
        case foreign(ForeignAdvert, stream: String, seed: UInt64)
    }

    let placement: Placement

    /// The strength one metre away, in dBm.
    let power: Double

    let kind: AdvertisingReport.Kind

    /// The AD structures that are sent at present.
    private(set) var advert: [UInt8]

    var rhythm: Rhythm
    private var addresses: AddressBook
    private let content: Content

    /// The present address.
    var address: DeviceAddress { addresses.address }

    /// A beacon.
    init(_ plan: BeaconPlan, seed: UInt64) {
        placement = plan.placement
        power = Double(plan.measuredPower) + plan.powerOffset
        kind = .nonConnectable
        advert = IBeaconFrame(identity: plan.identity, measuredPower: plan.measuredPower).advert
        rhythm = Rhythm(
            interval: plan.interval, jitter: plan.jitter, onTimes: plan.onTimes,
            random: SplitMix64(seed: seed, stream: "rhythm of \(plan.key)"))
        addresses = AddressBook(
            plan.addressing, start: plan.onTimes.spans.first?.lowerBound ?? 0, seed: seed, stream: plan.key)
        content = .beacon
    }

    /// A phone of a crowd.
    ///
    /// - Parameters:
    ///   - placement: its owner.
    ///   - key: the name of its chances.
    init(_ plan: CrowdPlan, placement: Placement, key: String, seed: UInt64) {
        var random = SplitMix64(seed: seed, stream: "phone of \(key)")
        let kinds = ForeignAdvert.allCases
        let foreign = kinds[Int(random.below(UInt64(kinds.count)))]
        self.placement = placement
        power = plan.power
        kind = .connectable
        advert = Self.advert(foreign, turn: 0, stream: key, seed: seed)
        rhythm = Rhythm(
            interval: plan.interval, jitter: plan.jitter, onTimes: .always,
            random: SplitMix64(seed: seed, stream: "rhythm of \(key)"))
        // Phones do not change their addresses all at once.
        addresses = AddressBook(
            .rotating(plan.rotation), start: -Int64(random.below(UInt64(plan.rotation))), seed: seed, stream: key)
        content = .foreign(foreign, stream: key, seed: seed)
    }

    /// Makes ``address`` and ``advert`` those of a moment, in nanoseconds after the start of the simulation.
    mutating func prepare(for time: Int64) {
        // What a phone sends changes with its address, lest it be known again by it.
        if addresses.advance(to: time), case .foreign(let foreign, let stream, let seed) = content {
            advert = Self.advert(foreign, turn: addresses.turn, stream: stream, seed: seed)
        }
    }

    private static func advert(_ foreign: ForeignAdvert, turn: Int, stream: String, seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed, stream: "advert \(turn) of \(stream)")
        return foreign.advert(random: &random)
    }
}
