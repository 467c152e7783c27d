import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import CoreBluetooth
import Testing

@Suite("Callbacks and state of a peripheral manager")
struct ManagerCallbackTests {
    @Test("Callbacks run on the given queue (P1)")
    func p1GivenQueue() async {
        let bench = await ManagerBench()
        let key = DispatchSpecificKey<Bool>()
        bench.queue.setSpecific(key: key, value: true)
        let isThere = Locked<[Bool]>([])
        let witness = Witness { _ in
            let isHere = DispatchQueue.getSpecific(key: key) == true
            isThere.withLock { $0.append(isHere) }
        }
        let manager = bench.makeManager(witness)
        await bench.deliver(.state(.poweredOn))
        #expect(isThere.withLock { $0 } == [true])
        withExtendedLifetime(manager) {}
    }

    @Test("No queue means the main queue (P1)")
    func p1MainQueue() async {
        let bench = await ManagerBench()
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let isThere = Locked<[Bool]>([])
        let witness = Witness { _ in
            let isHere = DispatchQueue.getSpecific(key: key) == true
            isThere.withLock { $0.append(isHere) }
        }
        let made = BeaconCenter.withCurrent(bench.center) {
            [
                CBPeripheralManager(delegate: witness, queue: nil), CBPeripheralManager(),
                CBPeripheralManager(delegate: witness, queue: .main, options: nil),
            ]
        }
        made[1].delegate = witness
        await bench.deliver(.state(.poweredOn))
        #expect(isThere.withLock { $0 } == [true, true, true])
    }

    @Test("Even on a concurrent queue, callbacks run one after another, and state matches each of them (P1)")
    func p1ConcurrentQueue() async {
        let bench = await ManagerBench()
        let witness = Witness()
        let manager = BeaconCenter.withCurrent(bench.center) {
            CBPeripheralManager(delegate: witness, queue: .global())
        }
        for _ in 0..<200 {
            await bench.center.receive(.state(.poweredOn))
            await bench.center.receive(.state(.poweredOff))
        }
        await bench.settle()
        #expect(witness.words() == (0..<400).map { $0 % 2 == 0 ? "poweredOn" : "poweredOff" })
        withExtendedLifetime(manager) {}
    }

    @Test("A delegate that is set after the state was reported receives it once (M3)")
    func lateDelegate() async {
        let bench = await ManagerBench(.poweredOn)
        for _ in 0..<100 {
            let manager = bench.makeManager(nil)
            let central = BeaconCenter.withCurrent(bench.center) {
                CBCentralManager(delegate: nil, queue: bench.queue)
            }
            await bench.settle()
            let witness = Witness()
            manager.delegate = witness
            await bench.settle()
            #expect(witness.words() == ["poweredOn"])
            central.delegate = witness
            await bench.settle()
            #expect(witness.words() == ["poweredOn"])
        }
    }

    @Test("The state is unknown until the radio's is known, and is then reported with each change (P2)")
    func p2States() async {
        let bench = await ManagerBench()
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        #expect(manager.state == .unknown)
        #expect(witness.words() == [])
        let states: [(RadioState, CBManagerState)] = [
            (.resetting, .resetting), (.unsupported, .unsupported), (.unauthorized, .unauthorized),
            (.poweredOff, .poweredOff), (.poweredOn, .poweredOn), (.unknown, .unknown),
        ]
        for (radio, state) in states {
            await bench.deliver(.state(radio), .state(radio))
            #expect(manager.state == state)
            #expect(witness.words() == ["\(state)"])
        }
    }

    @Test("A manager created when the state is known starts with unknown too, and is notified soon (P2)")
    func p2LaterManager() async {
        let bench = await ManagerBench(.poweredOff)
        let witness = Witness()
        bench.queue.suspend()
        let manager = bench.makeManager(witness)
        bench.center.queue.sync {}
        #expect(manager.state == .unknown)
        bench.queue.resume()
        await bench.settle()
        #expect(manager.state == .poweredOff)
        #expect(witness.words() == ["poweredOff"])
    }

    @Test("Services and channels fail in a callback with the given object")
    func attributes() async {
        let (bench, witness, manager) = await ManagerBench.withManager()
        _ = witness.words()
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "2A37"), properties: .read, value: nil, permissions: .readable)
        manager.add(CBMutableService(type: CBUUID(string: "180D"), primary: true))
        manager.publishL2CAPChannel(withEncryption: false)
        manager.unpublishL2CAPChannel(7)
        manager.removeAllServices()
        await bench.settle()
        #expect(
            witness.words() == [
                "added 180D: operationNotSupported", "published: operationNotSupported",
                "unpublished 7: operationNotSupported",
            ])
        #expect(!manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
        // The result can be discarded (C7).
        manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil)
    }
}
