import BeaconMonitoring
import BeaconRadio
import CoreBluetooth
import Testing

@Suite("Answers to advertising, and its end")
struct ManagerAnswerTests {
    @Test("A start is answered; from the answer until it is stopped, the device counts as advertising (P4)")
    func p4Answer() async {
        let (bench, witness, manager) = await ManagerBench.withManager()
        manager.startAdvertising(ManagerBench.beacon())
        await bench.settle()
        #expect(bench.radio.frames == [ManagerBench.frame()])
        #expect(!manager.isAdvertising)
        #expect(witness.words() == ["poweredOn"])
        await bench.deliver(
            .advertising(ManagerBench.frame(), .success(())), .advertising(ManagerBench.frame(), .success(())))
        #expect(manager.isAdvertising)
        #expect(witness.words() == ["started, advertising"])
        manager.stopAdvertising()
        #expect(!manager.isAdvertising)
        await bench.settle()
        #expect(bench.radio.frames == [])
        #expect(witness.words() == [])
    }

    @Test("An answer to a start that was stopped does not answer the next start (P4)")
    func p4StaleAnswer() async {
        let (bench, witness, manager) = await ManagerBench.withManager()
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
        await bench.deliver(.advertising(ManagerBench.frame(minor: 2), .success(())))
        #expect(witness.words() == ["started, advertising"])
    }

    @Test("A radio failure is reported as a CBError with the radio's message, and can be retried (P4)")
    func p4Failure() async {
        let codes: [(RadioError.Code, CBError.Code)] = [
            (.unsupported, .operationNotSupported), (.notPermitted, .unknown), (.failed, .unknown),
        ]
        let (bench, witness, manager) = await ManagerBench.withManager()
        _ = witness.words()
        for (radio, code) in codes {
            manager.startAdvertising(ManagerBench.beacon())
            await bench.settle()
            await bench.deliver(.advertising(ManagerBench.frame(), .failure(RadioError(radio, "out of order"))))
            #expect(witness.words() == ["started: \(code)"])
            #expect(!manager.isAdvertising)
            #expect(bench.radio.frames == [])
        }
    }

    @Test("A radio that fails later is reported by the same callback (P4)")
    func p4LaterFailure() async {
        let (bench, witness, manager) = await ManagerBench.withManager()
        await bench.advertise(manager)
        await bench.deliver(.advertising(ManagerBench.frame(), .failure(RadioError(.failed, "broken"))))
        #expect(witness.words() == ["poweredOn", "started, advertising", "started: unknown"])
        #expect(!manager.isAdvertising)
        #expect(bench.radio.frames == [])
    }

    @Test("A manager too many for the radio fails alone, and its advert is removed (P4)")
    func p4TwoManagers() async {
        let bench = await ManagerBench(.poweredOn)
        let witnesses = [Witness(), Witness()]
        let managers = witnesses.map { bench.makeManager($0) }
        await bench.settle()
        managers[0].startAdvertising(ManagerBench.beacon(minor: 1))
        await bench.settle()
        await bench.deliver(.advertising(ManagerBench.frame(), .success(())))
        managers[1].startAdvertising(ManagerBench.beacon(minor: 2))
        await bench.settle()
        #expect(bench.radio.frames == [ManagerBench.frame(minor: 1), ManagerBench.frame(minor: 2)])
        await bench.deliver(.advertising(ManagerBench.frame(minor: 2), .failure(RadioError(.failed, "one is enough"))))
        #expect(bench.radio.frames == [ManagerBench.frame(minor: 1)])
        #expect(managers.map(\.isAdvertising) == [true, false])
        #expect(witnesses[0].words() == ["poweredOn", "started, advertising"])
        #expect(witnesses[1].words() == ["poweredOn", "started: unknown"])
    }

    @Test("Advertising pauses while the radio is returning, and resumes by itself (P7)")
    func p7Pause() async {
        for state in [RadioState.resetting, .unknown] {
            let bench = await ManagerBench(.poweredOn)
            let witness = Witness()
            let manager = bench.makeManager(witness)
            let misuses = manager.misuses
            await bench.settle()
            await bench.advertise(manager)
            _ = witness.words()
            await bench.deliver(.state(state))
            #expect(!manager.isAdvertising)
            await bench.deliver(.state(.poweredOn))
            #expect(manager.isAdvertising)
            #expect(bench.radio.requests == [[ManagerBench.frame()]])
            #expect(witness.words() == ["\(state)", "poweredOn"])
            await bench.deliver(.state(state))
            manager.stopAdvertising()
            await bench.settle()
            #expect(bench.radio.frames == [])
            #expect(manager.misuses - misuses == 0)
        }
    }

    @Test("A radio that is off, missing or forbidden ends advertising; it must be started again (P7)")
    func p7Stop() async {
        for state in [RadioState.poweredOff, .unsupported, .unauthorized] {
            let (bench, witness, manager) = await ManagerBench.withManager()
            await bench.advertise(manager)
            await bench.deliver(.state(state))
            #expect(!manager.isAdvertising)
            #expect(bench.radio.frames == [])
            await bench.deliver(.state(.poweredOn))
            await bench.deliver(.advertising(ManagerBench.frame(), .success(())))
            #expect(!manager.isAdvertising)
            #expect(bench.radio.frames == [])
            _ = witness.words()
            manager.startAdvertising(ManagerBench.beacon(minor: 2))
            await bench.settle()
            await bench.deliver(.advertising(ManagerBench.frame(minor: 2), .success(())))
            #expect(bench.radio.frames == [ManagerBench.frame(minor: 2)])
            #expect(witness.words() == ["started, advertising"])
        }
    }

    @Test("It ends even if the app is too busy to notice before the radio is back (P7)")
    func p7Busy() async {
        let bench = await ManagerBench(.poweredOn)
        let manager = bench.makeManager(nil)
        await bench.settle()
        await bench.advertise(manager)
        bench.queue.suspend()
        await bench.center.receive(.state(.poweredOff))
        bench.center.queue.sync {}
        #expect(bench.radio.frames == [])
        // The manager does not know yet that the radio is off, so this start ends too.
        manager.stopAdvertising()
        manager.startAdvertising(ManagerBench.beacon(minor: 2))
        // Once for the start, once for its end.
        for _ in 0..<2 { bench.center.queue.sync {} }
        #expect(bench.radio.frames == [])
        bench.queue.resume()
        await bench.deliver(.state(.poweredOn))
        #expect(bench.radio.frames == [])
        #expect(!manager.isAdvertising)
    }

    @Test("With many threads and a radio that comes and goes, nothing is left over")
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
            await bench.deliver(.state(.resetting), .state(.poweredOn))
            #expect(bench.radio.frames == [])
            #expect(shared.allSatisfy { !$0.manager.isAdvertising })
            let manager = shared[0].manager
            await bench.advertise(manager)
            #expect(manager.isAdvertising)
            #expect(bench.radio.frames == [ManagerBench.frame()])
            manager.stopAdvertising()
        }
        await bench.settle()
        #expect(last == nil)
        #expect(bench.radio.frames == [])
    }
}
