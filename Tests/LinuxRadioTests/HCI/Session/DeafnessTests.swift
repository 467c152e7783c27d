import BeaconModel
import BeaconRadio
import Glibc
import Testing

@testable import LinuxRadio

/// The silences of a controller that answers, and their meanings.
@Suite("The deafness of an adapter")
struct DeafnessTests {
    /// Returns a session in an air with this many devices, each heard ten times a second.
    private func bench(devices: Int) -> SessionBench {
        var bench = SessionBench.working()
        bench.adverts = 100_000_000
        bench.devices = devices
        bench.scan(.ranging)
        bench.wait(60)
        bench.forgetNotices()
        return bench
    }

    @Test("Total silence in a busy air is deafness: the adapter is switched before any region ends")
    func busy() throws {
        var bench = bench(devices: 40)
        let last = bench.now
        bench.adverts = nil
        bench.wait(9)
        #expect(bench.session.state == .poweredOn && bench.powerChanges.isEmpty)
        bench.wait(2.5)
        #expect(bench.session.state == .resetting)
        let stretch = try #require(bench.deafness.first)
        #expect(bench.deafness.count == 1)
        #expect(stretch.from == last && stretch.to.since(last) <= 12_000_000_000)
        bench.wait(2)
        #expect(bench.powerChanges == [.cycle])
        // The switch alone proves nothing.
        #expect(bench.session.state == .resetting)
        bench.adverts = 100_000_000
        bench.wait(1)
        #expect(bench.session.state == .poweredOn)
        #expect(bench.kinds == [.adapterReset, .adapterReset, .adapterUsed, .adapterUsed])
    }

    @Test("A few devices that fall silent have left", arguments: [1, 3, 12])
    func quiet(devices: Int) {
        var bench = bench(devices: devices)
        bench.adverts = nil
        bench.wait(60)
        #expect(bench.session.state == .poweredOn)
        #expect(bench.deafness.isEmpty && bench.powerChanges.isEmpty && bench.kinds.isEmpty)
    }

    /// Advances time until the controller scans with its parameters, for a minute at most. Returns the seconds.
    private func secondsToScan(_ bench: inout SessionBench) -> Double {
        let before = bench.now
        while !bench.controller.isScanning || bench.controller.window == 0, bench.now.since(before) < 60_000_000_000 {
            bench.wait(0.1)
        }
        return Double(bench.now.since(before)) / 1e9
    }

    @Test("A scan that has died in a quiet air is restarted before a region ends", arguments: [1, 3, 12])
    func forgotten(devices: Int) throws {
        var bench = bench(devices: devices)
        bench.controller.reset()
        bench.wait(9)
        #expect(!bench.controller.isScanning)
        #expect(secondsToScan(&bench) < 3)
        bench.wait(60)
        #expect(bench.controller.isScanning && bench.powerChanges.isEmpty && bench.deafness.isEmpty)
        #expect(bench.kinds == [.scanRestarted])
        #expect(try #require(bench.notices.first).message.hasPrefix("the scan heard nothing for 1"))
    }

    @Test(
        "A controller that was reset without the kernel's knowledge is heard again before a region ends",
        arguments: [false, true], [[], [HCIOpcode.setEventMask, .setLEEventMask]])
    func powerCycled(isExtended: Bool, refused: [HCIOpcode]) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.adverts = 300_000_000
        bench.scan(.ranging)
        bench.wait(60)
        bench.forgetNotices()
        bench.controller.powerCycle()
        for opcode in refused { bench.controller.refusals[opcode] = .invalidParameters }
        bench.wait(20)
        #expect(bench.controller.isScanning && bench.controller.window > 0)
        #expect(bench.controller.maskedEvents.isEmpty == refused.isEmpty)
        #expect(bench.powerChanges.isEmpty && bench.deafness.isEmpty)
        #expect(bench.kinds == (refused.isEmpty ? [.scanRestarted] : []))
    }

    @Test(
        "A scan that heard only half the adverts of one beacon is restarted too", arguments: 0..<20
    )
    func forgottenBeacon(_ halves: Int) {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        // It may die at any time within its period.
        bench.wait(Double(halves) * 0.5)
        bench.adverts = 2_000_000_000
        bench.wait(60)
        bench.controller.reset()
        bench.wait(8)
        #expect(secondsToScan(&bench) < 5)
    }

    @Test("Behind a filter, a scan that has died in a quiet air is restarted too", arguments: [4, 30] as [UInt32])
    func forgottenBehindFilter(events: UInt32) {
        var bench = SessionBench.working()
        bench.scan(.monitoring([]))
        bench.forgetNotices()
        var count: UInt32 = .max - 100
        for _ in 0..<5 {
            bench.wait(10)
            count &+= events
            bench.session.counted(count, at: bench.now)
        }
        bench.controller.reset()
        bench.wait(10)
        bench.session.counted(count, at: bench.now)
        #expect(secondsToScan(&bench) < 1)
        #expect(bench.powerChanges.isEmpty && bench.deafness.isEmpty && bench.kinds.isEmpty)
        bench.wait(10)
        // Three answers to commands are no adverts.
        count &+= 3
        bench.session.counted(count, at: bench.now)
        bench.settle()
        #expect(bench.kinds.isEmpty)
        bench.wait(1)
        bench.session.counted(count &+ events, at: bench.now)
        bench.settle()
        // For a few events it is unknown whether they pause.
        #expect(bench.kinds == (events < 10 ? [] : [.scanRestarted]))
    }

    @Test("Another process's scan is left alone")
    func peer() {
        var bench = SessionBench.working()
        bench.othersSend(.setScanParameters(.always, isExtended: false))
        bench.othersSend(.setScanEnable(true, isExtended: false))
        bench.scan(.ranging)
        bench.adverts = 100_000_000
        bench.wait(60)
        bench.adverts = nil
        bench.controller.forgetCommands()
        bench.forgetNotices()
        bench.wait(60)
        #expect(bench.controller.received.isEmpty && bench.kinds.isEmpty)
    }

    @Test("In a lasting silence the scan is restarted early once, and then as in an empty place")
    func earlyOnce() {
        var bench = bench(devices: 1)
        bench.adverts = nil
        bench.controller.forgetCommands()
        bench.wait(80)
        // Ended, and enabled with its parameters.
        #expect(bench.controller.received.filter(\.isEnabling).count == 1)
        bench.wait(30)
        #expect(bench.controller.received.filter(\.isEnabling).count == 2)
        #expect(bench.kinds == [.scanRestarted])
    }

    @Test("Rare adverts do not restart the scan")
    func seldom() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        // Once in 15 s, like a sensor that saves its battery.
        bench.adverts = 15_000_000_000
        bench.controller.forgetCommands()
        bench.wait(600)
        #expect(bench.controller.received.isEmpty)
    }

    @Test("A device that sends in bursts causes one report an hour")
    func bursts() {
        var bench = bench(devices: 2)
        for _ in 0..<400 {
            bench.adverts = nil
            bench.wait(11)
            bench.adverts = 100_000_000
            bench.wait(10)
        }
        // In 140 minutes.
        #expect(bench.kinds == [.scanRestarted, .scanRestarted, .scanRestarted])
    }

    @Test("Devices that fall silent one after another have left")
    func departure() {
        var bench = bench(devices: 40)
        for left in (1...39).reversed() {
            bench.devices = left
            bench.wait(3)
        }
        bench.adverts = nil
        bench.wait(60)
        #expect(bench.deafness.isEmpty && bench.powerChanges.isEmpty)
    }

    @Test("A deaf adapter is switched less and less often, and after eight times the silence counts as real")
    func lasting() {
        var bench = bench(devices: 40)
        bench.adverts = nil
        bench.wait(12)
        for _ in 0..<420 {
            bench.wait(1)
            #expect(bench.session.state == .resetting)
        }
        #expect((6...8).contains(bench.powerChanges.count), "\(bench.powerChanges.count)")
        bench.wait(120)
        // 1, 2, 4 … 128 s apart, each with 25 s to hear something.
        #expect(bench.powerChanges.count == 8 && bench.session.state == .poweredOn)
        #expect(bench.deafness.count == 1)
    }

    @Test("An advert before the next switch of the adapter ends the deafness and cancels the switch")
    func heardBeforeTheSwitch() {
        var bench = bench(devices: 40)
        bench.adverts = nil
        // Deaf, and switched five times. The next switch follows in 32 s.
        while bench.powerChanges.count < 5 { bench.wait(1) }
        while bench.session.isWorking { bench.wait(1) }
        bench.session.heard(at: bench.now)
        bench.settle()
        #expect(bench.session.state == .poweredOn && bench.session.isWorking)
        bench.adverts = 100_000_000
        bench.wait(300)
        #expect(bench.powerChanges.count == 5)
    }

    @Test("If this process may not switch the adapter, the scan is restarted and the adapter stays in use")
    func notPermitted() {
        var bench = bench(devices: 40)
        bench.powerFailure = HCISystemError(EPERM)
        bench.adverts = nil
        bench.wait(13)
        #expect(bench.session.state == .resetting && bench.session.isWorking)
        bench.wait(120)
        #expect(bench.powerChanges == [.cycle] && bench.controller.isScanning)
        bench.adverts = 100_000_000
        bench.wait(1)
        #expect(bench.session.state == .poweredOn)
    }

    /// The causes besides an advert that end a deafness.
    enum End: CaseIterable {
        case scanEnds, unplugged, switchedOff
    }

    @Test("A deafness ends with its reason", arguments: End.allCases)
    func end(_ end: End) {
        var bench = bench(devices: 40)
        bench.adverts = nil
        // Switched, but not known to hear.
        bench.wait(14)
        #expect(bench.session.state == .resetting && bench.session.isWorking)
        switch end {
        case .scanEnds: bench.scan(.off)
        case .unplugged: bench.session.adapterRemoved()
        case .switchedOff: bench.session.wentOff(isBlocked: false, at: bench.now)
        }
        bench.settle()
        #expect(bench.session.state == (end == .scanEnds ? .poweredOn : .poweredOff))
        if end != .scanEnds { bench.session.begin(isOn: true, at: bench.now) }
        bench.settle()
        #expect(bench.session.state == .poweredOn)
        let changes = bench.powerChanges.count
        bench.wait(60)
        #expect(bench.session.state == .poweredOn && bench.powerChanges.count == changes)
    }

    @Test("An adapter that a user switches off before its next switch stays off")
    func switchedOffBeforeTheSwitch() {
        var bench = bench(devices: 40)
        bench.adverts = nil
        while bench.session.isWorking { bench.wait(0.5) }
        bench.session.wentOff(isBlocked: false, at: bench.now)
        bench.settle()
        bench.wait(600)
        #expect(bench.session.state == .poweredOff && bench.powerChanges.isEmpty)
    }

    @Test("Behind a filter, devices of an hour ago prove nothing about a silence now")
    func stale() {
        var bench = SessionBench.working()
        bench.scan(.monitoring([]))
        bench.session.counted(1000, at: bench.now)
        for _ in 0..<5000 { bench.session.heardAdvert(at: bench.now) }
        var count: UInt32 = 1000
        // A weak neighbor, which is missed now and then.
        for reading in 0..<100 {
            bench.wait(10)
            count += reading % 5 == 4 ? 0 : 3
            bench.session.counted(count, at: bench.now)
        }
        #expect(bench.deafness.isEmpty && bench.powerChanges.isEmpty)
    }

    @Test("A scan that listens for half of the time hears half of a busy air", arguments: [900, 1100] as [UInt32])
    func halfOfTheTime(events: UInt32) {
        var bench = SessionBench.working()
        bench.scan(.monitoring([]))
        var count: UInt32 = 1000
        for reading in 0..<12 {
            bench.session.counted(count, at: bench.now)
            bench.wait(10)
            if reading < 10 { count += events }
        }
        bench.session.counted(count, at: bench.now)
        bench.wait(0.5)
        #expect((bench.session.state == .resetting) == (events > 1000))
    }

    @Test("Behind a filter the controller's count decides", arguments: [true, false])
    func filtered(isBusy: Bool) {
        var bench = SessionBench.working()
        bench.scan(.monitoring([]))
        var count: UInt32 = 1000
        for _ in 0..<10 {
            bench.wait(10)
            count += isBusy ? 4000 : 400
            bench.session.counted(count, at: bench.now)
        }
        // The rest of the interval before the deafness.
        bench.wait(10)
        count += 15
        bench.session.counted(count, at: bench.now)
        bench.wait(10)
        bench.session.counted(count, at: bench.now)
        bench.wait(0.5)
        #expect((bench.session.state == .resetting) == isBusy)
        #expect(bench.deafness.count == (isBusy ? 1 : 0))
        guard isBusy else { return }
        // Switched, read, and read again.
        for _ in 0..<2 {
            bench.wait(8)
            count += 4000
            bench.session.counted(count, at: bench.now)
        }
        bench.wait(0.5)
        #expect(bench.session.state == .poweredOn)
    }

    @Test(
        "Behind a filter a silence is judged from the first counts on: two in a busy air, any in a lively one",
        arguments: [[4000], [4000, 4000], [4000, 15], [15, 4000], [4000, 4000, 15]] as [[UInt32]])
    func early(counts: [UInt32]) {
        var bench = SessionBench.working()
        bench.scan(.monitoring([]))
        var count: UInt32 = 1000
        bench.session.counted(count, at: bench.now)
        for events in counts {
            bench.wait(10)
            count += events
            bench.session.counted(count, at: bench.now)
        }
        bench.controller.powerCycle()
        bench.wait(10)
        bench.session.counted(count, at: bench.now)
        bench.wait(0.5)
        let isBusy = counts.count { $0 == 4000 } > 1
        #expect((bench.session.state == .resetting) == isBusy)
        #expect(bench.deafness.count == (isBusy ? 1 : 0))
        #expect(isBusy || bench.controller.isScanning && bench.controller.maskedEvents.isEmpty)
    }

    @Test("Behind a filter a scan in a quiet air that dies at once is restarted too")
    func earlyInAQuietAir() {
        var bench = SessionBench.working()
        bench.scan(.monitoring([]))
        for count in [1000, 1020] as [UInt32] {
            bench.session.counted(count, at: bench.now)
            bench.wait(10)
        }
        bench.controller.reset()
        bench.session.counted(1020, at: bench.now)
        #expect(secondsToScan(&bench) < 1)
        #expect(bench.powerChanges.isEmpty && bench.deafness.isEmpty)
    }

    @Test("A new scan judges only its own silence")
    func otherScan() {
        var bench = bench(devices: 40)
        // The filter passes nothing.
        bench.scan(.monitoring([]))
        bench.adverts = nil
        bench.wait(60)
        #expect(bench.deafness.isEmpty && bench.powerChanges.isEmpty)
    }

    @Test("In a lasting silence the adapter is switched after 2, 4, 8 … restarts of the scan")
    func empty() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.wait(3600)
        // After 3, 6, 12, 24 and 48 minutes.
        #expect(bench.powerChanges.count == 5)
        #expect(bench.session.state == .poweredOn)
    }
}
