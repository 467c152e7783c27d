import BeaconModel
import BeaconRadio
import CoreBluetooth
import Testing

@Suite("The frame that a dictionary becomes")
struct ManagerFrameTests {
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
}
