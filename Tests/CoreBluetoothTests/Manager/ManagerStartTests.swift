import BeaconModel
import BeaconRadio
import CoreBluetooth
import Testing

@Suite("Start and lifetime of a peripheral manager")
struct ManagerStartTests {
    @Test("A start right after init is held, and carried out once the radio is known to be on (P3)")
    func p3Held() async {
        let bench = await ManagerBench()
        let witness = Witness()
        let manager = bench.makeManager(witness)
        let misuses = manager.misuses
        manager.startAdvertising(ManagerBench.beacon())
        await bench.settle()
        #expect(bench.radio.requests == [])
        await bench.deliver(.state(.poweredOn))
        #expect(bench.radio.requests == [[ManagerBench.frame()]])
        await bench.deliver(.advertising(ManagerBench.frame(), .success(())))
        #expect(witness.words() == ["poweredOn", "started, advertising"])
        #expect(manager.misuses - misuses == 0)
    }

    @Test("In every state except powered on, commands are logged as misuse and dropped, without a callback (P3)")
    func p3Misuse() async {
        for state in [RadioState.resetting, .unsupported, .unauthorized, .poweredOff] {
            let bench = await ManagerBench(state)
            let witness = Witness()
            let manager = bench.makeManager(witness)
            let misuses = manager.misuses
            await bench.settle()
            _ = witness.words()
            manager.startAdvertising(ManagerBench.beacon())
            #expect(manager.misuses - misuses == 1)
            manager.startAdvertising(nil)
            manager.stopAdvertising()
            manager.add(CBMutableService(type: CBUUID(string: "180D"), primary: true))
            manager.removeAllServices()
            #expect(manager.misuses - misuses == 5)
            await bench.deliver(.state(.poweredOn))
            #expect(bench.radio.requests == [])
            #expect(witness.words() == ["poweredOn"])
        }
    }

    @Test("A held start is dropped as misuse if the radio turns out to be off, missing or forbidden (P3)")
    func p3HeldAndDropped() async {
        for state in [RadioState.unsupported, .unauthorized, .poweredOff] {
            let bench = await ManagerBench()
            let witness = Witness()
            let manager = bench.makeManager(witness)
            let misuses = manager.misuses
            manager.startAdvertising(ManagerBench.beacon())
            await bench.deliver(.state(state))
            #expect(manager.misuses - misuses == 1)
            await bench.deliver(.state(.poweredOn))
            #expect(bench.radio.requests == [])
            #expect(witness.words() == ["\(CBManagerState(rawValue: Int(state.rawValue)) ?? .unknown)", "poweredOn"])
        }
    }

    @Test(
        "A held start can be stopped, and is replaced by a start that the app makes when the radio is on (P3)")
    func p3HeldAndReplaced() async {
        let bench = await ManagerBench()
        let witness = Witness { $0.startAdvertising(ManagerBench.beacon(minor: 2)) }
        let manager = bench.makeManager(witness)
        manager.startAdvertising(ManagerBench.beacon(minor: 1))
        let quiet = bench.makeManager(nil)
        let quietMisuses = quiet.misuses
        quiet.startAdvertising(ManagerBench.beacon(minor: 3))
        quiet.stopAdvertising()
        await bench.deliver(.state(.poweredOn))
        await bench.deliver(.advertising(ManagerBench.frame(minor: 2), .success(())))
        #expect(bench.radio.requests == [[ManagerBench.frame(minor: 2)]])
        #expect(witness.words() == ["poweredOn", "started, advertising"])
        #expect(quiet.misuses - quietMisuses == 0)
    }

    @Test("A manager is kept alive from a start until its end, and no longer (P3)")
    func p3KeptAlive() async {
        let bench = await ManagerBench()
        weak let unused = bench.makeManager(nil)
        await bench.settle()
        #expect(unused == nil)

        weak var manager: CBPeripheralManager?
        do {
            let local = bench.makeManager(nil)
            local.startAdvertising(ManagerBench.beacon())
            manager = local
        }
        await bench.settle()
        #expect(manager != nil)
        await bench.deliver(.state(.poweredOn))
        await bench.deliver(.advertising(ManagerBench.frame(), .success(())))
        #expect(manager?.isAdvertising == true)
        manager?.stopAdvertising()
        await bench.settle()
        #expect(manager == nil)
        #expect(bench.radio.frames == [])

        // Powered off, failed, and stopped before the state was known: each is an end.
        for end in [
            SourceEvent.state(.poweredOff), .advertising(ManagerBench.frame(), .failure(RadioError(.failed, "no"))),
        ] {
            await bench.deliver(.state(.poweredOn))
            do {
                let local = bench.makeManager(nil)
                await bench.settle()
                local.startAdvertising(ManagerBench.beacon())
                manager = local
            }
            await bench.settle()
            #expect(manager != nil)
            await bench.deliver(end)
            #expect(manager == nil)
        }
    }

    @Test("Listing 3 of Apple's article on acting as a beacon: start right after init, manager in a local variable")
    func listing3() async {
        let bench = await ManagerBench()
        let witness = Witness()
        func advertiseDevice() {
            let peripheral = bench.makeManager(witness)
            peripheral.startAdvertising(ManagerBench.beacon())
        }
        advertiseDevice()
        await bench.settle()
        await bench.deliver(.state(.poweredOn))
        await bench.deliver(.advertising(ManagerBench.frame(), .success(())))
        #expect(witness.words() == ["poweredOn", "started, advertising"])
        #expect(bench.radio.frames == [ManagerBench.frame()])
    }

    @Test("A second start during or after the first is alreadyAdvertising, and changes nothing (P6)")
    func p6AlreadyAdvertising() async {
        let (bench, witness, manager) = await ManagerBench.withManager()
        _ = witness.words()
        manager.startAdvertising(ManagerBench.beacon())
        manager.startAdvertising(ManagerBench.beacon(minor: 2))
        await bench.settle()
        #expect(witness.words() == ["started: alreadyAdvertising"])
        await bench.deliver(.advertising(ManagerBench.frame(), .success(())))
        #expect(witness.words() == ["started, advertising"])
        manager.startAdvertising(ManagerBench.beacon(minor: 2))
        await bench.settle()
        #expect(witness.words() == ["started: alreadyAdvertising, advertising"])
        #expect(bench.radio.requests == [[ManagerBench.frame()]])
        manager.stopAdvertising()
        manager.startAdvertising(ManagerBench.beacon(minor: 2))
        await bench.settle()
        #expect(bench.radio.frames == [ManagerBench.frame(minor: 2)])
    }

    @Test(
        "There is no background; advertising continues by itself, even without a delegate, until it is stopped (P8)")
    func p8Background() async {
        let bench = await ManagerBench(.poweredOn)
        weak var manager: CBPeripheralManager?
        do {
            let witness = Witness()
            let local = bench.makeManager(witness)
            await bench.settle()
            local.startAdvertising(ManagerBench.beacon())
            manager = local
        }
        await bench.settle()
        await bench.deliver(.advertising(ManagerBench.frame(), .success(())))
        #expect(manager?.delegate == nil)
        for hour in 1...24 {
            await bench.deliver(.heard(SourceBatch(upTo: Timestamp(nanoseconds: Int64(hour) * 3_600_000_000_000))))
        }
        #expect(manager?.isAdvertising == true)
        #expect(bench.radio.requests == [[ManagerBench.frame()]])
        manager?.stopAdvertising()
    }

    @Test("No name takes space from the beacon, whose advert fits into the 31 bytes of a packet (P9)")
    func p9Space() async {
        let bench = await ManagerBench(.poweredOn)
        let manager = bench.makeManager(nil)
        await bench.settle()
        var data = ManagerBench.beacon()
        data[CBAdvertisementDataLocalNameKey] = String(repeating: "long ", count: 50)
        manager.startAdvertising(data)
        await bench.settle()
        #expect(bench.radio.frames.map(\.frame) == [ManagerBench.frame().frame])
        #expect(bench.radio.frames.allSatisfy { $0.advert.count <= 31 })
    }

    @Test("A radio that does not answer does not count as sending (P10)")
    func p10Silence() async {
        let (bench, witness, manager) = await ManagerBench.withManager()
        manager.startAdvertising(ManagerBench.beacon())
        await bench.settle()
        for second in 1...60 {
            await bench.deliver(.heard(SourceBatch(upTo: Timestamp(nanoseconds: Int64(second) * 1_000_000_000))))
        }
        #expect(!manager.isAdvertising)
        #expect(witness.words() == ["poweredOn"])
    }
}
