import BeaconApplications
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Dispatch
import Testing

@Suite("Beacon center")
struct BeaconCenterTests {
    private let hall = RegisteredRegion(identifier: "hall", constraint: CenterBench.everyone)

    @Test("A new client receives the authorization")
    func authorizationAtFirst() async {
        let bench = await CenterBench(status: .whenInUse)
        #expect(bench.center.snapshot.authorization == .whenInUse)
        #expect(bench.firstWords == ["authorization whenInUse", "radio poweredOn"])
    }

    @Test("A beacon heard only every 25 s causes no entry for a device that is near it all the time")
    func rareBeacon() async {
        let bench = await CenterBench()
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.time(0)
        for second in stride(from: 25.0, through: 250, by: 25) {
            await bench.hear(second)
            if second == 100 {
                await bench.state(.resetting)
                await bench.time(101)
                await bench.state(.poweredOn)
            }
        }
        #expect(await bench.words() == ["started hall", "hall inside", "radio resetting", "radio poweredOn"])
    }

    @Test("A region replaces another with the same identifier; the same region keeps its state")
    func replacement() async {
        let bench = await CenterBench()
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.hear(1)
        await bench.center.startMonitoring(hall, for: bench.client)
        #expect(bench.center.snapshot.regions.map(\.state) == [.inside])
        await bench.center.startMonitoring(
            RegisteredRegion(identifier: "hall", constraint: BeaconConstraint(uuid: CenterBench.uuid, major: 9)),
            for: bench.client)
        #expect(bench.center.snapshot.regions.map(\.state) == [.unknown])
        #expect(bench.center.snapshot.regions.count == 1)
    }

    @Test("Beyond the limit, only the new region fails")
    func limit() async {
        let bench = await CenterBench(maximumRegions: 2)
        for name in ["a", "b", "c"] {
            await bench.center.startMonitoring(
                RegisteredRegion(identifier: name, constraint: CenterBench.everyone), for: bench.client)
        }
        #expect(await bench.words() == ["started a", "started b", "failed c limitExceeded"])
        await bench.center.stopMonitoring("a")
        await bench.center.startMonitoring(
            RegisteredRegion(identifier: "c", constraint: CenterBench.everyone), for: bench.client)
        #expect(await bench.words() == ["started c"])
    }

    @Test(
        "After a restart, a region that was inside waits to be heard again: no false exit, no second entry")
    func restart() async {
        let store = MemoryRegionStore()
        let first = await CenterBench(store: store)
        await first.center.startMonitoring(hall, for: first.client)
        await first.hear(1)
        await first.finishWriting()
        #expect(store.load().map(\.state) == [.inside])

        let second = await CenterBench(store: store)
        await second.time(1000)
        await second.time(1029)
        await second.hear(1029.5)
        await second.time(1058)
        #expect(await second.words() == [])
        // An app starts its regions at each launch, and waits for the state.
        await second.center.startMonitoring(hall, for: second.client)
        #expect(await second.words() == ["started hall", "hall inside"])
        await second.time(1061)
        #expect(await second.words() == ["hall outside", "exit hall"])
    }

    @Test("The radio scans no harder than necessary")
    func scanModes() async {
        let bench = await CenterBench()
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.center.stopRanging(CenterBench.everyone, for: bench.client)
        await bench.center.stopMonitoring("hall")
        _ = await bench.words()
        #expect(
            bench.radio.modes == [.monitoring([CenterBench.uuid]), .ranging, .monitoring([CenterBench.uuid]), .off])
    }

    @Test("Ranging reports once a second, even without beacons; a second start has no effect")
    func ranging() async {
        let bench = await CenterBench()
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.time(0.5)
        await bench.hear(0.6)
        await bench.time(1)
        await bench.time(2)
        #expect(await bench.words() == ["ranged 1.0 [1]", "ranged 2.0 [1]"])
        await bench.center.stopRanging(CenterBench.everyone, for: bench.client)
        await bench.center.startRanging(BeaconConstraint(uuid: CenterBench.uuid, major: 5), for: bench.client)
        await bench.time(3)
        #expect(await bench.words() == ["ranged 3.0 []"])
    }

    @Test("Clients receive only their own ranging; a removed client's ranging ends, and the regions stay")
    func clients() async {
        let bench = await CenterBench()
        let other = bench.center.makeClientID()
        bench.center.addClient(other) { _ in }
        await bench.center.startRanging(CenterBench.everyone, for: other)
        await bench.center.startMonitoring(hall, for: other)
        await bench.time(0)
        await bench.time(1)
        #expect(await bench.words() == [])
        await bench.center.removeClient(other)
        #expect(bench.radio.modes.last == .monitoring([CenterBench.uuid]))
        #expect(bench.center.snapshot.regions.count == 1)
    }

    @Test("Without permission nothing is delivered; a grant starts everything, and a refusal ends it")
    func authorization() async {
        let bench = await CenterBench(status: .notDetermined)
        await bench.center.startMonitoring(hall, for: bench.client)
        await bench.center.startRanging(CenterBench.everyone, for: bench.client)
        await bench.hear(1)
        await bench.time(5)
        #expect(await bench.words() == ["started hall"])
        #expect(bench.radio.modes == [])
        await bench.center.request(.whenInUse)
        await bench.hear(5.5)
        await bench.time(6)
        #expect(await bench.words() == ["authorization whenInUse", "hall inside", "ranged 6.0 [1]"])
        await bench.center.setStatus(.denied)
        await bench.hear(7)
        #expect(
            await bench.words() == [
                "authorization denied", "ranging failed denied", "failed hall denied", "hall unknown",
            ])
        #expect(bench.radio.modes.last == .off)
    }

    @Test("Permissions are granted as on Apple's systems: once, and once more from when-in-use to always")
    func requests() {
        #expect(AuthorizationStatus.notDetermined.granting(.whenInUse) == .whenInUse)
        #expect(AuthorizationStatus.notDetermined.granting(.always) == .always)
        #expect(AuthorizationStatus.whenInUse.granting(.always) == .always)
        #expect(AuthorizationStatus.always.granting(.whenInUse) == .always)
        #expect(AuthorizationStatus.denied.granting(.always) == .denied)
        #expect(AuthorizationStatus.restricted.granting(.always) == .restricted)
    }

    @Test("Frames of all clients are sent together, and each client removes only its own")
    func advertising() async {
        let bench = await CenterBench()
        let other = bench.center.makeClientID()
        bench.center.addClient(other) { _ in }
        let first = OutgoingAdvert(
            IBeaconFrame(
                identity: BeaconIdentity(uuid: CenterBench.uuid, major: 1, minor: 1), measuredPower: -59))
        let second = OutgoingAdvert(
            IBeaconFrame(
                identity: BeaconIdentity(uuid: CenterBench.uuid, major: 1, minor: 2), measuredPower: -59))
        await bench.center.advertise(first, for: bench.client)
        await bench.center.advertise(second, for: other)
        await bench.center.receive(.advertising(first, .success(())))
        await bench.center.removeClient(bench.client)
        await bench.center.advertise(nil, for: other)
        #expect(bench.radio.frames == [[first], [first, second], [second], []])
    }

    @Test("A client receives one outcome for its frame; a frame too many fails alone and is removed")
    func advertisingAnswers() async {
        let bench = await CenterBench()
        let frames = (1...2).map {
            OutgoingAdvert(
                IBeaconFrame(
                    identity: BeaconIdentity(uuid: CenterBench.uuid, major: 1, minor: UInt16($0)), measuredPower: -59))
        }
        let other = bench.center.makeClientID()
        bench.center.addClient(other) { _ in }
        await bench.center.advertise(frames[0], for: bench.client)
        await bench.center.receive(.advertising(frames[0], .success(())))
        await bench.center.receive(.advertising(frames[0], .success(())))
        await bench.center.advertise(frames[1], for: other)
        await bench.center.receive(.advertising(frames[1], .failure(RadioError(.unsupported, "one is enough"))))
        #expect(await bench.words() == ["advertising"])
        #expect(bench.radio.frames == [[frames[0]], frames, [frames[0]]])
        await bench.center.receive(.advertising(frames[0], .failure(RadioError(.unsupported, "broken"))))
        #expect(await bench.words() == ["advertising failed true"])
        #expect(bench.radio.frames.last == [])
    }

    @Test("A new client receives the state of the radio if it is known")
    func radioAtFirst() async {
        let states = Locked<[RadioState]>([])
        let bench = await CenterBench(radio: .unknown)
        for state in [nil, RadioState.poweredOff] {
            if let state { await bench.center.receive(.state(state)) }
            bench.center.addClient(bench.center.makeClientID()) { event in
                if case .radio(let state) = event { states.withLock { $0.append(state) } }
            }
            _ = await bench.words()
        }
        // The first client receives the change, the other one the present state.
        #expect(states.withLock { $0 } == [.poweredOff, .poweredOff])
    }

    @Test("A condition is delivered only to its client, in causal order, and ends with it")
    func conditions() async {
        let bench = await CenterBench()
        let other = bench.center.makeClientID()
        bench.center.addClient(other) { _ in }
        await bench.center.startMonitoring(bench.center.makeConditionID(), CenterBench.everyone, client: bench.client)
        await bench.center.startMonitoring(bench.center.makeConditionID(), CenterBench.everyone, client: other)
        await bench.hear(1, minor: 7)
        #expect(await bench.words() == ["condition inside 7"])
        #expect(bench.center.snapshot.regions.isEmpty)
        await bench.center.setStatus(.denied)
        #expect(await bench.words() == ["authorization denied", "condition unknown 0"])
        await bench.center.setStatus(.always)
        #expect(bench.radio.modes.last == .monitoring([CenterBench.uuid]))
        await bench.center.removeClient(other)
        #expect(bench.radio.modes.last == .monitoring([CenterBench.uuid]))
        await bench.center.removeClient(bench.client)
        #expect(bench.radio.modes.last == .off)
    }

    @Test("Regions and clients' conditions have separate limits")
    func conditionLimit() async {
        let bench = await CenterBench(maximumRegions: 1)
        await bench.center.startMonitoring(hall, for: bench.client)
        let conditions = (0...BeaconCenter.appleConditionLimit).map { _ in bench.center.makeConditionID() }
        for condition in conditions {
            await bench.center.startMonitoring(condition, CenterBench.everyone, client: bench.client)
        }
        #expect(await bench.words() == ["started hall", "condition unknown 0 beyond"])
        await bench.center.stopMonitoring(conditions[5])
        #expect(await bench.words() == ["condition unknown 0"])
        await bench.hear(1)
        #expect(await bench.words().filter { $0 == "condition inside 1" }.count == 20)
    }

    @Test("A thousand regions are entered and written once, and a slow disk delays no callback (B6)")
    func many() async {
        let store = CountingStore()
        let bench = await CenterBench(store: store)
        // The disk is busy, which delays no callback.
        let isBusy = DispatchSemaphore(value: 0)
        bench.center.performOnDisk { isBusy.wait() }
        for number in 0..<1000 {
            let region = RegisteredRegion(
                identifier: "\(number)",
                constraint: BeaconConstraint(uuid: CenterBench.uuid, major: 1, minor: UInt16(number)))
            bench.center.perform { $0.startMonitoring(region, for: bench.client) }
        }
        for number in 0..<1000 { await bench.hear(1, minor: UInt16(number)) }
        let words = await bench.words()
        #expect(words.count == 2000)
        isBusy.signal()
        await bench.finishWriting()
        #expect(store.saves == 1)
        #expect(store.load().count == 1000)
        #expect(store.load().allSatisfy { $0.state == .inside })
    }
}
