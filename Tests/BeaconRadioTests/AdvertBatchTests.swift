import BeaconModel
import BeaconRadio
import BeaconSupport
import Testing

@Suite("A batch of adverts")
struct AdvertBatchTests {
    private static func sighting(using random: inout SplitMix64) -> Sighting {
        Sighting(
            time: Timestamp(nanoseconds: Int64.random(in: 0...(1 << 60), using: &random)),
            receiver: ReceiverID(UInt16.random(in: 0..<200, using: &random)),
            address: DeviceAddress(bits: random.next(), kind: .random),
            identity: BeaconIdentity(
                uuid: ProximityUUID(high: random.next(), low: random.next()),
                major: UInt16.random(in: 0...(.max), using: &random),
                minor: UInt16.random(in: 0...(.max), using: &random)),
            measuredPower: Int8.random(in: .min ... .max, using: &random),
            rssi: SignalStrength(rawValue: Int8.random(in: .min ... .max, using: &random)))
    }

    @Test("A decoded iBeacon gives the same sighting and the same bytes as its advert")
    func decoded() {
        let seed: UInt64 = 26_11
        var random = SplitMix64(seed: seed)
        for _ in 0..<1000 {
            let sighting = Self.sighting(using: &random)
            let frame = IBeaconFrame(identity: sighting.identity, measuredPower: sighting.measuredPower)
            let reception = Reception(
                time: sighting.time, receiver: sighting.receiver,
                report: AdvertisingReport(kind: .nonConnectable, address: sighting.address, rssi: sighting.rssi))
            let advert = frame.advert
            var (decoded, bytes) = (AdvertBatch(keepsAdverts: true), AdvertBatch(keepsAdverts: true))
            decoded.hear(sighting)
            bytes.hear(reception, advert.span.bytes)
            #expect(decoded.sightings == [sighting] && bytes.sightings == [sighting], "seed \(seed)")
            #expect(decoded.counts == bytes.counts)
            for batch in [decoded, bytes] {
                var kept = 0
                batch.forEachAdvert {
                    #expect($0 == reception && $1.withUnsafeBytes { Array($0) } == advert, "seed \(seed)")
                    kept += 1
                }
                #expect(kept == 1)
            }
        }
    }

    @Test("A new batch has no adverts, but keeps the counts and the pending events")
    func begin() {
        var random = SplitMix64(seed: 1)
        var batch = AdvertBatch(keepsAdverts: true)
        batch.hear(Self.sighting(using: &random), isTimed: false)
        batch.forEachAdvert { reception, _ in #expect(reception.time == nil) }
        batch.report(.state(.poweredOn))
        batch.begin()
        #expect(batch.sightings.isEmpty && batch.counts.reports == 1)
        batch.forEachAdvert { _, _ in Issue.record("an earlier advert") }
        #expect(batch.drainEvents().count == 1)
        #expect(batch.drainEvents().isEmpty)
    }

    @Test("A damaged advert is counted and kept, but is not an iBeacon")
    func damaged() {
        var batch = AdvertBatch(keepsAdverts: true)
        let advert = IBeaconFrame(
            identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: 1), measuredPower: -59
        )
        .advert
        let report = AdvertisingReport(
            kind: .nonConnectable, address: DeviceAddress(bits: 1, kind: .random), rssi: .unavailable)
        batch.hear(Reception(time: nil, receiver: ReceiverID(0), report: report, isDamaged: true), advert.span.bytes)
        #expect(batch.sightings.isEmpty && batch.counts.reports == 1)
    }
}
