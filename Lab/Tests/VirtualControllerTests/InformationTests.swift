import Testing
import VirtualController

/// The host's initial queries.
struct InformationTests {
    @Test func theAddressIsSentLastByteFirst() {
        var host = HostSide(.legacy)
        #expect(host.command(0x1009) == [0, 0x01, 0, 0, 0, 0xBE, 0x02])
    }

    @Test func aCommandMayArriveInPieces() {
        var host = HostSide(.legacy)
        for byte in [0x01, 0x09, 0x10, 0x00] as [UInt8] { host.controller.receive([byte], at: 0) }
        #expect(host.events().count == 1)
    }

    @Test func strayBytesAreSkipped() {
        var host = HostSide(.legacy)
        host.controller.receive([0x77, 0x00], at: 0)
        #expect(host.command(0x1009)?.first == 0)
    }

    /// The example of FIPS 197, appendix C.1; HCI reverses key, text and result.
    @Test func encryptsAsInTheStandard() {
        var host = HostSide(.legacy)
        let key = Array((0...15 as ClosedRange<UInt8>).reversed())
        let text = (0...15 as ClosedRange<UInt8>).reversed().map { $0 * 0x11 }
        let result: [UInt8] = [
            0x69, 0xC4, 0xE0, 0xD8, 0x6A, 0x7B, 0x04, 0x30, 0xD8, 0xCD, 0xB7, 0x80, 0x70, 0xB4, 0xC5, 0x5A,
        ]
        #expect(host.command(0x2017, key + text) == [0] + result.reversed())
    }

    @Test func onlyTheExtendedGenerationSupportsExtendedCommands() {
        var old = HostSide(.legacy)
        var new = HostSide(.extended)
        #expect(old.command(0x203B) == [0x01])
        #expect(new.command(0x203B) == [0, 4])
        // LE Set Extended Scan Enable in the mask of supported commands: octet 37, bit 6.
        #expect(old.command(0x1002)?[1 + 37] == 0)
        #expect((new.command(0x1002)?[1 + 37] ?? 0) & 1 << 6 != 0)
    }

    @Test func maskedEventsAreNotReported() {
        var host = HostSide(.legacy)
        host.command(0x0C03)
        _ = host.scan()
        host.controller.hear(.beacon(), rssi: -60)
        #expect(host.heard().isEmpty)
    }

    @Test func legacyAndExtendedCommandsDoNotMix() {
        var host = HostSide(.extended)
        #expect(host.scan() == 0)
        #expect(host.command(0x200C, [1, 0]) == [0x0C])
        host.command(0x0C03)
        #expect(host.command(0x200B, [0, 0x10, 0, 0x10, 0, 0, 0]) == [0])
    }
}
