import BeaconMonitoring
import BeaconRadio
import CoreBluetooth
import Testing

@Suite("Central manager and authorization")
struct CBCentralManagerTests {
    @Test("A central manager reports whether Bluetooth is on")
    func state() async {
        let bench = await ManagerBench()
        let witness = Witness()
        let manager = BeaconCenter.withCurrent(bench.center) {
            CBCentralManager(
                delegate: witness, queue: bench.queue, options: [CBCentralManagerOptionShowPowerAlertKey: false])
        }
        #expect(manager.state == .unknown)
        await bench.deliver(.state(.poweredOff), .state(.poweredOn))
        #expect(manager.state == .poweredOn)
        #expect(witness.words() == ["poweredOff", "poweredOn"])
    }

    @Test("Connecting does nothing, which is logged once; scanning is misuse while the radio is off")
    func commands() async {
        let bench = await ManagerBench(.poweredOff)
        let manager = BeaconCenter.withCurrent(bench.center) { CBCentralManager(delegate: nil, queue: bench.queue) }
        let misuses = manager.misuses
        manager.scanForPeripherals(withServices: nil)
        #expect(manager.misuses - misuses == 1)
        #expect(!manager.isScanning)
        await bench.deliver(.state(.poweredOn))
        for _ in 0..<3 { manager.registerForConnectionEvents() }
        #expect(LogRecord.lines(about: "Connecting to devices").count == 1)
        #expect(manager.misuses - misuses == 1)
        #expect(manager.retrievePeripherals(withIdentifiers: [UUID()]).isEmpty)
    }

    @Test("A deallocated manager receives no events and leaves nothing behind")
    func deallocation() async {
        let bench = await ManagerBench()
        let witness = Witness()
        weak let manager = BeaconCenter.withCurrent(bench.center) {
            CBCentralManager(delegate: witness, queue: bench.queue)
        }
        #expect(manager == nil)
        await bench.deliver(.state(.poweredOn))
        #expect(witness.words() == [])
    }

    @Test("Bluetooth is allowed unless the radio refuses, as a callback that reads it sees at once")
    func authorization() async {
        let bench = await ManagerBench()
        let witness = Witness { manager in
            #expect((CBPeripheralManager.authorization == .denied) == (manager.state == .unauthorized))
        }
        let manager = bench.makeManager(witness)
        BeaconCenter.withCurrent(bench.center) { #expect(CBManager.authorization == .allowedAlways) }
        await bench.deliver(.state(.unauthorized))
        BeaconCenter.withCurrent(bench.center) { #expect(CBCentralManager.authorization == .denied) }
        await bench.deliver(.state(.poweredOn))
        BeaconCenter.withCurrent(bench.center) { #expect(CBCentralManager.authorization == .allowedAlways) }
        #expect(witness.words() == ["unauthorized", "poweredOn"])
        withExtendedLifetime(manager) {}
    }
}
