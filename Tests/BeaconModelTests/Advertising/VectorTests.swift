import BeaconModel
import Foundation
import TestSupport
import Testing

@Suite("Vectors from public tests")
struct VectorTests {
    private struct Vector: Decodable {
        var kind: String
        var hex: String
        var note: String
        var expect: Frame?
        var reports: [Report]?
    }

    private struct Frame: Decodable, Hashable {
        var uuid: String
        var major: UInt16
        var minor: UInt16
        var measuredPower: Int8
    }

    private struct Report: Decodable {
        var rssi: Int8
        var addr: String
        var adv: String
        var expect: Frame?
    }

    @Test("Each vector decodes to its expected value", .enabled(if: SharedData.isThere, "../shared/data is not there"))
    func vectors() throws {
        let json = try Data(contentsOf: SharedData.folder.appending(path: "vectors.json"))
        let vectors = try JSONDecoder().decode([Vector].self, from: json)
        #expect(vectors.count == 30)
        for vector in vectors {
            let data = try bytes(vector.hex)
            switch vector.kind {
            case "adv":
                #expect(decoded(data) == vector.expect, "\(vector.hex) \(vector.note)")
            case "mfr":
                // The manufacturer's data alone, as some libraries pass it.
                let advert = [UInt8(data.count + 1), 0xFF] + data
                #expect(decoded(advert) == vector.expect, "\(vector.hex) \(vector.note)")
            case "hci":
                #expect(data.first == 4, "an H4 event")
                let found = reports(of: Array(data.dropFirst()))
                let expected = try #require(vector.reports)
                #expect(found.count == expected.count)
                for (heard, report) in zip(found, expected) {
                    #expect(heard.report.kind == .connectable)
                    #expect(heard.report.rssi.dBm == report.rssi)
                    #expect(heard.report.address.description == report.addr)
                    #expect(try heard.advert == bytes(report.adv))
                    #expect(decoded(heard.advert) == report.expect)
                }
            default:
                Issue.record("a vector of unknown kind \(vector.kind)")
            }
        }
    }

    private func decoded(_ advert: [UInt8]) -> Frame? {
        frame(in: advert).map { frame in
            Frame(
                uuid: frame.identity.uuid.description, major: frame.identity.major, minor: frame.identity.minor,
                measuredPower: frame.measuredPower)
        }
    }
}
