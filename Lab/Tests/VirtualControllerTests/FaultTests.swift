import Testing
import VirtualController

/// Controllers with faults.
struct FaultTests {
    @Test func aSilentControllerObeysButReportsNothing() {
        var host = HostSide(.legacy)
        _ = host.scan()
        host.controller.fault.isSilent = true
        host.controller.hear(.beacon(), rssi: -60)
        #expect(host.heard().isEmpty)
        #expect(host.command(0x200C, [0, 0]) == [0])
    }

    @Test func aDeadControllerDoesNotAnswer() {
        var host = HostSide(.legacy)
        host.controller.fault.isDead = true
        #expect(host.command(0x1009) == nil)
        host.controller.fault = ControllerFault()
        #expect(host.command(0x1009)?.first == 0)
    }

    @Test(
        arguments: [[0x01], [0x02, 0x00], [0x02, 1, 2, 0xFF, 0xFF, 9], [0x04, 0x3E, 0x29, 2], [0x01, 0x03, 0x0C]]
            as [[UInt8]])
    func aResetEndsAnIncompletePacket(beginning: [UInt8]) {
        var host = HostSide(.legacy)
        _ = host.scan()
        host.controller.receive(beginning, at: 0)
        // The host repeats its first command until it gets an answer.
        let answers = (0..<5).compactMap { _ in host.command(0x0C03) }
        #expect(answers.count >= 4 && answers.last == [0])
        #expect(host.command(0x1009)?.first == 0)
    }

    @Test func itRefusesToScanTheGivenNumberOfTimes() {
        var host = HostSide(.legacy)
        host.controller.fault.refusals = 1
        host.controller.fault.refusal = Status(rawValue: 0x0D)
        #expect(host.scan() == 0x0D)
        #expect(host.scan() == 0)
    }

    @Test func anEndedScanCanBeRestarted() {
        var host = HostSide(.legacy)
        _ = host.scan()
        host.controller.endScan()
        #expect(!host.controller.isScanning)
        #expect(host.scan() == 0)
        #expect(host.controller.isScanning)
    }

    @Test func aPowerCycleForgetsEverything() {
        var host = HostSide(.legacy)
        _ = host.scan()
        host.controller.fault.isSilent = true
        host.controller.powerCycle()
        #expect(!host.controller.isScanning)
        #expect(host.controller.fault == ControllerFault())
    }
}
