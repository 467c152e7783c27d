import BeaconModel
import BeaconRadio
import CoreBluetooth
import Testing

@Suite("The frame for a dictionary")
struct ManagerFrameTests {
    @Test("A dictionary's beacon, name and services are sent; other entries are logged and omitted (P5)")
    func p5Dictionary() async {
        let (bench, witness, manager) = await ManagerBench.withManager()
        let before = manager.logLines.count
        var data = ManagerBench.beacon()
        data[CBAdvertisementDataLocalNameKey] = "name"
        data[CBAdvertisementDataServiceUUIDsKey] = [CBUUID(string: "180D")]
        data[CBAdvertisementDataTxPowerLevelKey] = 3
        manager.startAdvertising(data)
        await bench.settle()
        var advert = ManagerBench.frame()
        (advert.localName, advert.services) = ("name", [ServiceUUID(short: 0x180D)])
        await bench.deliver(.advertising(advert, .success(())))
        #expect(bench.radio.frames == [advert])
        #expect(witness.words() == ["poweredOn", "started, advertising"])
        let words = manager.logLines.dropFirst(before).map { $0.drop { $0 != ">" }.dropFirst(3) }
        #expect(words == ["kCBAdvDataTxPowerLevel is not a key that can be advertised"])
    }

    @Test("A device without a beacon sends its name and services, and data that does not fit is logged")
    func device() async {
        let bench = await ManagerBench(.poweredOn)
        let manager = bench.makeManager(nil)
        await bench.settle()
        let before = manager.logLines.count
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Sensor",
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D"), CBUUID(string: "FEAA")],
        ])
        await bench.settle()
        #expect(
            bench.radio.frames.map(\.advert) == [
                [2, 1, 6, 5, 3, 0x0D, 0x18, 0xAA, 0xFE, 7, 9] + Array("Sensor".utf8)
            ])
        #expect(bench.radio.frames.map(\.scanResponse) == [[]])
        manager.stopAdvertising()
        manager.startAdvertising([CBAdvertisementDataLocalNameKey: String(repeating: "x", count: 30)])
        await bench.settle()
        #expect(bench.radio.frames.map(\.scanResponse.count) == [31])
        #expect(manager.logLines.dropFirst(before).contains { $0.contains("not all of the name") })
    }

    @Test("Values of another type than Apple's are logged, and the other entries are still sent")
    func wrongTypes() async {
        let bench = await ManagerBench(.poweredOn)
        let manager = bench.makeManager(nil)
        await bench.settle()
        let before = manager.logLines.count
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Sensor", CBAdvertisementDataServiceUUIDsKey: ["180D"],
        ])
        await bench.settle()
        #expect(bench.radio.frames.map(\.localName) == ["Sensor"])
        #expect(manager.logLines.dropFirst(before).contains { $0.hasSuffix("is not an array of CBUUID") })
    }

    @Test("Every bit of the beacon's 21 bytes is sent (P5)")
    func p5Bytes() async {
        let bench = await ManagerBench(.poweredOn)
        let manager = bench.makeManager(nil)
        await bench.settle()
        let bytes = Data((0..<21).map { UInt8($0 * 11 + 20) })
        // A slice has its own indices.
        manager.startAdvertising(["kCBAdvDataAppleBeaconKey": (Data([7, 7]) + bytes).dropFirst(2)])
        await bench.settle()
        #expect(bench.radio.frames.map { Data($0.advert.suffix(21)) } == [bytes])
    }

    @Test("If nothing can be sent, the error is invalidParameters (P5)")
    func p5NothingUsable() async {
        let (bench, witness, manager) = await ManagerBench.withManager()
        _ = witness.words()
        let useless: [[String: Any]?] = [
            nil, [:], [CBAdvertisementDataLocalNameKey: 1], [CBAdvertisementDataLocalNameKey: ""],
            ["kCBAdvDataAppleBeaconKey": "text"],
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
