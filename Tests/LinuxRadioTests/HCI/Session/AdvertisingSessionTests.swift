import BeaconModel
import BeaconRadio
import Testing

@testable import LinuxRadio

struct AdvertisingSessionTests {
    private static let uuid = ProximityUUID(high: 1, low: 2)

    private static func adverts(_ count: UInt16) -> [[UInt8]] {
        (0..<count).map { Packets.beacon(uuid, minor: $0) }
    }

    @Test(arguments: [false, true]) func aBeaconIsSentAndTakenBack(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.advertise(Self.adverts(1))
        #expect(Array(bench.controller.onAir.values) == Self.adverts(1))
        #expect(bench.advertising.count == 1 && (try? bench.advertising[0].get()) != nil)
        for command in bench.session.undo { _ = bench.controller.receive(command) }
        #expect(bench.controller.onAir.isEmpty)
        #expect(bench.protected == bench.session.undo)
        bench.advertise([])
        #expect(bench.controller.onAir.isEmpty)
        #expect(bench.protected.isEmpty)
    }

    @Test func theScanPausesForTheAddress() {
        var bench = SessionBench.working()
        bench.scan(.ranging)
        bench.advertise(Self.adverts(1))
        #expect(bench.controller.isScanning && bench.controller.onAir.count == 1)
        #expect(bench.controller.randomAddress == [0xAB, 0x89, 0x67, 0x45, 0x23, 0x01])
    }

    @Test func theAddressIsPrivateAndNotResolvable() {
        for _ in 0..<100 {
            let address = AdvertisingControl.randomAddress()
            #expect(address.bits >> 46 == 0 && address.bits > 0 && address.kind == .random)
        }
    }

    @Test func eachBeaconHasASetOfItsOwn() {
        var bench = SessionBench.working(VirtualController(isExtended: true))
        bench.advertise(Self.adverts(3))
        #expect(Set(bench.controller.onAir.values) == Set(Self.adverts(3)))
        #expect(Set(bench.controller.onAir.keys) == [0xEF, 0xEE, 0xED])
        #expect(!bench.kinds.contains(.degraded))
    }

    @Test(arguments: [false, true]) func whereThereAreTooFewSlotsBeaconsTakeTurns(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended, advertisingSets: 2))
        bench.advertise(Self.adverts(5))
        #expect(bench.controller.onAir.count == (isExtended ? 2 : 1))
        #expect(bench.kinds.contains(.degraded))
        var heard = Set(bench.controller.onAir.values)
        for _ in 0..<20 {
            bench.wait(0.1)
            heard.formUnion(bench.controller.onAir.values)
        }
        #expect(heard == Set(Self.adverts(5)))
    }

    @Test func setsThatOthersTookAreDoneWithout() {
        var controller = VirtualController(isExtended: true, advertisingSets: 4)
        for set in 1...2 as ClosedRange<UInt8> {
            _ = controller.receive(.setExtendedAdvertisingParameters(set: set))
        }
        var bench = SessionBench.working(controller)
        bench.advertise(Self.adverts(4))
        #expect(bench.controller.onAir.count == 2)
        #expect((try? bench.advertising.last?.get()) != nil)
    }

    @Test func aSetOfAnotherProcessIsLeftAlone() {
        var controller = VirtualController(isExtended: true)
        for command: HCICommand in [
            .setExtendedAdvertisingParameters(set: 0xEF), .setExtendedAdvertisingData([1, 2], set: 0xEF),
            .setExtendedAdvertisingEnable(true, set: 0xEF),
        ] { _ = controller.receive(command) }
        var bench = SessionBench.working(controller)
        bench.advertise(Self.adverts(1))
        #expect(bench.controller.onAir == [0xEF: [1, 2], 0xEE: Self.adverts(1)[0]])
        bench.advertise([])
        #expect(bench.controller.onAir == [0xEF: [1, 2]])
    }

    @Test func aRefusalIsToldOnceAndTriedAgain() throws {
        var controller = VirtualController()
        // Other software sends by the only slot there is.
        _ = controller.receive(.setAdvertisingEnable(true))
        var bench = SessionBench.working(controller)
        bench.advertise(Self.adverts(1))
        let failure = try #require(bench.advertising.first)
        #expect { try failure.get() } throws: { ($0 as? RadioError)?.message.contains("other software") == true }
        bench.wait(100)
        #expect(bench.advertising.count <= 2)
        #expect(bench.powerChanges.isEmpty)
        // What others send stays as it is, also when we take our leave.
        #expect(bench.controller.onAir == [255: []])
        #expect(bench.session.undo.isEmpty)
        _ = bench.controller.receive(.setAdvertisingEnable(false))
        bench.wait(300)
        #expect(bench.controller.onAir == [255: Self.adverts(1)[0]])
        #expect((try? bench.advertising.last?.get()) != nil)
    }

    @Test func otherBeaconsReplaceThoseBefore() {
        var bench = SessionBench.working(VirtualController(isExtended: true))
        bench.advertise(Self.adverts(3))
        bench.advertise([Packets.beacon(Self.uuid, minor: 77)])
        #expect(Array(bench.controller.onAir.values) == [Packets.beacon(Self.uuid, minor: 77)])
        #expect(bench.advertising.count == 2)
    }

    @Test(arguments: [false, true]) func whatOthersEndIsBegunAnew(isExtended: Bool) {
        var bench = SessionBench.working(VirtualController(isExtended: isExtended))
        bench.advertise(Self.adverts(1))
        bench.othersSend(isExtended ? .setExtendedAdvertisingEnable(false, set: 0xEF) : .setAdvertisingEnable(false))
        #expect(bench.controller.onAir.isEmpty)
        bench.wait(1)
        #expect(Array(bench.controller.onAir.values) == Self.adverts(1))
    }

    @Test func whatADeadProcessLeftIsTakenBackFirst() {
        var controller = VirtualController()
        for command: HCICommand in [.setAdvertisingData([9, 9]), .setAdvertisingEnable(true)] {
            _ = controller.receive(command)
        }
        var bench = SessionBench(controller)
        bench.session.inherit([.setAdvertisingEnable(false)])
        bench.session.begin(isOn: true, at: bench.now)
        bench.settle()
        #expect(bench.controller.onAir.isEmpty)
        bench.advertise(Self.adverts(1))
        #expect(Array(bench.controller.onAir.values) == Self.adverts(1))
    }
}
