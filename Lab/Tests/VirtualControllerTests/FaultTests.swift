import Testing
import VirtualController

/// Controllers that something is wrong with.
struct FaultTests {
    @Test func aSilentControllerObeysAndReportsNothing() {
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

    @Test func itRefusesToScanAsOftenAsItWasTold() {
        var host = HostSide(.legacy)
        host.controller.fault.refusals = 1
        host.controller.fault.refusal = Status(rawValue: 0x0D)
        #expect(host.scan() == 0x0D)
        #expect(host.scan() == 0)
    }

    @Test func aScanThatEndedCanBeBegunAnew() {
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
