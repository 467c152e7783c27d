import BeaconModel
import BeaconRadio
import Testing

@testable import LinuxRadio

struct AdvertisingSessionTests {
    private static let uuid = ProximityUUID(high: 1, low: 2)

    private static func frames(_ minors: UInt16...) -> [OutgoingAdvert] {
        minors.map {
            OutgoingAdvert(IBeaconFrame(identity: BeaconIdentity(uuid: uuid, major: 1, minor: $0), measuredPower: -59))
        }
    }

    private static let five = frames(1, 2, 3, 4, 5)

    @Test("A beacon is sent and ended", arguments: [false, true])

    func aBeaconIsSentAndEnded(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.advertise(Self.frames(1))
        #expect(Array(bench.controller.onAir.values) == Self.frames(1).map(\.advert))
        #expect(bench.outcomes == [1])
        for command in bench.session.undo { _ = bench.controller.receive(command) }
        #expect(bench.controller.onAir.isEmpty)
        #expect(bench.protected == bench.session.undo)
        bench.advertise([])
        #expect(bench.controller.onAir.isEmpty)
        #expect(bench.protected.isEmpty)
    }

    @Test("A name is sent as a scan response, even if adverts take turns", arguments: [false, true], [1, 3])
    func scanResponses(isExtended: Bool, count: Int) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended, advertisingSets: 1))
        var adverts = Self.frames(1, 2, 3)
        adverts[0].localName = "Till"
        bench.advertise(Array(adverts.prefix(count)))
        #expect(bench.controller.scanResponses.values.map { $0 } == [[5, 9] + Array("Till".utf8)])
        #expect(bench.controller.onAir.values.map { $0 } == [adverts[0].advert])
        #expect(bench.outcomes == Array(1...count))
        guard count > 1 else { return }
        var responses: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<20 {
            bench.wait(0.1)
            if let advert = bench.controller.onAir.values.first {
                responses[advert] = bench.controller.scanResponses.values.first
            }
        }
        #expect(responses[adverts[0].advert] == [5, 9] + Array("Till".utf8))
        #expect(responses[adverts[1].advert] == [] && responses[adverts[2].advert] == [])
    }

    @Test("The scan pauses for the address")
    func theScanPausesForTheAddress() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.advertise(Self.frames(1))
        #expect(bench.controller.isScanning && bench.controller.onAir.count == 1)
        #expect(bench.controller.randomAddress == [0xAB, 0x89, 0x67, 0x45, 0x23, 0x01])
    }

    @Test("The address changes on schedule while beacons and the scan continue", arguments: [false, true], [1, 5])

    func theAddressChanges(isExtended: Bool, count: Int) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended, advertisingSets: 2))
        bench.scan(.ranging)
        // Silence would make the session reset the adapter, which has new addresses then.
        bench.adverts = 100_000_000
        bench.rotateAddresses(every: 900)
        bench.advertise(Array(Self.five.prefix(count)))
        func addresses() -> [[UInt8]] {
            isExtended ? Array(bench.controller.setAddresses.values) : [bench.controller.randomAddress]
        }
        let sent = bench.controller.onAir.count
        var seen = Set(addresses())
        for change in 1...3 {
            bench.wait(898)
            #expect(Set(addresses()).isSubset(of: seen), "\(change)")
            bench.wait(2)
            #expect(seen.isDisjoint(with: addresses()), "\(change)")
            #expect(addresses().count == sent && bench.controller.onAir.count == sent && bench.controller.isScanning)
            seen.formUnion(addresses())
        }
        // No outcome is reported for the change of address.
        #expect(bench.outcomes.sorted() == Array(1...count))
        bench.rotateAddresses(every: nil)
        bench.wait(2000)
        #expect(seen.isSuperset(of: addresses()))
        bench.advertise([])
        #expect(bench.controller.onAir.isEmpty)
    }

    @Test("The address is private and not resolvable")
    func theAddressIsPrivateAndNotResolvable() {
        for _ in 0..<100 {
            let address = AdvertisingControl.randomAddress()
            #expect(address.bits >> 46 == 0 && address.bits > 0 && address.kind == .random)
        }
    }

    @Test("Each beacon has its own set")
    func eachBeaconHasItsOwnSet() {
        var bench = SessionBench.working(VirtualController(isExtended: true))
        bench.advertise(Self.frames(1, 2, 3))
        #expect(Set(bench.controller.onAir.values) == Set(Self.five.prefix(3).map(\.advert)))
        #expect(Set(bench.controller.onAir.keys) == [0xEF, 0xEE, 0xED])
        #expect(!bench.kinds.contains(.degraded))
    }

    @Test("If there are too few slots, beacons take turns", arguments: [false, true])

    func withTooFewSlotsBeaconsTakeTurns(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended, advertisingSets: 2))
        bench.advertise(Self.five)
        #expect(bench.controller.onAir.count == (isExtended ? 2 : 1))
        #expect(bench.kinds.contains(.degraded))
        var heard = Set(bench.controller.onAir.values)
        for _ in 0..<20 {
            bench.wait(0.1)
            heard.formUnion(bench.controller.onAir.values)
        }
        #expect(heard == Set(Self.five.map(\.advert)))
    }

    @Test("The session manages without sets that other software uses")
    func setsOfOtherSoftwareAreAvoided() {
        var controller = VirtualController(isExtended: true, advertisingSets: 4)
        for set in 1...2 as ClosedRange<UInt8> {
            _ = controller.receive(.setExtendedAdvertisingParameters(set: set))
        }
        var bench = SessionBench.working(controller)
        bench.advertise(Self.frames(1, 2, 3, 4))
        #expect(bench.controller.onAir.count == 2)
        #expect(bench.outcomes.sorted() == [1, 2, 3, 4])
    }

    @Test("A set of another process is left alone")
    func aSetOfAnotherProcessIsLeftAlone() {
        var controller = VirtualController(isExtended: true)
        for command: HCICommand in [
            .setExtendedAdvertisingParameters(set: 0xEF), .setExtendedAdvertisingData([1, 2], set: 0xEF),
            .setExtendedAdvertisingEnable(true, set: 0xEF),
        ] { _ = controller.receive(command) }
        var bench = SessionBench.working(controller)
        bench.advertise(Self.frames(1))
        #expect(bench.controller.onAir == [0xEF: [1, 2], 0xEE: Self.frames(1)[0].advert])
        bench.advertise([])
        #expect(bench.controller.onAir == [0xEF: [1, 2]])
    }

    @Test("A refusal is reported once, and the command is retried")
    func aRefusalIsReportedOnceAndRetried() throws {
        var controller = VirtualController()
        // Other software sends with the only slot.
        _ = controller.receive(.setAdvertisingEnable(true))
        var bench = SessionBench.working(controller)
        bench.advertise(Self.frames(1))
        let failure = try #require(bench.advertising.first)
        #expect { try failure.result.get() } throws: { ($0 as? RadioError)?.message.contains("other software") == true }
        bench.wait(100)
        #expect(bench.outcomes == [-1])
        #expect(bench.powerChanges.isEmpty)
        // Other software's adverts stay unchanged, even when the session ends.
        #expect(bench.controller.onAir == [255: []])
        #expect(bench.session.undo.isEmpty)
        _ = bench.controller.receive(.setAdvertisingEnable(false))
        bench.wait(300)
        #expect(bench.controller.onAir == [255: Self.frames(1)[0].advert])
        #expect(bench.outcomes == [-1, 1])
    }

    @Test("New beacons replace earlier ones")
    func newBeaconsReplaceEarlierOnes() {
        var bench = SessionBench.working(VirtualController(isExtended: true))
        bench.advertise(Self.frames(1, 2, 3))
        bench.advertise(Self.frames(77))
        #expect(Array(bench.controller.onAir.values) == [Packets.beacon(Self.uuid, minor: 77)])
        #expect(bench.outcomes == [1, 2, 3, 77])
    }

    @Test("Adverts that other software ends are restarted", arguments: [false, true])

    func advertsEndedByOtherSoftwareAreRestarted(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.advertise(Self.frames(1))
        bench.othersSend(isExtended ? .setExtendedAdvertisingEnable(false, set: 0xEF) : .setAdvertisingEnable(false))
        #expect(bench.controller.onAir.isEmpty)
        bench.wait(1)
        #expect(Array(bench.controller.onAir.values) == Self.frames(1).map(\.advert))
    }

    @Test("The adverts of a dead process are ended first")
    func advertsOfADeadProcessAreEndedFirst() {
        var controller = VirtualController()
        for command: HCICommand in [.setAdvertisingData([9, 9]), .setAdvertisingEnable(true)] {
            _ = controller.receive(command)
        }
        var bench = SessionBench(controller)
        bench.session.inherit([.setAdvertisingEnable(false)])
        bench.session.begin(isOn: true, at: bench.now)
        bench.settle()
        #expect(bench.controller.onAir.isEmpty)
        bench.advertise(Self.frames(1))
        #expect(Array(bench.controller.onAir.values) == Self.frames(1).map(\.advert))
    }

    @Test("A frame that the controller refuses fails alone; the others stay on the air, and it is tried again (M7)")
    func oneFrameFails() {
        var bench = SessionBench.working(VirtualController(isExtended: true))
        bench.advertise(Self.frames(1))
        let address = bench.controller.setAddresses[0xEF]
        bench.controller.refusedData = Self.frames(2)[0].advert
        bench.advertise(Self.frames(1, 2, 3))
        #expect(bench.outcomes == [1, 1, -2, 3])
        #expect(Set(bench.controller.onAir.values) == Set(Self.frames(1, 3).map(\.advert)))
        #expect(bench.controller.setAddresses[0xEF] == address)
        bench.wait(60)
        #expect(bench.outcomes == [1, 1, -2, 3])
        bench.controller.refusedData = nil
        bench.wait(300)
        #expect(bench.outcomes == [1, 1, -2, 3, 2])
        #expect(Set(bench.controller.onAir.values) == Set(Self.frames(1, 2, 3).map(\.advert)))
    }

    @Test("A frame stays on the air in its set while others are added and removed (M7)")
    func otherFramesAreAddedAndRemoved() {
        var bench = SessionBench.working(VirtualController(isExtended: true))
        bench.advertise(Self.frames(1, 2))
        bench.controller.forgetCommands()
        bench.advertise(Self.frames(2, 3))
        bench.advertise(Self.frames(2))
        #expect(bench.controller.onAir == [0xEE: Self.frames(2)[0].advert])
        #expect(!bench.controller.received.contains { $0.advertisingSets.contains(0xEE) })
    }

    @Test("A frame that is requested twice is sent once", arguments: [false, true])
    func aFrameTwice(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.advertise(Self.frames(1, 1))
        #expect(Array(bench.controller.onAir.values) == Self.frames(1).map(\.advert))
        #expect(bench.outcomes == [1])
        bench.advertise(Self.frames(1))
        #expect(bench.outcomes == [1, 1])
    }

    @Test("An adapter that this process may not switch on refuses each frame, even later ones (M7)")
    func unauthorized() {
        var bench = SessionBench()
        bench.powerFailure = HCISystemError(1)
        bench.advertise(Self.frames(1))
        bench.session.begin(isOn: false, at: bench.now)
        bench.settle()
        #expect(bench.outcomes == [-1])
        bench.advertise(Self.frames(2, 3))
        #expect(bench.outcomes == [-1, -2, -3])
    }
}
