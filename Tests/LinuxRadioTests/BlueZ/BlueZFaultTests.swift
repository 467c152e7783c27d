import BeaconModel
import BeaconRadio
import TestSupport
import Testing

@testable import LinuxRadio

@Suite("Faults of bluetoothd", .fewAtATime)
struct BlueZFaultTests {
    private func ranging(
        _ bus: PrivateBus, _ blueZ: StandInBlueZ, named name: AdapterName = .index(0)
    ) throws -> BlueZBench {
        let bench = BlueZBench(bus, blueZ, named: name)
        bench.driver.scan(.ranging)
        try bench.run(until: blueZ.calls.contains("StartDiscovery"))
        try bench.settle()
        return bench
    }

    @Test("Everything is registered again after bluetoothd was killed and restarted")
    func restart() throws {
        try PrivateBus.with { bus in
            let bench = try ranging(bus, StandInBlueZ(at: bus.address))
            bench.blueZ = nil
            try bench.run(until: bench.driver.state == .resetting)
            #expect(bench.messages(.adapterLost).count == 1)
            let second = try StandInBlueZ(at: bus.address)
            bench.blueZ = second
            try bench.run(until: second.calls.contains("StartDiscovery"))
            #expect(second.calls == ["RegisterMonitor", "SetDiscoveryFilter", "StartDiscovery"])
            #expect(bench.driver.state == .poweredOn)
        }
    }

    @Test("An adapter that returns under another number is found by its address")
    func replugged() throws {
        try PrivateBus.with { bus in
            let adapter = StandInAdapter("hci0")
            let blueZ = try StandInBlueZ(at: bus.address, [adapter])
            let address = try #require(AdapterName(adapter.address))
            let bench = try ranging(bus, blueZ, named: address)
            try blueZ.remove(adapter)
            try bench.run(until: bench.driver.state == .poweredOff)
            try blueZ.add(StandInAdapter("hci1", address: "02:BE:00:00:00:01"))
            try blueZ.add(StandInAdapter("hci2"))
            try bench.run(until: blueZ.count("StartDiscovery") == 2)
            #expect(bench.driver.name == "hci2")
            #expect(bench.driver.state == .poweredOn)
        }
    }

    @Test("An adapter that is initially off is switched on, and one that a user switches off stays off")
    func power() throws {
        try PrivateBus.with { bus in
            let adapter = StandInAdapter("hci0")
            adapter.isPowered = false
            let blueZ = try StandInBlueZ(at: bus.address, [adapter])
            let bench = try ranging(bus, blueZ)
            #expect(blueZ.calls.first == "Set")
            #expect(bench.states.contains(.poweredOff))
            #expect(bench.driver.state == .poweredOn)
            try blueZ.power(adapter, false)
            try bench.run(until: bench.driver.state == .poweredOff)
            bench.pass(60)
            try bench.settle()
            #expect(blueZ.count("Set") == 1)
            try blueZ.power(adapter, true)
            try bench.run(until: blueZ.count("StartDiscovery") == 2)
            #expect(bench.driver.state == .poweredOn)
        }
    }

    @Test("A refused search is retried at increasing intervals and reported once")
    func refusal() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            blueZ.refusals["StartDiscovery"] = BusError("org.bluez.Error.NotReady", "Resource Not Ready")
            let bench = try ranging(bus, blueZ)
            for _ in 0..<60 {
                bench.pass(1)
                try bench.settle()
            }
            // At 0, 1, 3, 7, 15 and 31 s.
            #expect(blueZ.count("StartDiscovery") == 6)
            #expect(bench.messages(.commandFailed).count == 1)
            blueZ.refusals = [:]
            bench.pass(32)
            try bench.run(until: blueZ.count("StartDiscovery") == 7)
        }
    }

    @Test("A search of ours whose answer was lost is ended before the next")
    func inProgress() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            blueZ.refusals["StartDiscovery"] = BusError("org.bluez.Error.InProgress", "Operation already in progress")
            let bench = try ranging(bus, blueZ)
            try bench.run(until: blueZ.calls.contains("StopDiscovery"))
            blueZ.refusals = [:]
            bench.pass(1)
            try bench.run(until: blueZ.count("StartDiscovery") == 2)
        }
    }

    @Test("If monitors are refused, the search continues without them")
    func noMonitor() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            blueZ.refusals["RegisterMonitor"] = BusError("org.bluez.Error.Failed", "No room")
            let bench = try ranging(bus, blueZ)
            #expect(bench.messages(.commandFailed).first?.contains("RegisterMonitor: No room") == true)
        }
    }

    @Test("A scan that reports nothing for 90 s is restarted, less and less often in an empty room")
    func silence() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            let bench = try ranging(bus, blueZ)
            for _ in 0..<60 {
                bench.pass(10)
                try bench.settle()
            }
            // At 90, 270 and, after these 600 s, 630 s.
            #expect(blueZ.count("StartDiscovery") == 3)
            #expect(bench.messages(.scanRestarted).count == 2)
            #expect(bench.messages(.adapterReset).isEmpty)
        }
    }

    @Test("A denial by the bus is reported with a remedy, and retried")
    func denial() throws {
        try PrivateBus.with(policy: "<deny send_destination=\"org.bluez\"/>") { bus in
            let bench = BlueZBench(bus, try StandInBlueZ(at: bus.address))
            bench.driver.scan(.ranging)
            try bench.run(until: bench.driver.state == .unauthorized)
            #expect(bench.messages(.commandFailed).first?.contains("usermod -aG bluetooth") == true)
        }
    }

    @Test("Without bluetoothd the driver waits for it")
    func absence() throws {
        try PrivateBus.with { bus in
            let bench = BlueZBench(bus, nil)
            bench.driver.scan(.ranging)
            try bench.run(until: !bench.messages(.adapterLost).isEmpty)
            #expect(bench.driver.state == .resetting)
            let blueZ = try StandInBlueZ(at: bus.address)
            bench.blueZ = blueZ
            try bench.run(until: blueZ.calls.contains("StartDiscovery"))
        }
    }

    @Test("The driver reconnects to a bus that ended")
    func lostBus() throws {
        try PrivateBus.with { bus in
            let bench = try ranging(bus, StandInBlueZ(at: bus.address))
            bus.stop()
            bench.blueZ = nil
            try bench.run(until: bench.driver.state == .resetting)
            #expect(bench.driverDescriptor == -1)
            #expect(bench.driver.deadline == bench.now.advanced(by: Timestamp.nanosecondsPerSecond))
            bench.pass(1)
            try bench.run(until: bench.messages(.adapterLost).count == 2)
            #expect(bench.messages(.adapterLost).last?.contains("systemctl start dbus") == true)
            #expect(bench.driver.deadline == bench.now.advanced(by: 2 * Timestamp.nanosecondsPerSecond))
        }
    }

    @Test("After a long connection, a lost bus is tried again soon (D24)")
    func lostBusAgain() throws {
        try PrivateBus.with { bus in
            let bench = try ranging(bus, StandInBlueZ(at: bus.address))
            bus.stop()
            bench.blueZ = nil
            try bench.run(until: bench.driver.state == .resetting)
            bench.pass(1)
            try bench.run(until: bench.driver.deadline == bench.now.advanced(by: 2 * Timestamp.nanosecondsPerSecond))
            try bus.start()
            let blueZ = try StandInBlueZ(at: bus.address)
            bench.blueZ = blueZ
            bench.pass(2)
            try bench.run(until: blueZ.calls.contains("StartDiscovery"))
            bench.pass(60)
            bus.stop()
            bench.blueZ = nil
            try bench.run(until: bench.driver.state == .resetting)
            #expect(bench.driver.deadline == bench.now.advanced(by: Timestamp.nanosecondsPerSecond))
        }
    }

    @Test("Closing ends all of bluetoothd's work for us before it returns")
    func close() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInThread(at: bus.address, ["hci0"])
            defer { blueZ.stop() }
            let bench = BlueZBench(bus, nil)
            bench.driver.scan(.ranging)
            bench.driver.advertise([
                OutgoingAdvert(
                    IBeaconFrame(
                        identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4),
                        measuredPower: -59))
            ])
            try bench.run(until: blueZ.calls.contains("StartDiscovery") && !bench.advertising.isEmpty)
            try bench.settle()
            bench.driver.close()
            let ends: Set = ["StopDiscovery", "UnregisterMonitor", "UnregisterAdvertisement"]
            try bench.run(until: ends.isSubset(of: blueZ.calls))
        }
    }
}
