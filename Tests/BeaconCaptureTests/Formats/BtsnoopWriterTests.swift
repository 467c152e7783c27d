import BeaconCapture
import BeaconModel
import BeaconRadio
import Testing

@Suite("Writing of btsnoop")
struct BtsnoopWriterTests {
    /// Writes, reads back, and compares kinds, addresses, signals and adverts.
    private func roundTrip(_ heard: [(Reception, [UInt8])], receivers: [String]) throws -> Reading {
        var bytes: [UInt8] = []
        var writer = BtsnoopWriter()
        writer.appendHeader(to: &bytes)
        for (reception, advert) in heard {
            writer.append(reception, advert: advert.span.bytes, receivers: receivers, to: &bytes)
        }
        let reading = try Reading(bytes)
        #expect(reading.format == .btsnoop)
        #expect(reading.error == nil)
        #expect(reading.heard.map(\.advert) == heard.map(\.1))
        #expect(reading.heard.map(\.address.bits) == heard.map(\.0.report.address.bits))
        #expect(reading.heard.map(\.rssi) == heard.map(\.0.report.rssi.dBm))
        return reading
    }

    private func reception(
        microseconds: Int64 = 0, receiver: UInt16 = 0, kind: AdvertisingReport.Kind = .nonConnectable,
        address: DeviceAddress.Kind = .random, rssi: Int8 = -59
    ) -> Reception {
        Reception(
            time: Timestamp(nanoseconds: microseconds * 1000), receiver: ReceiverID(receiver),
            report: AdvertisingReport(
                kind: kind, address: DeviceAddress(bits: 0xC1B2_A394_8576, kind: address),
                rssi: SignalStrength(rawValue: rssi)))
    }

    private let advert = Advert.samples[0].frame.advert

    @Test("Kinds, address kinds, signals and times are preserved")
    func reports() throws {
        var heard: [(Reception, [UInt8])] = []
        for (index, kind) in [
            AdvertisingReport.Kind.connectable, .directed, .scannable, .nonConnectable, .scanResponse, .extended,
        ].enumerated() {
            heard.append((reception(microseconds: 1_700_000_000_123_456 + Int64(index), kind: kind), advert))
        }
        for address in DeviceAddress.Kind.allCases { heard.append((reception(address: address), advert)) }
        for rssi in [Int8.min, -1, 0, 20, 127] { heard.append((reception(rssi: rssi), [])) }
        let reading = try roundTrip(heard, receivers: ["hci0"])
        #expect(reading.heard.map(\.kind) == heard.map(\.0.report.kind))
        #expect(reading.heard.map(\.time) == heard.map(\.0.time?.nanoseconds))
        let kinds = heard.map(\.0.report.address.kind).map { $0 == .unspecified ? .public : $0 }
        #expect(reading.heard.map(\.address.kind) == kinds)
    }

    @Test("A reception without time becomes 1970, nanoseconds become microseconds")
    func times() throws {
        var none = reception()
        none.time = nil
        var fine = reception()
        fine.time = Timestamp(nanoseconds: 1_999)
        var latest = reception()
        latest.time = .latest
        let reading = try roundTrip([(none, advert), (fine, advert), (latest, advert)], receivers: ["hci0"])
        let expected = [0, 1000, Timestamp.latest.nanoseconds / 1000 * 1000]
        #expect(reading.heard.map(\.time) == expected)
    }

    @Test("Receivers keep the first eight bytes of their names")
    func receivers() throws {
        let names = ["hci0", "Room201", "exhibition hall", "Küche"]
        let heard = [2, 0, 3, 1, 2].map { (reception(receiver: $0), advert) }
        let reading = try roundTrip(heard, receivers: names)
        #expect(reading.heard.map(\.receiver) == ["exhibiti", "hci0", "Küche", "Room201", "exhibiti"])
    }

    @Test("Adverts of any length are preserved, in fragments if necessary")
    func lengths() throws {
        for kind in [AdvertisingReport.Kind.nonConnectable, .extended] {
            let heard = [0, 1, 30, 31, 32, 228, 229, 230, 458, 459, 1650].map { count in
                (reception(kind: kind), (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            }
            let reading = try roundTrip(heard, receivers: ["hci0"])
            #expect(reading.heard.map(\.kind) == heard.map { $0.1.count > 31 ? .extended : kind })
        }
    }
}
