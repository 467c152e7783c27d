import BeaconModel
import BeaconRadio
import TestSupport
import Testing

@testable import LinuxRadio

@Suite("Advertising by way of bluetoothd", .fewAtATime)
struct BlueZAdvertisingTests {
    private static func frame(_ minor: UInt16) -> OutgoingAdvert {
        OutgoingAdvert(
            IBeaconFrame(
                identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: minor),
                measuredPower: -59))
    }

    @Test("A frame is sent as a broadcast of Apple's manufacturer data every 100 ms")
    func one() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = BlueZBench(bus, blueZ)
            bench.driver.advertise([Self.frame(4)])
            try bench.run(until: !bench.advertising.isEmpty && !blueZ.adverts.isEmpty)
            let advert = try #require(blueZ.adverts.first)
            #expect(advert.type == "broadcast")
            #expect(advert.interval == 100)
            #expect([0x1A, 0xFF, 0x4C, 0x00] + advert.data == Array(Self.frame(4).advert[3...]))
            #expect(bench.outcomes == [4])
            // This begins no scan.
            #expect(blueZ.calls == ["RegisterAdvertisement"])
        }
    }

    @Test("A name and services are sent in the scan response of a beacon, or else in the advert")
    func names() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = BlueZBench(bus, blueZ)
            var beacon = Self.frame(1)
            (beacon.localName, beacon.services) = ("Till", [ServiceUUID(short: 0x180D)])
            let device = OutgoingAdvert(frame: nil, localName: "Lamp", services: [ServiceUUID(short: 0xFEAA)])
            bench.driver.advertise([beacon, device])
            try bench.run(until: blueZ.adverts.count == 2 && bench.advertising.count == 2)
            let properties = blueZ.adverts.map { Set($0.properties) }
            #expect(properties[0].isSuperset(of: ["ManufacturerData", "LocalName", "ScanResponseServiceUUIDs"]))
            #expect(!properties[0].contains("ServiceUUIDs"))
            #expect(properties[1].isSuperset(of: ["LocalName", "ServiceUUIDs"]))
            #expect(!properties[1].contains("ManufacturerData"))
        }
    }

    @Test("New frames replace earlier ones, and no frames end them")
    func several() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = BlueZBench(bus, blueZ)
            bench.driver.advertise([Self.frame(1)])
            try bench.run(until: blueZ.adverts.count == 1 && bench.advertising.count == 1)
            bench.driver.advertise([Self.frame(2), Self.frame(3)])
            try bench.run(until: blueZ.adverts.count == 2 && bench.advertising.count == 3)
            #expect(bench.outcomes == [1, 2, 3])
            #expect(blueZ.adverts.map(\.minor) == [2, 3])
            #expect(blueZ.adverts.allSatisfy { $0.properties.contains("Duration") })
            bench.driver.advertise([])
            try bench.run(until: blueZ.adverts.isEmpty)
            try bench.settle()
            #expect(bench.advertising.count == 3)
        }
    }

    @Test("If bluetoothd has no room for a frame, only that frame fails, and the others stay on the air (M7)")
    func oneTooMany() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = BlueZBench(bus, blueZ)
            bench.driver.advertise([Self.frame(1), Self.frame(2)])
            try bench.run(until: blueZ.adverts.count == 2 && bench.advertising.count == 2)
            blueZ.refusals["RegisterAdvertisement"] = BusError(
                "org.bluez.Error.NotPermitted", "Maximum advertisements reached")
            bench.driver.advertise([Self.frame(1), Self.frame(2), Self.frame(3)])
            try bench.run(until: bench.outcomes.contains(-3))
            #expect(bench.outcomes == [1, 2, 1, 2, -3])
            #expect(blueZ.adverts.map(\.minor) == [1, 2])
            #expect(blueZ.count("UnregisterAdvertisement") == 0)
            // The two stay on the air when the third is removed.
            bench.driver.advertise([Self.frame(1), Self.frame(2)])
            try bench.settle()
            #expect(blueZ.count("RegisterAdvertisement") == 3)
            #expect(blueZ.adverts.map(\.minor) == [1, 2])
        }
    }

    @Test("A frame that bluetoothd releases is registered again")
    func release() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = BlueZBench(bus, blueZ)
            bench.driver.advertise([Self.frame(1)])
            try bench.run(until: blueZ.adverts.count == 1 && bench.advertising.count == 1)
            try blueZ.release(try #require(blueZ.adverts.first))
            try bench.run(until: blueZ.count("UnregisterAdvertisement") == 1)
            try bench.settle()
            #expect(blueZ.count("RegisterAdvertisement") == 1)
            bench.pass(1)
            try bench.run(until: blueZ.adverts.count == 1)
        }
    }

    @Test("A refusal is reported once despite retries, and a later success too")
    func refusal() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            blueZ.refusals["RegisterAdvertisement"] = BusError(
                "org.bluez.Error.NotPermitted", "Maximum advertisements reached")
            let bench = BlueZBench(bus, blueZ)
            bench.driver.advertise([Self.frame(1), Self.frame(2)])
            try bench.run(until: bench.advertising.count == 2)
            for _ in 0..<10 {
                bench.pass(1)
                try bench.settle()
            }
            #expect(bench.outcomes == [-1, -2])
            #expect(blueZ.count("RegisterAdvertisement") == 8)
            let first = try #require(bench.advertising.first)
            guard case .failure(let error) = first.result else { return }
            #expect(error.code == .unsupported)
            #expect(error.message.contains("no room for one more advert"))
            blueZ.refusals = [:]
            bench.pass(32)
            try bench.run(until: bench.advertising.count == 4)
            #expect(bench.outcomes == [-1, -2, 1, 2])
        }
    }
}

extension StandInBlueZ.Advert {
    /// The minor of the beacon, if it is below 256.
    fileprivate var minor: UInt8? { data.count > 21 ? data[21] : nil }
}
