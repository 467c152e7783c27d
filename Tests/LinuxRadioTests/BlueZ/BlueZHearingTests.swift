import BeaconModel
import BeaconRadio
import TestSupport
import Testing

@testable import LinuxRadio

@Suite("Hearing by way of bluetoothd", .fewAtATime)
struct BlueZHearingTests {
    private static let frame = IBeaconFrame(
        identity: BeaconIdentity(uuid: ProximityUUID(high: 0x0102_0304, low: 5), major: 6, minor: 7), measuredPower: -59
    )
    /// The frame as bluetoothd reports it: one AD structure without flags.
    private static let advert = Array(frame.advert[3...])
    private static let beacon = "C0:11:22:33:44:55"
    private static let heard = BlueZBench.Heard(address: "c0:11:22:33:44:55", kind: .random, rssi: -61, advert: advert)

    private func ranging(_ bus: PrivateBus, _ blueZ: StandInBlueZ) throws -> BlueZBench {
        let bench = BlueZBench(bus, blueZ)
        bench.driver.scan(.ranging)
        try bench.run(until: blueZ.calls.contains("StartDiscovery"))
        try bench.settle()
        return bench
    }

    private func monitoring(_ bus: PrivateBus, _ blueZ: StandInBlueZ) throws -> BlueZBench {
        let bench = BlueZBench(bus, blueZ)
        bench.driver.scan(.monitoring([Self.frame.identity.uuid]))
        try bench.run(until: !blueZ.monitors.isEmpty)
        try bench.settle()
        return bench
    }

    @Test("Ranging registers a monitor for any beacon and then searches for LE devices, with every advert reported")
    func ranging() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try ranging(bus, blueZ)
            #expect(blueZ.calls == ["RegisterMonitor", "SetDiscoveryFilter", "StartDiscovery"])
            #expect(blueZ.filter == ["Transport": "le", "DuplicateData": "true"])
            #expect(blueZ.monitors.map(\.patterns) == [[[0x00, 0xFF, 0x4C, 0x00, 0x02, 0x15]]])
            #expect(bench.driver.state == .poweredOn)
            #expect(bench.states.first == .unknown)
        }
    }

    @Test("A beacon that appears is heard, and so is each later change, even of its signal strength alone")
    func appearance() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try ranging(bus, blueZ)
            let device = StandInDevice(Self.beacon, Self.frame, rssi: -61)
            try blueZ.appear(device)
            try bench.run(until: bench.heard == [Self.heard])
            try blueZ.hear(device, rssi: -70)
            try blueZ.hear(device, rssi: -71, isWhole: false)
            try bench.run(until: bench.heard.count == 3)
            #expect(bench.heard.map(\.rssi) == [-61, -70, -71])
            #expect(bench.heard.allSatisfy { $0.advert == Self.advert })
        }
    }

    @Test("A beacon that bluetoothd already knew is queried once")
    func knownBefore() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try ranging(bus, blueZ)
            let device = StandInDevice(Self.beacon, Self.frame, addressType: "public")
            try blueZ.know(device)
            try blueZ.hear(device, rssi: -50)
            try blueZ.hear(device, rssi: -51)
            try bench.run(until: !bench.heard.isEmpty)
            try blueZ.hear(device, rssi: -52)
            try bench.run(until: bench.heard.last?.rssi == -52)
            #expect(bench.heard.allSatisfy { $0.kind == .public && $0.advert == Self.advert })
        }
    }

    @Test("A search for devices reports all of them, with all their properties")
    func discovery() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = BlueZBench(bus, blueZ)
            bench.driver.scan(.discovery)
            try bench.run(until: blueZ.calls.contains("StartDiscovery"))
            try bench.settle()
            // The monitor makes the kernel pass every advert.
            #expect(!blueZ.monitors.isEmpty)
            let lamp = StandInDevice("C0:11:22:33:44:66", company: 0x59, data: [1, 2], rssi: -50)
            lamp.name = "Lamp"
            lamp.services = ["0000180d-0000-1000-8000-00805f9b34fb", "68753a44-4d6f-1226-9c60-0050e4c00067"]
            lamp.serviceData = ["0000feaa-0000-1000-8000-00805f9b34fb": [0x10, 7]]
            lamp.power = -4
            try blueZ.appear(lamp)
            try blueZ.appear(StandInDevice(Self.beacon, Self.frame, rssi: -61))
            try bench.run(until: bench.heard.count == 2)
            let advert = bench.heard[0].advert
            let contents = AdvertContents(advert: advert.span.bytes)
            #expect(contents.localName == "Lamp")
            #expect(contents.services.map { "\($0)" } == ["180D", "68753A44-4D6F-1226-9C60-0050E4C00067"])
            #expect(contents.serviceData == [ServiceUUID(short: 0xFEAA): [0x10, 7]])
            #expect(contents.manufacturerData == [0x59, 0, 1, 2])
            #expect(contents.transmitPower == -4)
            #expect(bench.heard[1].advert == Self.advert)
            try blueZ.hear(lamp, rssi: -55)
            try bench.run(until: bench.heard.count == 3)
            #expect(bench.heard[2].rssi == -55)
            #expect(bench.heard[2].advert == bench.heard[0].advert)
            // Only beacons are heard again once the search for devices ends.
            bench.driver.scan(.ranging)
            try bench.settle()
            try blueZ.hear(lamp, rssi: -56)
            try bench.settle()
            #expect(bench.heard.count == 3)
        }
    }

    /// A phone with a key, and one of its addresses.
    private static let key = IdentityResolvingKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)
    private static let phoneAddress = "70:81:94:0D:FB:AA"

    @Test("A phone with a key is heard by each of its adverts while ranging, and beacons as before")
    func tags() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let tag = try #require(DeviceTag(name: "phone", keys: [Self.key]))
            let bench = BlueZBench(bus, blueZ, tags: TagDirectory([tag]))
            bench.driver.scan(.ranging)
            try bench.run(until: blueZ.calls.contains("StartDiscovery"))
            try bench.settle()
            let phone = StandInDevice(Self.phoneAddress, data: [0x10, 0x05, 1, 2, 3, 4, 5], rssi: -70)
            try blueZ.appear(phone)
            try bench.run(until: bench.sightings.count == 1)
            try blueZ.hear(phone, rssi: -71)
            try blueZ.hear(phone, rssi: -72, isWhole: false)
            try bench.run(until: bench.sightings.count == 3)
            #expect(bench.sightings.allSatisfy { $0.identity == tag.identity && $0.address == tag.address })
            #expect(bench.sightings.map(\.rssi.rawValue) == [-70, -71, -72])
            // A phone that bluetoothd knew before is queried for the kind of its address.
            let known = StandInDevice(
                AddressResolver(Self.key).address(random: 7).description.uppercased(), data: [0x10, 0], rssi: -60)
            try blueZ.know(known)
            try blueZ.hear(known, rssi: -61)
            try bench.run(until: bench.sightings.count == 4)
            // Beacons are as before, and strangers are no tags.
            try blueZ.appear(StandInDevice(Self.beacon, Self.frame, rssi: -61))
            try blueZ.appear(StandInDevice("7A:00:00:00:00:01", data: [0x10, 0], rssi: -50))
            try bench.run(until: bench.heard.count == 6)
            #expect(bench.sightings.count == 5 && bench.sightings.last?.identity == Self.frame.identity)
            #expect(bench.heard.contains(Self.heard) && bench.messages(.tagsUnheard).isEmpty)
        }
    }

    @Test("Monitors cannot hear phones, and the log says so once, with the remedy")
    func tagsWithMonitors() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let tag = try #require(DeviceTag(name: "phone", keys: [Self.key]))
            let bench = BlueZBench(bus, blueZ, tags: TagDirectory([tag]))
            bench.driver.scan(.monitoring([Self.frame.identity.uuid]))
            try bench.run(until: !blueZ.monitors.isEmpty)
            try bench.settle()
            let messages = bench.messages(.tagsUnheard)
            #expect(messages.count == 1 && messages[0].contains("region") && messages[0].contains("hci"))
        }
    }

    @Test("Other devices and truncated beacons are not heard")
    func others() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try ranging(bus, blueZ)
            let data = Array(Self.frame.advert[7...])
            let others = [
                StandInDevice("C0:00:00:00:00:01", company: 0x59, data: data, rssi: -50),
                StandInDevice("C0:00:00:00:00:02", data: Array(data.dropLast()), rssi: -50),
                StandInDevice("C0:00:00:00:00:03", data: [0x10, 0x05, 1, 2, 3, 4, 5], rssi: -50),
                StandInDevice("C0:00:00:00:00:04", data: [], rssi: -50),
            ]
            for device in others {
                try blueZ.appear(device)
                try blueZ.hear(device, rssi: -40)
            }
            try blueZ.appear(StandInDevice(Self.beacon, Self.frame, rssi: -61))
            try bench.run(until: !bench.heard.isEmpty)
            try bench.settle()
            #expect(bench.heard == [Self.heard])
        }
    }

    @Test("Another process's reports of a device are ignored")
    func forgery() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try monitoring(bus, blueZ)
            let monitor = try #require(blueZ.monitors.first)
            let device = StandInDevice(Self.beacon, Self.frame, rssi: -61)
            try blueZ.know(device)
            // A signal reaches only subscribers to its sender, but a call can reach any process.
            let forger = try StandInBlueZ(at: bus.address, isNamed: false)
            try forger.notify(monitor, "DeviceFound", of: device)
            try forger.synchronize()
            try bench.settle()
            #expect(bench.heard.isEmpty)
            try blueZ.notify(monitor, "DeviceFound", of: device)
            try bench.run(until: bench.heard == [Self.heard])
        }
    }

    @Test("Monitoring registers a monitor for the UUIDs without thresholds, and does not search")
    func monitoring() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try monitoring(bus, blueZ)
            #expect(blueZ.calls == ["RegisterMonitor"])
            #expect(blueZ.monitors.map(\.patterns) == [[[0x00, 0xFF] + Self.advert[2..<22]]])
            #expect(blueZ.monitors.first?.properties == ["Type", "Patterns"])
            #expect(bench.messages(.filtering).count == 1)
        }
    }

    @Test("While monitoring, each advert that the monitor finds is heard, and a lost device is ignored")
    func finding() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try monitoring(bus, blueZ)
            let device = StandInDevice(Self.beacon, Self.frame, rssi: -61)
            try blueZ.know(device)
            try blueZ.notifyMonitors("DeviceFound", of: device)
            try bench.run(until: bench.heard == [Self.heard])
            // A change is no advert by itself, since DeviceFound reports each advert.
            try blueZ.hear(device, rssi: -80, isWhole: false)
            try blueZ.notifyMonitors("DeviceFound", of: device)
            try blueZ.notifyMonitors("DeviceLost", of: device)
            try blueZ.notifyMonitors("DeviceFound", of: device)
            try bench.run(until: bench.heard.count == 3)
            try bench.settle()
            #expect(bench.heard.map(\.rssi) == [-61, -80, -80])
        }
    }

    @Test("While monitoring, other devices do not wake the process")
    func sleep() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try monitoring(bus, blueZ)
            let device = StandInDevice("C0:00:00:00:00:01", Self.frame, rssi: -50)
            try blueZ.appear(device)
            for rssi in Int16(-90)..<(-60) { try blueZ.hear(device, rssi: rssi) }
            try blueZ.synchronize()
            #expect(!Readiness.wait(for: [bench.driverDescriptor], milliseconds: 100))
            // While ranging, the same change does wake it.
            bench.driver.scan(.ranging)
            try bench.run(until: blueZ.calls.contains("StartDiscovery"))
            try bench.settle()
            try blueZ.hear(device, rssi: -50)
            #expect(Readiness.wait(for: [bench.driverDescriptor], milliseconds: 10_000))
        }
    }

    @Test("Another set of UUIDs replaces the monitors, and none ends them")
    func modes() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try monitoring(bus, blueZ)
            let uuids = Set((0..<20).map { ProximityUUID(high: 9, low: $0) })
            bench.driver.scan(.monitoring(uuids))
            try bench.run(until: blueZ.monitors.count == 2)
            #expect(blueZ.monitors.map(\.patterns.count) == [16, 4])
            bench.driver.scan(.ranging)
            try bench.run(until: blueZ.count("StartDiscovery") == 1)
            bench.driver.scan(.off)
            try bench.run(until: blueZ.count("StopDiscovery") == 1 && blueZ.monitors.isEmpty)
            try bench.settle()
            #expect(blueZ.count("RegisterMonitor") == 3)
        }
    }

    @Test("Without monitors it searches for presence, and reports that ranging is not available, with a remedy")
    func noMonitors() throws {
        try PrivateBus.with { bus in
            let adapter = StandInAdapter("hci0")
            adapter.hasMonitors = false
            let blueZ = try StandInBlueZ(at: bus.address, [adapter])
            let bench = BlueZBench(bus, blueZ)
            bench.driver.scan(.monitoring([Self.frame.identity.uuid]))
            try bench.run(until: !bench.messages(.degraded).isEmpty)
            #expect(blueZ.calls == ["SetDiscoveryFilter", "StartDiscovery"])
            #expect(bench.messages(.degraded).first?.contains("--experimental") == true)
            try blueZ.appear(StandInDevice(Self.beacon, Self.frame, rssi: -61))
            try bench.run(until: bench.heard == [Self.heard])
        }
    }

    @Test("If the controller filters by itself, a search gives presence its evidence")
    func controllerFilters() throws {
        try PrivateBus.with { bus in
            let adapter = StandInAdapter("hci0")
            adapter.features = ["controller-patterns"]
            let blueZ = try StandInBlueZ(at: bus.address, [adapter])
            let bench = BlueZBench(bus, blueZ)
            bench.driver.scan(.monitoring([Self.frame.identity.uuid]))
            try bench.run(until: blueZ.calls.contains("StartDiscovery"))
            try blueZ.appear(StandInDevice(Self.beacon, Self.frame, rssi: -61))
            try bench.run(until: bench.heard == [Self.heard])
        }
    }
}
