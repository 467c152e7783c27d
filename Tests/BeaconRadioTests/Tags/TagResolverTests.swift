import BeaconModel
import BeaconRadio
import BeaconSupport
import Testing

@Suite("The recognition of tags")
struct TagResolverTests {
    private static let key = IdentityResolvingKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)
    private static let phone = DeviceTag(name: "phone", keys: [key])

    private static func reception(
        _ address: DeviceAddress, at seconds: Int64 = 0, isDamaged: Bool = false
    ) -> Reception {
        Reception(
            time: Timestamp(nanoseconds: seconds * 1_000_000_000), receiver: ReceiverID(3),
            report: AdvertisingReport(
                kind: .connectable, address: address, rssi: SignalStrength(rawValue: -70)), isDamaged: isDamaged)
    }

    private static func batch(_ tags: DeviceTag?...) -> (AdvertBatch, TagDirectory) {
        let directory = TagDirectory(tags.compactMap { $0 })
        return (AdvertBatch(keepsAdverts: true, tags: directory), directory)
    }

    private static let other: [UInt8] = [2, 1, 6, 5, 0xFF, 0x4C, 0, 0x10, 0]

    @Test("A phone has one identity and one address over all of its addresses; others are not heard")
    func changes() throws {
        var (batch, _) = Self.batch(Self.phone)
        let phone = try #require(Self.phone)
        var random = SplitMix64(seed: 55)
        for change in 0..<200 {
            let reversed = Int64(change)
            let address = AddressResolver(Self.key).address(random: UInt32(truncatingIfNeeded: random.next()))
            batch.begin()
            batch.hear(Self.reception(address, at: reversed * 900), Self.other.span.bytes)
            #expect(
                batch.sightings == [
                    Sighting(
                        phone, time: Timestamp(nanoseconds: reversed * 900_000_000_000), receiver: ReceiverID(3),
                        rssi: SignalStrength(rawValue: -70))
                ])
            batch.begin()
            batch.hear(
                Self.reception(DeviceAddress(bits: random.next(), kind: .random), at: reversed * 900),
                Self.other.span.bytes)
            batch.hear(Self.reception(address, at: reversed * 900, isDamaged: true), Self.other.span.bytes)
            #expect(batch.sightings.isEmpty)
        }
        let notices = batch.drainEvents()
        #expect(notices.count == 1, "one notice about the byte order")
        #expect(!"\(notices)".contains("ec02"))
    }

    @Test("A key in reverse order is recognized, too, and the notice says so")
    func reversed() throws {
        var (batch, directory) = Self.batch(DeviceTag(name: "phone", keys: [Self.key.reversed]))
        for number in UInt32(1)...3 {
            batch.hear(Self.reception(AddressResolver(Self.key).address(random: number)), Self.other.span.bytes)
            #expect(directory.isReversed(Self.key.reversed) == (number < 2 ? nil : true), "two addresses prove it")
        }
        #expect(batch.sightings.count == 3)
        guard case .notice(let notice)? = batch.drainEvents().first else {
            Issue.record("no notice")
            return
        }
        #expect(notice.kind == .tagRecognized && notice.message.contains("reverse"))
        // Another source knows the order from the first address on, and says it no second time.
        var other = AdvertBatch(keepsAdverts: false, tags: directory)
        for number in UInt32(4)...6 {
            other.hear(Self.reception(AddressResolver(Self.key).address(random: number)), Self.other.span.bytes)
        }
        #expect(other.sightings.count == 3 && other.drainEvents().isEmpty)
        directory.tags = []
        #expect(directory.isReversed(Self.key.reversed) == nil, "a removed key is forgotten")
    }

    @Test("An iBeacon from a tag's address counts as both")
    func both() throws {
        var (batch, _) = Self.batch(Self.phone)
        let phone = try #require(Self.phone)
        let identity = BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4)
        let address = AddressResolver(Self.key).address(random: 7)
        let advert = IBeaconFrame(identity: identity, measuredPower: -59).advert
        batch.hear(Self.reception(address), advert.span.bytes)
        #expect(batch.sightings.map(\.identity) == [identity, phone.identity])
        batch.begin()
        // A gateway that has decoded the iBeacon does not know the kind of the address.
        batch.hear(
            Sighting(
                time: .zero, receiver: ReceiverID(0), address: DeviceAddress(bits: address.bits, kind: .unspecified),
                identity: identity, measuredPower: -59, rssi: SignalStrength(rawValue: -50)))
        #expect(batch.sightings.map(\.identity) == [identity, phone.identity])
        batch.begin()
        batch.hear(withoutBytes: Self.reception(address))
        #expect(batch.sightings.map(\.identity) == [phone.identity])
    }

    @Test("An iBeacon with a tag's UUID is dropped, counted and reported once an hour")
    func forged() throws {
        var (batch, directory) = Self.batch(Self.phone)
        let phone = try #require(Self.phone)
        let advert = IBeaconFrame(identity: phone.identity, measuredPower: -59).advert
        for second in Int64(0)..<3700 {
            batch.hear(
                Self.reception(DeviceAddress(bits: phone.address.bits, kind: .random), at: second), advert.span.bytes)
        }
        #expect(batch.sightings.isEmpty && directory.forgedCount == 3700)
        let reports = batch.drainEvents()
        #expect(reports.count == 2)
        for case .forged(let sighting, let tag) in reports {
            #expect(sighting.identity == phone.identity && sighting.receiver == ReceiverID(3) && tag == "phone")
        }
        // Another machine that has recognized the tag has its address as well. No iBeacon is made up for it.
        let sighting = Sighting(
            phone, time: .zero, receiver: ReceiverID(0), rssi: SignalStrength(rawValue: -70))
        batch.begin()
        batch.hear(sighting)
        #expect(batch.sightings == [sighting])
        batch.forEachAdvert { _, _ in Issue.record("an advert that no device sent") }
    }

    @Test("Fixed addresses, and tags that are added while the source runs")
    func fixedAndNew() throws {
        let address = try #require(DeviceAddress("f0:bb:cc:dd:ee:ff", kind: .publicIdentity))
        var (batch, directory) = Self.batch(nil)
        batch.hear(Self.reception(address), Self.other.span.bytes)
        let phone = AddressResolver(Self.key).address(random: 9)
        batch.hear(Self.reception(phone), Self.other.span.bytes)
        #expect(batch.sightings.isEmpty)
        let watch = try #require(
            DeviceTag(name: "watch", keys: [], fixedAddress: DeviceAddress(bits: address.bits, kind: .unspecified)))
        directory.tags = [watch]
        batch.begin()
        batch.hear(Self.reception(address), Self.other.span.bytes)
        batch.hear(Self.reception(phone), Self.other.span.bytes)
        #expect(batch.sightings.map(\.identity) == [watch.identity])
        directory.tags.append(try #require(Self.phone))
        batch.begin()
        batch.hear(Self.reception(phone), Self.other.span.bytes)
        #expect(batch.sightings.map(\.identity) == [Self.phone?.identity])
        directory.tags = []
        batch.begin()
        batch.hear(Self.reception(phone), Self.other.span.bytes)
        #expect(batch.sightings.isEmpty)
    }

    @Test("A crowd of addresses does not grow the memory, and tags are still recognized in it")
    func crowd() throws {
        var (batch, _) = Self.batch(Self.phone)
        var random = SplitMix64(seed: 7)
        let address = AddressResolver(Self.key).address(random: 1)
        for second in Int64(0)..<12_000 {
            batch.begin()
            batch.hear(
                Self.reception(DeviceAddress(bits: random.next() >> 18 | 1 << 46, kind: .random), at: second / 10),
                Self.other.span.bytes)
            batch.hear(Self.reception(address, at: second / 10), Self.other.span.bytes)
            #expect(batch.sightings.count == 1)
        }
    }
}
