import BeaconModel
import BeaconRadio
import Glibc
import Testing

@testable import LinuxRadio

struct PowerSessionTests {
    @Test("An adapter that is off is switched on")
    func anAdapterThatIsOffIsSwitchedOn() {
        var bench = SessionBench()
        bench.session.scan(.always, at: bench.now)
        bench.session.begin(isOn: false, at: bench.now)
        bench.settle()
        #expect(bench.powerChanges == [.on])
        #expect(bench.session.state == .poweredOn && bench.controller.isScanning)
    }

    @Test("An adapter that other software switches off is used again once it is on")
    func anAdapterSwitchedOffByOthersIsUsedAgainOnceItIsOn() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.forgetNotices()
        bench.controller.reset()
        bench.session.wentOff(isBlocked: false, at: bench.now)
        bench.settle()
        #expect(bench.session.state == .poweredOff && bench.kinds == [.adapterLost])
        bench.wait(600)
        #expect(bench.powerChanges.isEmpty, "it was switched off on purpose")
        bench.session.cameOn(at: bench.now)
        bench.settle()
        #expect(bench.session.state == .poweredOn && bench.controller.isScanning)
    }

    @Test("A blocked radio is used again once it is unblocked")
    func aBlockedRadioIsUsedAgainOnceItIsUnblocked() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.forgetNotices()
        bench.controller.reset()
        bench.powerFailure = HCISystemError(ERFKILL)
        bench.session.wentOff(isBlocked: true, at: bench.now)
        bench.settle()
        bench.wait(60)
        #expect(bench.session.state == .poweredOff)
        #expect(bench.notices.count == 1 && bench.notices.first?.message.contains("rfkill unblock") == true)
        bench.powerFailure = nil
        bench.wait(11)
        #expect(bench.session.state == .poweredOn && bench.controller.isScanning)
    }

    @Test("A missing permission to switch on is reported")
    func aMissingPermissionToSwitchOnIsReported() {
        var bench = SessionBench()
        bench.powerFailure = HCISystemError(EPERM)
        bench.session.begin(isOn: false, at: bench.now)
        bench.settle()
        #expect(bench.session.state == .unauthorized)
        #expect(bench.notices.first?.message.contains("setcap") == true)
        // Other software switches it on.
        bench.session.cameOn(at: bench.now)
        bench.settle()
        #expect(bench.session.state == .poweredOn)
    }

    @Test("An adapter that is removed and returns is used again")
    func anAdapterThatReturnsIsUsedAgain() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.advertise([SessionBench.frame])
        bench.session.adapterRemoved()
        bench.session.adapterRemoved()
        bench.settle()
        bench.wait(10)
        #expect(bench.session.state == .poweredOff)
        #expect(bench.kinds.count { $0 == .adapterLost } == 1)
        bench.controller.reset()
        bench.session.begin(isOn: false, at: bench.now)
        bench.settle()
        #expect(bench.session.state == .poweredOn)
        #expect(bench.controller.isScanning && bench.controller.onAir.count == 1)
    }

    @Test("An adapter without Low Energy is unsupported")
    func anAdapterWithoutLowEnergyIsUnsupported() {
        var controller = VirtualController()
        controller.refusals[.readLEFeatures] = .unknownCommand
        var bench = SessionBench.working(controller)
        bench.scan(.ranging)
        #expect(bench.session.state == .unsupported)
        #expect(bench.kinds == [.adapterLost])
    }

    @Test("A controller that never answers is switched less and less often")
    func aControllerThatNeverAnswersIsSwitchedLessAndLessOften() {
        var bench = SessionBench.working(VirtualController(isSilent: true))
        bench.powerFailure = HCISystemError(ETIMEDOUT)
        bench.wait(3600)
        #expect(bench.session.state == .resetting)
        #expect((14...22).contains(bench.powerChanges.count), "\(bench.powerChanges.count)")
    }

    @Test("A hardware error switches the adapter off and on")
    func aHardwareErrorSwitchesTheAdapterOffAndOn() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.session.receive(event: [HCIEventCode.hardwareError, 1, 0x42].span.bytes, at: bench.now)
        bench.settle()
        bench.wait(2)
        #expect(bench.powerChanges == [.cycle] && bench.controller.isScanning)
    }

    @Test("A stopped process causes no time-out of a command")
    func aStoppedProcessCausesNoTimeOut() {
        var bench = SessionBench()
        bench.session.begin(isOn: true, at: bench.now)
        // The answer had arrived, but the process was stopped for a minute before it could read it.
        var answers: [[UInt8]] = []
        for case .send(let command) in bench.session.drainSteps() {
            if let event = bench.controller.receive(command) { answers.append(event) }
        }
        let late = bench.now.advanced(by: 60_000_000_000)
        for answer in answers { bench.session.receive(event: answer.span.bytes, at: late) }
        bench.session.advance(to: late)
        bench.settle()
        #expect(bench.session.state == .poweredOn && bench.powerChanges.isEmpty)
    }
}
