import BeaconModel
import Testing
import VirtualController

/// The reports of a scanning controller to its host.
struct ScanningTests {
    /// The product's decoder reads the controller's output.
    @Test(arguments: ControllerGeneration.allCases)
    func reportsContainTheReceivedAdvert(generation: ControllerGeneration) throws {
        var host = HostSide(generation)
        #expect(host.scan() == 0)
        let packet = AirPacket.beacon()
        host.controller.hear(packet, rssi: -67)
        let event = try #require(host.events().first)
        var cursor = HCIAdvertisingReportCursor(event: event.span.bytes)
        let next = cursor.next(in: event.span.bytes)
        let report = try #require(next)
        #expect(
            report.report
                == AdvertisingReport(
                    kind: .nonConnectable, address: packet.address, rssi: SignalStrength(rawValue: -67)))
        #expect(Array(event[report.offset..<report.offset + report.count]) == packet.data)
    }

    @Test(arguments: ControllerGeneration.allCases)
    func withoutTheFilterEachAdvertIsReported(generation: ControllerGeneration) {
        var host = HostSide(generation)
        _ = host.scan()
        for _ in 0..<5 { host.controller.hear(.beacon(), rssi: -60) }
        #expect(host.heard().count == 5)
    }

    @Test func theFilterDropsDuplicatesByItsRule() {
        func heard(_ rule: DuplicateRule) -> Int {
            var host = HostSide(.legacy, duplicates: rule)
            _ = host.scan(filter: 1)
            for rssi in [-60, -60, -61] as [Int8] { host.controller.hear(.beacon(), rssi: rssi) }
            host.controller.hear(.beacon(address: 0xC011_2233_4466), rssi: -60)
            return host.heard().count
        }
        #expect(heard(.device) == 2)
        #expect(heard(.data) == 2)
        #expect(heard(.signal) == 3)
        #expect(heard(.never) == 4)
    }

    @Test func anotherScanForgetsDuplicates() {
        var host = HostSide(.legacy)
        _ = host.scan(filter: 1)
        host.controller.hear(.beacon(), rssi: -60)
        host.command(0x200C, [0, 0])
        host.command(0x200C, [1, 1])
        host.controller.hear(.beacon(), rssi: -60)
        #expect(host.heard().count == 1)
    }

    @Test func onlyAnActiveScanReceivesScanResponses() {
        let packet = AirPacket.beacon(kind: .connectable, scanResponse: [2, 0x0A, 0])
        var passive = HostSide(.legacy)
        _ = passive.scan()
        passive.controller.hear(packet, rssi: -60)
        #expect(passive.heard().count == 1)
        var active = HostSide(.legacy)
        _ = active.scan(isActive: true)
        active.controller.hear(packet, rssi: -60)
        active.controller.hear(.beacon(), rssi: -60)
        #expect(active.heard().count == 3)
    }

    @Test func theAcceptListLimitsAScan() {
        var host = HostSide(.legacy)
        host.command(0x2011, [1, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0])
        host.command(0x200B, [0, 0x10, 0, 0x10, 0, 0, 1])
        host.command(0x200C, [1, 0])
        host.controller.hear(.beacon(), rssi: -60)
        host.controller.hear(.beacon(address: 0xC011_2233_4466), rssi: -61)
        #expect(host.heard() == [-60])
    }

    @Test func parametersCannotChangeDuringAScan() {
        var host = HostSide(.legacy)
        _ = host.scan()
        #expect(host.command(0x200B, [0, 0x10, 0, 0x10, 0, 0, 0]) == [0x0C])
    }

    @Test func aWindowCannotExceedItsInterval() {
        var host = HostSide(.legacy)
        #expect(host.command(0x200B, [0, 0x10, 0, 0x11, 0, 0, 0]) == [0x12])
    }

    @Test func anExtendedScanEndsByItself() {
        var host = HostSide(.extended)
        host.command(0x2041, [0, 0, 1, 0, 0x10, 0, 0x10, 0])
        host.command(0x2042, [1, 0, 100, 0, 0, 0])
        #expect(host.controller.deadline == 1_000_000_000)
        _ = host.controller.advance(to: 1_000_000_000)
        #expect(host.events() == [[0x3E, 1, 0x11]])
        #expect(!host.controller.isScanning)
    }

    @Test func onlyExtendedScansReceiveExtendedAdverts() throws {
        let long = AirPacket(
            form: [], address: DeviceAddress(bits: 1, kind: .random), data: [UInt8](repeating: 7, count: 250))
        var old = HostSide(.legacy)
        _ = old.scan()
        old.controller.hear(long, rssi: -60)
        #expect(old.heard().isEmpty)
        var new = HostSide(.extended)
        _ = new.scan()
        new.controller.hear(long, rssi: -60)
        // Each event holds 229 bytes, so the advert arrives in two.
        let pieces = new.events().map { event in
            var cursor = HCIAdvertisingReportCursor(event: event.span.bytes)
            return cursor.next(in: event.span.bytes)
        }
        #expect(pieces.map { $0?.count } == [229, 21])
        #expect(pieces.map { $0?.completeness } == [.moreToCome, .complete])
    }

    @Test func unreadAdvertsAreLostAndCounted() {
        var host = HostSide(.legacy)
        _ = host.scan()
        while host.controller.counters.overruns == 0 { host.controller.hear(.beacon(), rssi: -60) }
        #expect(host.controller.output.count < host.controller.configuration.outputLimit + 64)
        #expect(host.heard().count == host.controller.counters.reports)
    }
}
