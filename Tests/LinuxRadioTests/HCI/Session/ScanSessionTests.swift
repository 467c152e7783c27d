import BeaconModel
import BeaconRadio
import Glibc
import Testing

@testable import LinuxRadio

struct ScanSessionTests {
    @Test("A session scans passively, with every advert reported", arguments: [false, true])
    func aSessionScansPassively(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.scan(.ranging)
        #expect(bench.session.state == .poweredOn)
        #expect(bench.controller.isScanning && !bench.controller.isActive && !bench.controller.filtersDuplicates)
        #expect(bench.controller.window == 0x61)
        let isSentExtended = bench.controller.received.contains { $0.opcode == .setExtendedScanEnable }
        #expect(isSentExtended == isExtended)
        bench.scan(.monitoring([]))
        #expect(bench.controller.isScanning && bench.controller.window == 0x31)
        bench.scan(.off)
        #expect(!bench.controller.isScanning)
    }

    @Test("A search for devices sends scan requests with a random address", arguments: [false, true])
    func discovery(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.scan(.ranging)
        bench.scan(.discovery)
        #expect(bench.controller.isScanning && bench.controller.isActive && bench.controller.window == 0x61)
        // Not resolvable: the two highest bits are zero (Core Specification 5.3, Vol 6, Part B, 1.3.2.2).
        #expect(bench.controller.randomAddress.count == 6)
        #expect(bench.controller.randomAddress.last.map { $0 & 0xC0 } == 0)
        bench.scan(.ranging)
        #expect(bench.controller.isScanning && !bench.controller.isActive)
        bench.scan(.off)
        #expect(!bench.controller.isScanning)
        #expect(bench.notices.allSatisfy { $0.kind != .commandFailed })
    }

    @Test("A search for devices while advertising uses the adverts' address", arguments: [false, true])
    func discoveryBesideAdverts(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.advertise([SessionBench.frame])
        bench.scan(.discovery)
        #expect(bench.controller.isActive && bench.controller.isScanning)
        #expect(bench.controller.onAir.values.map { $0 } == [SessionBench.frame.advert])
        #expect(bench.notices.allSatisfy { $0.kind != .commandFailed })
    }

    @Test(
        "Devices are found even if other software scans or advertises with the adapter's address",
        arguments: [false, true], [false, true])
    func discoveryBesideOthers(isExtended: Bool, theyScan: Bool) {
        var controller = VirtualController(isExtended: isExtended)
        if theyScan {
            _ = controller.receive(
                .setScanParameters(
                    ScanParameters(isActive: false, interval: 0x60, window: 0x30), isExtended: isExtended))
            _ = controller.receive(.setScanEnable(true, filtersDuplicates: true, isExtended: isExtended))
        } else {
            _ = controller.receive(.setAdvertisingData([1, 2]))
            _ = controller.receive(.setAdvertisingEnable(true))
        }
        var bench = SessionBench.working(controller)
        bench.scan(.discovery)
        #expect(bench.controller.isScanning && bench.controller.isActive && !bench.controller.filtersDuplicates)
        #expect(bench.notices.allSatisfy { $0.kind != .commandFailed })
        #expect(bench.powerChanges.isEmpty)
    }

    @Test("A controller that lost its settings gets an address again", arguments: [false, true])
    func discoveryAfterAReset(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.scan(.discovery)
        bench.controller.reset()
        bench.wait(600)
        #expect(bench.controller.isScanning && bench.controller.isActive)
        #expect(bench.controller.randomAddress.count == 6)
    }

    @Test("A scan that is already on is taken over and left on")
    func aScanThatIsOnAlreadyIsTakenOverAndLeftOn() {
        var controller = VirtualController()
        _ = controller.receive(.setScanEnable(true, filtersDuplicates: true, isExtended: false))
        var bench = SessionBench.working(controller)
        bench.scan(.ranging)
        #expect(bench.controller.isScanning && !bench.controller.filtersDuplicates)
        bench.scan(.off)
        #expect(bench.controller.isScanning)
        #expect(bench.notices.allSatisfy { $0.kind != .commandFailed })
    }

    @Test("Everything of ours is protected")
    func everythingOfOursIsProtected() {
        var bench = SessionBench.working()
        bench.session.scan(.always, at: bench.now)
        var isProtected = false
        for step in bench.session.drainSteps() {
            if case .protect(let commands) = step {
                isProtected = commands == [.setScanEnable(false, isExtended: false)]
            }
            if case .send = step { #expect(isProtected, "the guardian must know before the controller") }
        }
        #expect(isProtected)
    }

    @Test("An empty room is no fault")
    func anEmptyRoomIsNoFault() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.forgetNotices()
        bench.wait(3600)
        #expect(bench.controller.isScanning)
        // The scan is restarted every 90 s, which is reported once. The adapter is switched after 3, 6, 12, 24 and 48
        // minutes.
        #expect(bench.kinds.count { $0 == .scanRestarted } == 1)
        #expect(bench.powerChanges.count == 5)
        let restarts = bench.controller.received.count { $0 == .setScanEnable(false, isExtended: false) }
        #expect((32...36).contains(restarts))
    }

    @Test("While adverts are heard, the scan is left alone")
    func whileAdvertsAreHeardTheScanIsLeftAlone() {
        var bench = SessionBench.working()
        bench.adverts = 1_000_000_000
        bench.scan(.ranging)
        let commands = bench.controller.received.count
        bench.forgetNotices()
        bench.wait(3600)
        #expect(bench.controller.received.count == commands)
        #expect(bench.notices.isEmpty)
    }

    @Test("A count that grows behind a filter is a sign of life")
    func aCountThatGrowsBehindAFilterIsASignOfLife() {
        var bench = SessionBench.working()
        bench.scan(.monitoring([]))
        let commands = bench.controller.received.count
        for step in 0..<60 as Range<UInt32> {
            bench.wait(10)
            bench.session.counted(1000 + step * 7, at: bench.now)
        }
        #expect(bench.controller.received.count == commands)
    }

    @Test("Answers to our own commands are no sign of life")
    func answersToOurOwnCommandsAreNoSignOfLife() {
        var bench = SessionBench.working()
        bench.scan(.monitoring([]))
        bench.forgetNotices()
        var counted = bench.controller.received.count
        for _ in 0..<60 {
            bench.wait(10)
            counted = bench.controller.received.count
            bench.session.counted(UInt32(counted), at: bench.now)
        }
        // Ten minutes of silence: the scan is restarted every 90 s, and the adapter is switched after 3 and 6 minutes.
        #expect(bench.powerChanges == [.cycle, .cycle])
        #expect(bench.kinds.count { $0 == .scanRestarted } == 1)
        #expect(bench.controller.received.count { $0 == .setScanEnable(false, isExtended: false) } >= 4)
    }

    @Test("A controller that falls silent is switched off and on")
    func aControllerThatFallsSilentIsSwitchedOffAndOn() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.controller.isSilent = true
        bench.forgetNotices()
        bench.wait(92)
        // The restart of the scan revealed it.
        #expect(bench.kinds == [.scanRestarted])
        #expect(bench.powerChanges.isEmpty)
        bench.wait(2.5)
        #expect(bench.kinds == [.scanRestarted, .commandFailed])
        #expect(bench.session.state == .resetting)
        bench.controller.isSilent = false
        bench.wait(2)
        #expect(bench.powerChanges == [.cycle])
        #expect(bench.kinds == [.scanRestarted, .commandFailed, .adapterReset, .adapterUsed])
        #expect(bench.session.state == .poweredOn && bench.controller.isScanning)
    }

    @Test("A controller that stays silent is switched less and less often")
    func aSilentControllerIsSwitchedLessAndLessOften() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.controller.isSilent = true
        bench.wait(3600)
        // 1, 2, 4 … 256 s and then 300 s apart, each with 3 s until the next time-out.
        #expect((16...20).contains(bench.powerChanges.count), "\(bench.powerChanges.count)")
    }

    @Test("A refused command is retried before the adapter is switched")
    func aRefusedCommandIsRetriedBeforeASwitch() {
        var bench = SessionBench.working()
        bench.controller.refusals[.setScanEnable] = .invalidParameters
        bench.scan(.ranging)
        #expect(bench.kinds.last == .commandFailed)
        #expect(bench.powerChanges.isEmpty)
        bench.controller.refusals = [:]
        bench.wait(2)
        #expect(bench.controller.isScanning && bench.powerChanges.isEmpty)
        bench.controller.refusals[.setScanParameters] = .invalidParameters
        bench.scan(.monitoring([]))
        bench.wait(1.5)
        #expect(bench.powerChanges.isEmpty)
        bench.wait(2)
        #expect(bench.powerChanges == [.cycle])
    }

    @Test("A scan that other software ends is restarted")
    func aScanEndedByOtherSoftwareIsRestarted() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.forgetNotices()
        bench.othersSend(.setScanEnable(false, isExtended: false))
        #expect(!bench.controller.isScanning)
        bench.wait(1)
        #expect(bench.controller.isScanning && bench.kinds == [.scanRestarted])
    }

    @Test("Our commands do not interrupt those of other software")
    func ourCommandsDoNotInterruptOthers() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        let active = ScanParameters(isActive: true, interval: 0x12, window: 0x12)
        bench.othersSend(.setScanEnable(false, isExtended: false))
        bench.othersSend(.setRandomAddress(DeviceAddress(bits: 1, kind: .random)))
        bench.wait(0.1)
        // One of our commands in between would make the controller refuse this one.
        bench.othersSend(.setScanParameters(active, isExtended: false))
        bench.wait(0.1)
        bench.othersSend(.setScanEnable(true, filtersDuplicates: true, isExtended: false))
        #expect(bench.controller.isActive && bench.controller.filtersDuplicates)
        bench.wait(1)
        // The other software keeps its active scan, without the filter that hides most of a beacon's adverts.
        #expect(bench.controller.isScanning && bench.controller.isActive && !bench.controller.filtersDuplicates)
        bench.othersSend(.setScanEnable(false, isExtended: false))
        bench.wait(1)
        #expect(bench.controller.isScanning && !bench.controller.isActive)
    }

    @Test("The session recovers from a reset by other software")
    func theSessionRecoversFromAReset() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.advertise([SessionBench.frame])
        bench.othersSend(HCICommand(.reset))
        #expect(!bench.controller.isScanning && bench.controller.onAir.isEmpty)
        bench.wait(1)
        #expect(bench.controller.isScanning && bench.controller.onAir == [255: SessionBench.frame.advert])
    }

    @Test("Sleep restarts the scan")
    func sleepRestartsTheScan() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        let commands = bench.controller.received.count
        bench.forgetNotices()
        bench.session.wokeUp(at: bench.now.advanced(by: 3_600_000_000_000))
        bench.settle()
        #expect(bench.kinds == [.scanRestarted])
        #expect(bench.controller.received.count > commands && bench.controller.isScanning)
    }

    @Test("If only legacy commands work, the session uses them")
    func legacyCommandsAreUsedIfOnlyTheyWork() {
        var controller = VirtualController(isExtended: true)
        controller.isHeldToLegacy = true
        var bench = SessionBench.working(controller)
        bench.scan(.ranging)
        bench.wait(2)
        #expect(bench.controller.isScanning && bench.powerChanges.isEmpty)
        bench.scan(.off)
        #expect(!bench.controller.isScanning)
    }

    @Test("Processes of ours share a scan and end it", arguments: [0, 1])

    func processesOfOursShareAScanAndEndIt(first: Int) {
        var benches = SharedBench(count: 2)
        benches.scan(0, .ranging)
        benches.wait(5)
        benches.scan(1, .monitoring([]))
        benches.wait(5)
        // The process with the higher request is served, and the two do not interfere.
        #expect(benches.controller.isScanning && benches.controller.window == 0x61)
        let commands = benches.controller.received.count
        benches.wait(60)
        #expect(benches.controller.received.count == commands)
        benches.end(first)
        benches.wait(5)
        #expect(benches.controller.isScanning)
        benches.end(1 - first)
        #expect(!benches.controller.isScanning)
    }
}
