import BeaconApplications
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import TestSupport
import Testing

@Suite("A center whose radio does not hear")
struct CenterOutageTests {
    private let hall = RegisteredRegion(identifier: "hall", constraint: CenterBench.everyone)

    @Test("A night of sleep causes no exit, and no reports for the hours of sleep (O3)")
    func sleep() async {
        let bench = await CenterBench()
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.hear(100.5)
        await bench.time(101)
        #expect(await bench.words() == ["started hall", "hall inside", "ranged 101.0 [1]"])
        await bench.sleep(from: 101.2, to: 28_901.2)
        await bench.time(28_901.5)
        #expect(await bench.words() == [])
        await bench.hear(28_901.8)
        await bench.time(28_902)
        #expect(await bench.words() == ["ranged 28902.0 [1]"])
        // Without the beacon in the morning, the region is exited after 30 s of hearing.
        await bench.sleep(from: 28_902, to: 50_000)
        await bench.center.stopRanging(CenterBench.everyone, for: bench.client)
        await bench.time(50_029)
        #expect(await bench.words() == [])
        await bench.time(50_030)
        #expect(await bench.words() == ["hall outside", "exit hall"])
    }

    @Test("Restarted ranging has no reading from an earlier request (R16)")
    func ranging() async {
        let bench = await CenterBench()
        let (other, _) = await bench.addClient()
        await bench.center.startMonitoring(hall, for: other)
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.hear(0.2, rssi: -30)
        await bench.hear(0.8, rssi: -30)
        await bench.center.stopRanging(CenterBench.everyone, for: bench.client)
        for second in 1..<240 { await bench.hear(Double(second), rssi: -85) }
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        let beacons = BeaconsLog()
        let late = bench.center.makeClientID()
        bench.center.addClient(late, beacons.note)
        await bench.center.startRanging(CenterBench.everyone, for: late)
        await bench.hear(240.5, rssi: -85)
        await bench.time(241)
        _ = await bench.words()
        #expect(beacons.levels == [-85])
        #expect(beacons.proximities == [.far])
    }

    @Test("An outage with several forms fails each request once, and is not withdrawn before it ends (R12)")
    func forms() async {
        let bench = await CenterBench()
        await bench.time(100)
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        for (state, seconds) in [
            (RadioState.resetting, 101.0), (.poweredOff, 110), (.resetting, 120), (.unknown, 130), (.unsupported, 140),
        ] {
            await bench.state(state)
            await bench.time(seconds)
        }
        #expect(
            await bench.words() == [
                "radio resetting", "radio poweredOff", "ranging failed radioUnavailable", "radio resetting",
                "radio unknown", "radio unsupported",
            ])
        await bench.state(.poweredOn)
        await bench.time(141)
        await bench.state(.resetting)
        await bench.time(145.5)
        #expect(await bench.words() == ["radio poweredOn", "ranged 141.0 []", "radio resetting"])
        await bench.time(146)
        #expect(await bench.words() == ["ranging failed radioUnavailable"])
    }

    @Test("A machine without Bluetooth answers requests that were made before that was known (R12, G19)")
    func noRadio() async {
        let bench = await CenterBench(radio: .unknown)
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.center.startMonitoring(hall, for: bench.client)
        #expect(await bench.words() == ["started hall"])
        await bench.state(.unsupported)
        #expect(
            await bench.words() == [
                "radio unsupported", "ranging failed radioUnavailable", "failed hall radioUnavailable",
            ])
        // A retry is answered, and so is a request through a region.
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.center.startRanging(CenterBench.everyone, for: bench.client, requester: .region("hall"))
        await bench.center.startMonitoring(hall, for: bench.client)
        #expect(
            await bench.words() == [
                "ranging failed radioUnavailable", "ranging failed radioUnavailable", "failed hall radioUnavailable",
            ])
    }

    @Test("A refusal of permission before the radio is known is answered (R12a, G19)")
    func denied() async {
        let bench = await CenterBench(status: .notDetermined, radio: .unknown)
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.center.startMonitoring(hall, for: bench.client)
        #expect(await bench.words() == ["started hall"])
        await bench.center.setStatus(.denied)
        #expect(
            await bench.words() == ["authorization denied", "ranging failed denied", "failed hall denied"])
        await bench.center.startMonitoring(hall, for: bench.client)
        #expect(await bench.words() == ["failed hall denied"])
    }

    @Test(
        "While the permission is undecided, an outage fails nothing; the grant delivers the failure (R12a, G6)",
        arguments: [
            (RadioState.poweredOff, ["ranging failed radioUnavailable"]),
            (.unsupported, ["ranging failed radioUnavailable", "failed hall radioUnavailable"]),
        ])
    func undecided(state: RadioState, failures: [String]) async {
        let bench = await CenterBench(status: .notDetermined, radio: state)
        _ = await bench.words()
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.time(100)
        #expect(await bench.words() == ["started hall"])
        await bench.center.setStatus(.always)
        #expect(await bench.words() == ["authorization always"] + failures)
    }

    @Test("The failures of several constraints have the same order in each process (R17)")
    func order() async {
        let minors: [UInt16] = [7, 3, 9, 1, 5, 8, 2, 6, 4]
        var orders: Set<[String]> = []
        for shift in 0..<4 {
            let bench = await CenterBench()
            for index in minors.indices {
                let minor = minors[(index + 3 * shift) % minors.count]
                await bench.center.startRanging(
                    BeaconConstraint(uuid: CenterBench.uuid, major: 1, minor: minor), for: bench.client)
            }
            await bench.state(.poweredOff)
            orders.insert(await bench.words())
        }
        #expect(orders.count == 1)
        #expect(orders.first?.count == 10)
    }

    @Test("The stored state is the last known one, even during an outage (O4)")
    func stored() async {
        let store = CountingStore()
        let first = await CenterBench(store: store)
        await first.center.startMonitoring(hall, for: first.client)
        await first.hear(1)
        await first.state(.poweredOff)
        await first.time(1000)
        #expect(await first.words().last == "hall unknown")
        #expect(first.center.snapshot.regions.map(\.state) == [.unknown])
        // Writing other data also writes the region.
        await first.center.startMonitoring(hall, for: first.client)
        await first.finishWriting()
        #expect(store.load().map(\.state) == [.inside])

        let second = await CenterBench(store: store, radio: .unknown)
        await second.time(2000)
        await second.time(2004)
        await second.state(.poweredOn)
        await second.time(2040)
        // The radio started within its patience, so that nothing was unknown to the application.
        #expect(await second.words() == ["radio poweredOn", "hall outside", "exit hall"])
    }

    @Test(
        "After an outage, a beacon that appeared causes an entry, and one that disappeared causes an exit (O5)"
    )
    func comparison() async {
        let bench = await CenterBench()
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.time(0)
        await bench.time(30)
        await bench.state(.poweredOff)
        await bench.time(100)
        await bench.state(.poweredOn)
        await bench.hear(101)
        #expect(
            await bench.words() == [
                "started hall", "hall outside", "radio poweredOff", "hall unknown", "radio poweredOn", "hall inside",
                "enter hall",
            ])
        await bench.state(.unauthorized)
        await bench.time(200)
        await bench.state(.poweredOn)
        await bench.time(229)
        #expect(
            await bench.words() == [
                "radio unauthorized", "failed hall radioUnavailable", "hall unknown", "radio poweredOn", "started hall",
            ])
        await bench.time(231)
        #expect(await bench.words() == ["hall outside", "exit hall"])
    }

    @Test("A radio that replaces another is the only one that is heard")
    func anotherRadio() async throws {
        let bench = await CenterBench()
        let second = VirtualRadio()
        bench.center.use(second)
        _ = await bench.words()
        for _ in 0..<100 { bench.radio.send(.state(.unsupported)) }
        second.send(.heard(SourceBatch(upTo: Timestamp(nanoseconds: 7_000_000_000))))
        try await eventually { bench.center.time != nil }
        for _ in 0..<1000 { await Task.yield() }
        #expect(bench.center.snapshot.radio == .poweredOn)
        #expect(await bench.words() == [])
        // The second radio receives the requests to the first.
        let third = VirtualRadio()
        await bench.center.startMonitoring(hall, for: bench.client)
        bench.center.use(third)
        _ = await bench.words()
        #expect(second.modes == [.monitoring([CenterBench.uuid])])
        #expect(third.modes == [.monitoring([CenterBench.uuid])])
    }

    @Test("A frame that cannot be sent fails only for its client, and the other's stays on the air (P4)")
    func advertising() async {
        let bench = await CenterBench()
        let (other, log) = await bench.addClient()
        _ = log.take()
        let frames = (1...2).map {
            OutgoingAdvert(
                IBeaconFrame(
                    identity: BeaconIdentity(uuid: CenterBench.uuid, major: 1, minor: UInt16($0)), measuredPower: -59))
        }
        await bench.center.advertise(frames[0], for: bench.client)
        await bench.center.advertise(frames[1], for: other)
        await bench.center.receive(.advertising(frames[0], .success(())))
        await bench.center.receive(.advertising(frames[1], .failure(RadioError(.unsupported, "no room"))))
        #expect(await bench.words() == ["advertising"])
        #expect(log.take() == ["advertising failed true"])
        #expect(bench.radio.frames.last == [frames[0]])
    }

    @Test("After a full disk, the next change writes all pending changes (B6)")
    func fullDisk() async {
        let store = CountingStore()
        let bench = await CenterBench(store: store)
        store.fill(true)
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.finishWriting()
        await bench.hear(1)
        await bench.finishWriting()
        #expect(store.load().isEmpty)
        store.fill(false)
        await bench.center.startMonitoring(
            RegisteredRegion(identifier: "door", constraint: CenterBench.everyone), for: bench.client)
        await bench.finishWriting()
        #expect(store.load().map { "\($0.identifier) \($0.state)" } == ["hall inside", "door unknown"])
    }
}
