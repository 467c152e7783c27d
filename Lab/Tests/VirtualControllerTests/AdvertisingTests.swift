import BeaconModel
import Testing
import VirtualController

/// The adverts of a controller.
struct AdvertisingTests {
    private let advert = AirPacket.beacon().data

    /// 100 ms, not connectable, with the public address.
    private func legacy() -> HostSide {
        var host = HostSide(.legacy)
        host.command(0x2006, [0xA0, 0, 0xA0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0])
        host.command(0x2008, [UInt8(advert.count)] + advert + [UInt8](repeating: 0, count: 31 - advert.count))
        return host
    }

    private func extended(form: UInt8 = 0x10, ownAddress: UInt8 = 0) -> HostSide {
        var host = HostSide(.extended)
        host.command(
            0x2036,
            [1, form, 0, 0xA0, 0, 0, 0xA0, 0, 0, 7, ownAddress, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 1, 0, 1, 0, 0])
        host.command(0x2037, [1, 3, 1, UInt8(advert.count)] + advert)
        return host
    }

    /// Advances time from deadline to deadline for this many seconds.
    private func play(_ controller: inout Controller, seconds: Int64) -> [(time: Int64, packet: AirPacket)] {
        var sent: [(Int64, AirPacket)] = []
        while let time = controller.deadline, time < seconds * 1_000_000_000 {
            sent += controller.advance(to: time).map { (time, $0) }
        }
        return sent
    }

    @Test func anAdvertIsSentAtItsIntervalPlusTheSpecifiedDelay() {
        var host = legacy()
        #expect(host.command(0x200A, [1]) == [0])
        let sent = play(&host.controller, seconds: 10)
        let gaps = zip(sent, sent.dropFirst()).map { $1.time - $0.time }
        #expect(gaps.allSatisfy { 100_000_000...110_000_000 ~= $0 })
        #expect(Set(gaps).count > 10)
        #expect(
            sent.first?.packet
                == AirPacket(form: .legacy, address: host.controller.configuration.address, data: advert))
    }

    @Test func aDisabledAdvertIsSilent() {
        var host = legacy()
        host.command(0x200A, [1])
        host.command(0x200A, [0])
        #expect(host.controller.deadline == nil)
        #expect(host.controller.advertisingCount == 0)
    }

    @Test func aResetEndsAdvertising() {
        var host = legacy()
        host.command(0x200A, [1])
        host.command(0x0C03)
        #expect(host.controller.advertisingCount == 0)
    }

    @Test func parametersCannotChangeDuringAdvertising() {
        var host = legacy()
        host.command(0x200A, [1])
        #expect(host.command(0x2006, [0xA0, 0, 0xA0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0]) == [0x0C])
        #expect(host.command(0x2005, [1, 2, 3, 4, 5, 0xC0]) == [0x0C])
    }

    @Test func aLegacyAdvertCommandNeedsAllItsBytes() {
        var host = HostSide(.legacy)
        #expect(host.command(0x2008, [UInt8(advert.count)] + advert) == [0x12])
    }

    @Test func aRandomAddressMustBeSetBeforeUse() {
        var host = extended(ownAddress: 1)
        #expect(host.command(0x2039, [1, 1, 1, 0, 0, 0]) == [0x12])
        host.command(0x2035, [1, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0])
        #expect(host.command(0x2039, [1, 1, 1, 0, 0, 0]) == [0])
        #expect(host.controller.advance(to: 0).first?.address == DeviceAddress(bits: 0xC011_2233_4455, kind: .random))
    }

    @Test func aSetEndsAfterItsDurationOrItsNumberOfAdverts() {
        var timed = extended()
        timed.command(0x2039, [1, 1, 1, 100, 0, 0])
        #expect(10...11 ~= play(&timed.controller, seconds: 5).count)
        #expect(timed.events().first?.prefix(5) == [0x3E, 6, 0x12, 0x3C, 1])
        var counted = extended()
        counted.command(0x2039, [1, 1, 1, 0, 0, 3])
        #expect(play(&counted.controller, seconds: 5).count == 3)
        #expect(counted.events().first?.prefix(5) == [0x3E, 6, 0x12, 0x43, 1])
    }

    @Test func aRunningSetCannotBeRemoved() {
        var host = extended()
        host.command(0x2039, [1, 1, 1, 0, 0, 0])
        #expect(host.command(0x203C, [1]) == [0x0C])
        #expect(host.command(0x203D) == [0x0C])
        host.command(0x2039, [0, 0])
        #expect(host.command(0x203D) == [0])
    }

    @Test func aMissingSetIsUnknown() {
        var host = HostSide(.extended)
        #expect(host.command(0x2039, [1, 1, 9, 0, 0, 0]) == [0x42])
        #expect(host.command(0x203C, [9]) == [0x42])
    }

    @Test func aLongAdvertIsSetInPieces() {
        var host = extended(form: 0)
        host.command(0x2037, [1, 1, 1, 100] + [UInt8](repeating: 1, count: 100))
        host.command(0x2037, [1, 2, 1, 100] + [UInt8](repeating: 2, count: 100))
        host.command(0x2039, [1, 1, 1, 0, 0, 0])
        #expect(host.controller.advance(to: 0).first?.data.count == 200)
    }

    @Test func aLegacyAdvertIsLimitedTo31Bytes() {
        var host = extended()
        #expect(host.command(0x2037, [1, 3, 1, 32] + [UInt8](repeating: 1, count: 32)) == [0x12])
    }
}
