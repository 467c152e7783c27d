import BeaconModel
import BeaconRadio
import Glibc
import Testing

@testable import LinuxRadio

struct HCIDriverTests {
    private static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    private static let foreign = ProximityUUID(high: 1, low: 1)

    @Test("No advert is lost in a minute in a large crowd")
    func noAdvertIsLostInALargeCrowd() throws {
        // 2 000 adverts a second for 60 s, as fast as the driver reads them.
        let count = 120_000
        var bench = try DriverBench(.ranging, sending: count) {
            Packets.legacy(Packets.beacon(Self.uuid, minor: UInt16($0 & 0xFFFF)), rssi: Int8(-($0 >> 16) - 1))
        }
        var heard = 0
        var lastTime = Timestamp.zero
        var isInOrder = true
        try bench.pull(until: { heard == count }) { reception, advert in
            let frame = IBeaconFrame(advert: advert)
            isInOrder =
                isInOrder && frame?.identity.minor == UInt16(heard & 0xFFFF)
                && reception.report.rssi.rawValue == Int8(-(heard >> 16) - 1) && reception.time ?? .zero >= lastTime
            lastTime = reception.time ?? .zero
            heard += 1
        }
        let notices = bench.notices
        #expect(heard == count, "\(notices)")
        #expect(isInOrder)
    }

    @Test("Times come from the kernel")
    func timesComeFromTheKernel() throws {
        let before = RadioClock.now()
        var bench = try DriverBench(.ranging, sending: 1) { _ in Packets.legacy(Packets.beacon(Self.uuid)) }
        var time: Timestamp?
        try bench.pull(until: { time != nil }) { reception, _ in time = reception.time }
        let heard = try #require(time)
        #expect(heard >= before && heard <= RadioClock.now())
    }

    @Test("An extended advert in pieces becomes one")
    func anExtendedAdvertInPiecesBecomesOne() throws {
        let advert: [UInt8] = [200] + [UInt8](repeating: 0x16, count: 200) + Packets.beacon(Self.uuid)
        var bench = try DriverBench(.ranging, VirtualController(isExtended: true), sending: 3) { number in
            let cuts = [0, 100, 210, advert.count]
            return Packets.extended(Array(advert[cuts[number]..<cuts[number + 1]]), type: number == 2 ? 0x00 : 0x20)
        }
        var heard: [[UInt8]] = []
        try bench.pull(until: { !heard.isEmpty }) { _, advert in
            heard.append(advert.withUnsafeBytes(Array.init))
        }
        #expect(heard == [advert])
    }

    @Test("Several adverts in one event are all heard")
    func severalAdvertsInOneEventAreAllHeard() throws {
        var bench = try DriverBench(.ranging, sending: 1) { _ in
            Packets.several([Packets.beacon(Self.uuid, minor: 1), [2, 1, 6], Packets.beacon(Self.uuid, minor: 2)])
        }
        var heard = 0
        try bench.pull(until: { heard == 3 }) { _, _ in heard += 1 }
        #expect(heard == 3)
    }

    @Test("While monitoring, foreign adverts stay in the kernel")
    func whileMonitoringForeignAdvertsStayInTheKernel() throws {
        var bench = try DriverBench(.monitoring([Self.uuid]), sending: 2001) {
            Packets.legacy(Packets.beacon($0 == 2000 ? Self.uuid : Self.foreign))
        }
        var heard: [ProximityUUID?] = []
        try bench.pull(until: { !heard.isEmpty }) { _, advert in
            heard.append(IBeaconFrame(advert: advert)?.identity.uuid)
        }
        #expect(heard == [Self.uuid])
        #expect(bench.notices.contains { $0.kind == .filtering })
    }

    @Test("The scan ends with the source")
    func theScanEndsWithTheSource() throws {
        let adapter: SocketAdapter
        do {
            var bench = try DriverBench(.ranging, sending: 100, packet: { _ in Packets.legacy([2, 1, 6]) }) {
                controller in
                controller.received.contains(.setScanEnable(true, isExtended: false)) && !controller.isScanning
            }
            var heard = 0
            try bench.pull(until: { heard == 100 }) { _, _ in heard += 1 }
            adapter = bench.adapter
        }
        #expect(adapter.wait())
    }

    @Test("Advertising ends with the source")
    func advertisingEndsWithTheSource() throws {
        let adapter: SocketAdapter
        do {
            var bench = try DriverBench(
                .off, VirtualController(isExtended: true),
                until: { controller in
                    controller.received.contains(.setExtendedAdvertisingEnable(true, set: 0xEF))
                        && controller.onAir.isEmpty
                })
            let identity = BeaconIdentity(uuid: Self.uuid, major: 1, minor: 2)
            bench.source.advertise([OutgoingAdvert(IBeaconFrame(identity: identity, measuredPower: -59))])
            let reported = bench.reported
            try bench.pull(until: { DriverBench.hasBegunToSend(reported) }) { _, _ in }
            adapter = bench.adapter
        }
        #expect(adapter.wait())
    }
}
