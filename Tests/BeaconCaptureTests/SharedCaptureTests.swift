import BeaconCapture
import BeaconModel
import BeaconRadio
import Foundation
import TestSupport
import Testing

@Suite("Recorded captures", .enabled(if: SharedData.isThere, "../shared/data is not there"))
struct SharedCaptureTests {
    private struct Expected: Decodable {
        var packets: Int
        var iBeaconFrames: Int
        var identities: Int?
        var advertisingReports: Int?
        var byKind: [String: Int]?
    }

    private static let names = [
        "nrf52_capture_0", "nrf52_capture_135", "nrf52_capture_270", "ubertooth_capture_0", "ubertooth_capture_90",
        "ubertooth_capture_180",
    ]

    private func expected(_ name: String) throws -> Expected {
        let json = try Data(contentsOf: SharedData.folder.appending(path: "captures/expected.json"))
        return try #require(try JSONDecoder().decode([String: Expected].self, from: json)[name])
    }

    private func reading(_ name: String) throws -> Reading {
        try Reading(path: SharedData.folder.appending(path: "captures/\(name)").path)
    }

    @Test("Captures of sniffers have the documented content", arguments: names)
    func sniffers(name: String) throws {
        let expected = try expected(name + ".pcapng")
        let reading = try reading(name + ".pcapng")
        let kinds = try #require(expected.byKind)
        let badCRC = kinds.filter { $0.key.hasSuffix("-badcrc") }.map(\.value).reduce(0, +)
        #expect(reading.error == nil)
        #expect(reading.format == .pcapng)
        #expect(reading.counts.packets == expected.packets)
        #expect(reading.counts.reports == expected.advertisingReports)
        #expect(reading.counts.badCRC == badCRC)
        #expect(reading.heard.filter { !$0.isDamaged && $0.frame != nil }.count == expected.iBeaconFrames)
        let numbers: [(Character, AdvertisingReport.Kind)] = [
            ("0", .connectable), ("2", .nonConnectable), ("4", .scanResponse), ("6", .scannable),
        ]
        for (number, kind) in numbers {
            let count = kinds.filter { $0.key.contains("-adv\(number)") }.map(\.value).reduce(0, +)
            #expect(reading.heard.filter { $0.kind == kind }.count == count, "PDU type \(number)")
        }
    }

    @Test("Captures of hcidump have the documented content")
    func hcidump() throws {
        let expected = try expected("hcidump.txt")
        let reading = try reading("hcidump.txt")
        let frames = reading.heard.compactMap(\.frame)
        #expect(reading.error == nil)
        // The expected number includes the tool's header as a packet.
        #expect(reading.counts.packets == expected.packets - 1)
        #expect(frames.count == expected.iBeaconFrames)
        #expect(Set(frames.map(\.identity)).count == expected.identities)
        #expect(reading.records.allSatisfy { $0 == nil })
    }
}
