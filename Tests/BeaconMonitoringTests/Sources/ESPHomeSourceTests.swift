import BeaconMonitoring
import BeaconSupport
import Testing

@testable import BeaconReceivers

@Suite("ESPHome proxies as a source")
struct ESPHomeSourceTests {
    @Test("A source names devices, or uses all that are found")
    func texts() throws {
        let all = try #require(ESPHomeSource("esphome", environment: [:]))
        #expect(all.nodes.isEmpty && !all.mayTake && all.key == nil && all.title == "esphome")
        let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let some = try #require(
            ESPHomeSource("esphome:hall.local,10.0.0.7:6054,[fe80::1]:7?take", environment: ["BEACON_ESPHOME_KEY": key])
        )
        #expect(some.nodes.map(\.host) == ["hall.local", "10.0.0.7", "fe80::1"])
        #expect(some.nodes.map(\.port) == [6053, 6054, 7])
        #expect(some.mayTake && some.mistakes().isEmpty && some.title == "hall.local,10.0.0.7,fe80::1")
        #expect(some.key.flatMap(ESPHomeSource.bytes(of:)) == (0..<32).map { UInt8($0) })
        #expect(!"\(some)".contains(key))
        #expect(ESPHomeSource("esphome://hall.local", environment: [:])?.nodes.map(\.host) == ["hall.local"])
        #expect(ESPHomeSource("esphome.pcap", environment: [:]) == nil)
        let specification = SourceSpecification("esphome:hall.local")
        #expect(specification.isRadio && specification.hasReceivers && !specification.canSend)
    }

    @Test("Errors include the remedy")
    func mistakes() throws {
        let port = try #require(ESPHomeSource("esphome:a:0,b:x", environment: [:])).mistakes()
        #expect(port.count == 2 && port.allSatisfy { $0.contains("write a number from 1 to 65535") })
        let key = try #require(ESPHomeSource("esphome", environment: ["BEACON_ESPHOME_KEY": "AAEC"])).mistakes()
        #expect(key.first?.contains("32 bytes as base64") == true)
        #expect(throws: (any Error).self) { try SourceSpecification("esphome:a:0").validate() }
    }
}
