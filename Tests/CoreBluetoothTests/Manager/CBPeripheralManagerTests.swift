import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import CoreBluetooth
import Testing

@Suite("Peripheral manager")
struct CBPeripheralManagerTests {
    // MARK: - P1

    @Test("Callbacks come on the given queue (P1)")
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
        await bench.tell(.state(.poweredOn))
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
        await bench.tell(.state(.poweredOn))
        #expect(isThere.withLock { $0 } == [true, true, true])
    }

    @Test("On a concurrent queue too, callbacks come one after another, and state is what each of them tells (P1)")
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

    @Test("A delegate that is set after the state was reported receives it, once (M3)")
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

    // MARK: - P2

    @Test("The state is unknown until the radio's is, and is told then and at each change (P2)")
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
            await bench.tell(.state(radio), .state(radio))
            #expect(manager.state == state)
            #expect(witness.words() == ["\(state)"])
        }
    }

    @Test("A manager that is made when the state is known begins unknown too, and is told soon (P2)")
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

    // MARK: - P3

    @Test("A start right after init is held, and carried out once the radio is known to be on (P3)")
    func p3Held() async {
        let bench = await ManagerBench()
        let witness = Witness()
        let manager = bench.makeManager(witness)
        let misuses = manager.misuses
        manager.startAdvertising(ManagerBench.beacon())
        await bench.settle()
        #expect(bench.radio.requests == [])
        await bench.tell(.state(.poweredOn))
        #expect(bench.radio.requests == [[ManagerBench.frame()]])
        await bench.tell(.advertising(ManagerBench.frame(), .success(())))
        #expect(witness.words() == ["poweredOn", "started, advertising"])
        #expect(manager.misuses - misuses == 0)
    }

    @Test("In every other state but powered on, commands are logged as misuse and dropped, without a callback (P3)")
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
            await bench.tell(.state(.poweredOn))
            #expect(bench.radio.requests == [])
            #expect(witness.words() == ["poweredOn"])
        }
    }

    @Test("A held start is dropped as misuse when the radio turns out to be off, absent or forbidden (P3)")
    func p3HeldAndDropped() async {
        for state in [RadioState.unsupported, .unauthorized, .poweredOff] {
            let bench = await ManagerBench()
            let witness = Witness()
            let manager = bench.makeManager(witness)
            let misuses = manager.misuses
            manager.startAdvertising(ManagerBench.beacon())
            await bench.tell(.state(state))
            #expect(manager.misuses - misuses == 1)
            await bench.tell(.state(.poweredOn))
            #expect(bench.radio.requests == [])
            #expect(witness.words() == ["\(CBManagerState(rawValue: Int(state.rawValue)) ?? .unknown)", "poweredOn"])
        }
    }

    @Test(
        "A held start can be stopped, and gives way to one that the app makes when it hears that the radio is on (P3)")
    func p3HeldAndReplaced() async {
        let bench = await ManagerBench()
        let witness = Witness { $0.startAdvertising(ManagerBench.beacon(minor: 2)) }
        let manager = bench.makeManager(witness)
        manager.startAdvertising(ManagerBench.beacon(minor: 1))
        let quiet = bench.makeManager(nil)
        let quietMisuses = quiet.misuses
        quiet.startAdvertising(ManagerBench.beacon(minor: 3))
        quiet.stopAdvertising()
        await bench.tell(.state(.poweredOn))
        await bench.tell(.advertising(ManagerBench.frame(minor: 2), .success(())))
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
        await bench.tell(.state(.poweredOn))
        await bench.tell(.advertising(ManagerBench.frame(), .success(())))
        #expect(manager?.isAdvertising == true)
        manager?.stopAdvertising()
        await bench.settle()
        #expect(manager == nil)
        #expect(bench.radio.frames == [])

        // Off, failed, and stopped before it was known: each is an end.
        for end in [
            RadioEvent.state(.poweredOff), .advertising(ManagerBench.frame(), .failure(RadioError(.failed, "no"))),
        ] {
            await bench.tell(.state(.poweredOn))
            do {
                let local = bench.makeManager(nil)
                await bench.settle()
                local.startAdvertising(ManagerBench.beacon())
                manager = local
            }
            await bench.settle()
            #expect(manager != nil)
            await bench.tell(end)
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
        await bench.tell(.state(.poweredOn))
        await bench.tell(.advertising(ManagerBench.frame(), .success(())))
        #expect(witness.words() == ["poweredOn", "started, advertising"])
        #expect(bench.radio.frames == [ManagerBench.frame()])
    }

    // MARK: - P4

    @Test("A start is answered; the device counts as advertising from the answer on, until it is stopped (P4)")
    func p4Answer() async {
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        manager.startAdvertising(ManagerBench.beacon())
        await bench.settle()
        #expect(bench.radio.frames == [ManagerBench.frame()])
        #expect(!manager.isAdvertising)
        #expect(witness.words() == ["poweredOn"])
        await bench.tell(
            .advertising(ManagerBench.frame(), .success(())), .advertising(ManagerBench.frame(), .success(())))
        #expect(manager.isAdvertising)
        #expect(witness.words() == ["started, advertising"])
        manager.stopAdvertising()
        #expect(!manager.isAdvertising)
        await bench.settle()
        #expect(bench.radio.frames == [])
        #expect(witness.words() == [])
    }

    @Test("An answer to a start that was stopped is not taken for one to the next (P4)")
    func p4StaleAnswer() async {
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        manager.startAdvertising(ManagerBench.beacon())
        await bench.settle()
        bench.queue.suspend()
        await bench.center.receive(.advertising(ManagerBench.frame(), .success(())))
        manager.stopAdvertising()
        manager.startAdvertising(ManagerBench.beacon(minor: 2))
        bench.queue.resume()
        await bench.settle()
        #expect(!manager.isAdvertising)
        #expect(witness.words() == ["poweredOn"])
        await bench.tell(.advertising(ManagerBench.frame(minor: 2), .success(())))
        #expect(witness.words() == ["started, advertising"])
    }

    @Test("What the radio cannot do is told as a CBError with the radio's words, and can be tried again (P4)")
    func p4Failure() async {
        let codes: [(RadioError.Code, CBError.Code)] = [
            (.unsupported, .operationNotSupported), (.notPermitted, .unknown), (.failed, .unknown),
        ]
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        _ = witness.words()
        for (radio, code) in codes {
            manager.startAdvertising(ManagerBench.beacon())
            await bench.settle()
            await bench.tell(.advertising(ManagerBench.frame(), .failure(RadioError(radio, "out of order"))))
            #expect(witness.words() == ["started: \(code)"])
            #expect(!manager.isAdvertising)
            #expect(bench.radio.frames == [])
        }
    }

    @Test("A radio that fails later is told by the same callback (P4)")
    func p4LaterFailure() async {
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        manager.startAdvertising(ManagerBench.beacon())
        await bench.settle()
        await bench.tell(.advertising(ManagerBench.frame(), .success(())))
        await bench.tell(.advertising(ManagerBench.frame(), .failure(RadioError(.failed, "broken"))))
        #expect(witness.words() == ["poweredOn", "started, advertising", "started: unknown"])
        #expect(!manager.isAdvertising)
        #expect(bench.radio.frames == [])
    }

    @Test("One manager too many for the radio fails alone, and is sent nothing of (P4)")
    func p4TwoManagers() async {
        let bench = await ManagerBench(.poweredOn)
        let witnesses = [Witness(), Witness()]
        let managers = witnesses.map { bench.makeManager($0) }
        await bench.settle()
        managers[0].startAdvertising(ManagerBench.beacon(minor: 1))
        await bench.settle()
        await bench.tell(.advertising(ManagerBench.frame(), .success(())))
        managers[1].startAdvertising(ManagerBench.beacon(minor: 2))
        await bench.settle()
        #expect(bench.radio.frames == [ManagerBench.frame(minor: 1), ManagerBench.frame(minor: 2)])
        await bench.tell(.advertising(ManagerBench.frame(minor: 2), .failure(RadioError(.failed, "one is enough"))))
        #expect(bench.radio.frames == [ManagerBench.frame(minor: 1)])
        #expect(managers.map(\.isAdvertising) == [true, false])
        #expect(witnesses[0].words() == ["poweredOn", "started, advertising"])
        #expect(witnesses[1].words() == ["poweredOn", "started: unknown"])
    }

    // MARK: - P5

    @Test("Of a dictionary the beacon is sent; other entries are logged and left out (P5)")
    func p5Dictionary() async {
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        let before = manager.logLines.count
        var data = ManagerBench.beacon()
        data[CBAdvertisementDataLocalNameKey] = "name"
        data[CBAdvertisementDataServiceUUIDsKey] = [CBUUID(string: "180D")]
        data[CBAdvertisementDataTxPowerLevelKey] = 3
        manager.startAdvertising(data)
        await bench.settle()
        await bench.tell(.advertising(ManagerBench.frame(), .success(())))
        #expect(bench.radio.frames == [ManagerBench.frame()])
        #expect(witness.words() == ["poweredOn", "started, advertising"])
        let words = manager.logLines.dropFirst(before).map { $0.drop { $0 != ">" }.dropFirst(3) }
        #expect(
            words == [
                "kCBAdvDataLocalName is not sent: only iBeacon frames are",
                "kCBAdvDataServiceUUIDs is not sent: only iBeacon frames are",
                "kCBAdvDataTxPowerLevel is not a key that can be advertised",
            ])
    }

    @Test("Every bit of the beacon's 21 bytes is what is sent (P5)")
    func p5Bytes() async {
        let bench = await ManagerBench(.poweredOn)
        let manager = bench.makeManager(nil)
        await bench.settle()
        let bytes = Data((0..<21).map { UInt8($0 * 11 + 20) })
        // A slice has indices of its own.
        manager.startAdvertising(["kCBAdvDataAppleBeaconKey": (Data([7, 7]) + bytes).dropFirst(2)])
        await bench.settle()
        #expect(bench.radio.frames.map { Data($0.advert.suffix(21)) } == [bytes])
    }

    @Test("Where nothing can be sent, the answer is invalidParameters (P5)")
    func p5NothingUsable() async {
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        _ = witness.words()
        let useless: [[String: Any]?] = [
            nil, [:], [CBAdvertisementDataLocalNameKey: "name"], ["kCBAdvDataAppleBeaconKey": "text"],
            ["kCBAdvDataAppleBeaconKey": Data(count: 20)], ["kCBAdvDataAppleBeaconKey": Data(count: 22)],
        ]
        for data in useless {
            manager.startAdvertising(data)
            await bench.settle()
            #expect(witness.words() == ["started: invalidParameters"])
        }
        #expect(bench.radio.requests == [])
    }

    // MARK: - P6

    @Test("Starting while a start is under way or done is alreadyAdvertising, and changes nothing (P6)")
    func p6AlreadyAdvertising() async {
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        _ = witness.words()
        manager.startAdvertising(ManagerBench.beacon())
        manager.startAdvertising(ManagerBench.beacon(minor: 2))
        await bench.settle()
        #expect(witness.words() == ["started: alreadyAdvertising"])
        await bench.tell(.advertising(ManagerBench.frame(), .success(())))
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

    // MARK: - P7

    @Test("Advertising pauses while the radio is on its way back, and resumes by itself (P7)")
    func p7Pause() async {
        for state in [RadioState.resetting, .unknown] {
            let bench = await ManagerBench(.poweredOn)
            let witness = Witness()
            let manager = bench.makeManager(witness)
            let misuses = manager.misuses
            await bench.settle()
            manager.startAdvertising(ManagerBench.beacon())
            await bench.settle()
            await bench.tell(.advertising(ManagerBench.frame(), .success(())))
            _ = witness.words()
            await bench.tell(.state(state))
            #expect(!manager.isAdvertising)
            await bench.tell(.state(.poweredOn))
            #expect(manager.isAdvertising)
            #expect(bench.radio.requests == [[ManagerBench.frame()]])
            #expect(witness.words() == ["\(state)", "poweredOn"])
            await bench.tell(.state(state))
            manager.stopAdvertising()
            await bench.settle()
            #expect(bench.radio.frames == [])
            #expect(manager.misuses - misuses == 0)
        }
    }

    @Test("A radio that goes off, away or out of bounds ends advertising; it must be started again (P7)")
    func p7Stop() async {
        for state in [RadioState.poweredOff, .unsupported, .unauthorized] {
            let bench = await ManagerBench(.poweredOn)
            let witness = Witness()
            let manager = bench.makeManager(witness)
            await bench.settle()
            manager.startAdvertising(ManagerBench.beacon())
            await bench.settle()
            await bench.tell(.advertising(ManagerBench.frame(), .success(())))
            await bench.tell(.state(state))
            #expect(!manager.isAdvertising)
            #expect(bench.radio.frames == [])
            await bench.tell(.state(.poweredOn))
            await bench.tell(.advertising(ManagerBench.frame(), .success(())))
            #expect(!manager.isAdvertising)
            #expect(bench.radio.frames == [])
            _ = witness.words()
            manager.startAdvertising(ManagerBench.beacon(minor: 2))
            await bench.settle()
            await bench.tell(.advertising(ManagerBench.frame(minor: 2), .success(())))
            #expect(bench.radio.frames == [ManagerBench.frame(minor: 2)])
            #expect(witness.words() == ["started, advertising"])
        }
    }

    @Test("It ends even if the app is too busy to hear of it before the radio is back (P7)")
    func p7Busy() async {
        let bench = await ManagerBench(.poweredOn)
        let manager = bench.makeManager(nil)
        await bench.settle()
        manager.startAdvertising(ManagerBench.beacon())
        await bench.settle()
        await bench.tell(.advertising(ManagerBench.frame(), .success(())))
        bench.queue.suspend()
        await bench.center.receive(.state(.poweredOff))
        bench.center.queue.sync {}
        #expect(bench.radio.frames == [])
        // The manager does not know yet that the radio is off: this start ends too.
        manager.stopAdvertising()
        manager.startAdvertising(ManagerBench.beacon(minor: 2))
        // Once for the start, once for its end.
        for _ in 0..<2 { bench.center.queue.sync {} }
        #expect(bench.radio.frames == [])
        bench.queue.resume()
        await bench.tell(.state(.poweredOn))
        #expect(bench.radio.frames == [])
        #expect(!manager.isAdvertising)
    }

    // MARK: - P8, P9, P10

    @Test(
        "A process has no background; advertising goes on by itself, without a delegate too, until it is stopped (P8)")
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
        await bench.tell(.advertising(ManagerBench.frame(), .success(())))
        #expect(manager?.delegate == nil)
        for hour in 1...24 { await bench.tell(.time(Timestamp(nanoseconds: Int64(hour) * 3_600_000_000_000))) }
        #expect(manager?.isAdvertising == true)
        #expect(bench.radio.requests == [[ManagerBench.frame()]])
        manager?.stopAdvertising()
    }

    @Test("No name takes room from the beacon, whose advert fits into the 31 bytes of a packet (P9)")
    func p9Space() async {
        let bench = await ManagerBench(.poweredOn)
        let manager = bench.makeManager(nil)
        await bench.settle()
        var data = ManagerBench.beacon()
        data[CBAdvertisementDataLocalNameKey] = String(repeating: "long ", count: 50)
        manager.startAdvertising(data)
        await bench.settle()
        #expect(bench.radio.frames == [ManagerBench.frame()])
        #expect(bench.radio.frames.allSatisfy { $0.advert.count <= 31 })
    }

    @Test("A radio that says nothing is not taken for one that sends (P10)")
    func p10Silence() async {
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
        manager.startAdvertising(ManagerBench.beacon())
        await bench.settle()
        for second in 1...60 { await bench.tell(.time(Timestamp(nanoseconds: Int64(second) * 1_000_000_000))) }
        #expect(!manager.isAdvertising)
        #expect(witness.words() == ["poweredOn"])
    }

    // MARK: - Attributes

    @Test("Services and channels are refused by callback, with the object that was given")
    func attributes() async {
        let bench = await ManagerBench(.poweredOn)
        let witness = Witness()
        let manager = bench.makeManager(witness)
        await bench.settle()
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
        // Nobody has to look at what it returns (C7).
        manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil)
    }

    // MARK: - Threads

    @Test("From many threads, and with a radio that comes and goes, nothing is left over")
    func manyThreads() async {
        struct Shared: @unchecked Sendable {
            let manager: CBPeripheralManager
        }
        let bench = await ManagerBench(.poweredOn)
        weak var last: CBPeripheralManager?
        do {
            let witnesses = [Witness(), Witness()]
            let shared = witnesses.map { Shared(manager: bench.makeManager($0)) }
            last = shared[0].manager
            DispatchQueue.concurrentPerform(iterations: 4000) { number in
                let manager = shared[number / 7 % 2].manager
                switch number % 7 {
                case 0, 1: manager.startAdvertising(ManagerBench.beacon(minor: UInt16(number)))
                case 2: manager.stopAdvertising()
                case 3: bench.center.perform { $0.receive(.advertising(ManagerBench.frame(), .success(()))) }
                case 4: manager.delegate = number % 2 == 0 ? nil : witnesses[number / 7 % 2]
                case 5:
                    let state: RadioState = [.poweredOn, .resetting, .poweredOn, .poweredOff][number / 14 % 4]
                    bench.center.perform { $0.receive(.state(state)) }
                default:
                    _ = manager.isAdvertising && manager.state == .poweredOn
                    bench.makeManager(witnesses[0]).startAdvertising(nil)
                }
            }
            await bench.settle()
            for one in shared { one.manager.stopAdvertising() }
            await bench.tell(.state(.resetting), .state(.poweredOn))
            #expect(bench.radio.frames == [])
            #expect(shared.allSatisfy { !$0.manager.isAdvertising })
            let manager = shared[0].manager
            manager.startAdvertising(ManagerBench.beacon())
            await bench.settle()
            await bench.tell(.advertising(ManagerBench.frame(), .success(())))
            #expect(manager.isAdvertising)
            #expect(bench.radio.frames == [ManagerBench.frame()])
            manager.stopAdvertising()
        }
        await bench.settle()
        #expect(last == nil)
        #expect(bench.radio.frames == [])
    }
}
