import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import CoreBluetooth
import Testing

/// A delegate that keeps the devices that a scan finds.
private final class Finder: NSObject, CBCentralManagerDelegate, Sendable {
    struct Finding: Sendable {
        var identifier: UUID
        var object: ObjectIdentifier
        var name: String?
        var keys: [String]
        var manufacturerData: Data?
        var services: [String]
        var isConnectable: Bool?
        var rssi: Int
    }

    let findings = Locked<[Finding]>([])
    private let kept = Locked<[UnsafeTransfer<CBPeripheral>]>([])
    private let onFinding: @Sendable (CBCentralManager) -> Void

    init(onFinding: @escaping @Sendable (CBCentralManager) -> Void = { _ in }) { self.onFinding = onFinding }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {}

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let services = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
        let finding = Finding(
            identifier: peripheral.identifier, object: ObjectIdentifier(peripheral), name: peripheral.name,
            keys: advertisementData.keys.sorted(),
            manufacturerData: advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data,
            services: services?.map(\.uuidString) ?? [],
            isConnectable: (advertisementData[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue,
            rssi: RSSI.intValue)
        findings.withLock { $0.append(finding) }
        let peripheral = UnsafeTransfer(peripheral)
        kept.withLock { $0.append(peripheral) }
        onFinding(central)
    }

    func take() -> [Finding] {
        findings.withLock { findings in
            defer { findings = [] }
            return findings
        }
    }
}

@Suite("Scanning for devices")
struct ScanTests {
    private static let name: [UInt8] = [5, 9] + Array("Lamp".utf8)
    private static let heartRate: [UInt8] = [3, 3, 0x0D, 0x18]

    private static func advert(
        _ bytes: [UInt8], from address: UInt64 = 0xC0FF_EE00_0001, kind: AdvertisingReport.Kind = .connectable,
        rssi: Int8 = -60, isDamaged: Bool = false
    ) -> HeardAdvert {
        let report = AdvertisingReport(
            kind: kind, address: DeviceAddress(bits: address, kind: .random), rssi: SignalStrength(rawValue: rssi))
        return HeardAdvert(
            Reception(
                time: Timestamp(nanoseconds: 1_000_000_000), receiver: ReceiverID(0), report: report,
                isDamaged: isDamaged),
            bytes: bytes)
    }

    private static func heard(_ adverts: HeardAdvert...) -> SourceEvent {
        var batch = SourceBatch()
        batch.adverts = adverts
        return .heard(batch)
    }

    private static func begin(
        _ finder: Finder, services: [CBUUID]? = nil, options: [String: Any]? = nil
    ) async -> (ManagerBench, CBCentralManager) {
        let bench = await ManagerBench(.poweredOn)
        let manager = BeaconCenter.withCurrent(bench.center) { CBCentralManager(delegate: finder, queue: bench.queue) }
        await bench.settle()
        manager.scanForPeripherals(withServices: services, options: options)
        await bench.settle()
        return (bench, manager)
    }

    @Test("A device is reported once with all its data, and again if it adds data")
    func once() async throws {
        let finder = Finder()
        let (bench, manager) = await Self.begin(finder)
        #expect(manager.isScanning)
        #expect(bench.radio.modes.last == .discovery)
        let company: [UInt8] = [5, 0xFF, 0x59, 0x00, 1, 2]
        let advert = Self.advert([2, 1, 6] + Self.heartRate + company + [2, 0x0A, 4])
        await bench.deliver(Self.heard(advert), Self.heard(advert))
        let first = try #require(finder.take().only)
        #expect(first.services == ["180D"])
        #expect(first.manufacturerData == Data([0x59, 0x00, 1, 2]))
        #expect(first.isConnectable == true)
        #expect(first.rssi == -60)
        #expect(first.name == nil)
        #expect(first.keys.contains(CBAdvertisementDataTxPowerLevelKey))
        await bench.deliver(Self.heard(Self.advert(Self.name, kind: .scanResponse)), Self.heard(advert))
        let second = try #require(finder.take().only)
        #expect(second.name == "Lamp")
        #expect(second.services == ["180D"])
        #expect(second.identifier == first.identifier && second.object == first.object)
        withExtendedLifetime(manager) {}
    }

    @Test("With duplicates, each advert is reported with its own signal strength; an unknown one is 127")
    func duplicates() async {
        let finder = Finder()
        let (bench, manager) = await Self.begin(finder, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        await bench.deliver(
            Self.heard(
                Self.advert(Self.name, rssi: -50), Self.advert(Self.name, rssi: 127),
                Self.advert(Self.name, isDamaged: true), Self.advert(Self.name, from: 7, rssi: -70)))
        #expect(finder.take().map(\.rssi) == [-50, 127, -70])
        withExtendedLifetime(manager) {}
    }

    @Test(
        "Filters find devices by their services in either packet, and by their solicited services",
        arguments: [
            (["180D"], nil, [1, 2]), (["FEAA"], nil, [3]), (["180D", "FEAA"], nil, [1, 2, 3]),
            ([], nil, [1, 2, 3, 4]), (nil, ["1805"], [4]), (["180F"], nil, []),
        ] as [([String]?, [String]?, [Int])])
    func filters(services: [String]?, solicited: [String]?, found: [Int]) async {
        let finder = Finder()
        let options = solicited.map {
            [CBCentralManagerScanOptionSolicitedServiceUUIDsKey: $0.map { CBUUID(string: $0) }]
        }
        let (bench, manager) = await Self.begin(
            finder, services: services?.map { CBUUID(string: $0) }, options: options)
        let long: [UInt8] = [17, 7, 0xFB, 0x34, 0x9B, 0x5F, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0, 0xAA, 0xFE, 0, 0]
        await bench.deliver(
            Self.heard(
                Self.advert(Self.heartRate, from: 1), Self.advert([], from: 2),
                Self.advert(Self.heartRate, from: 2, kind: .scanResponse), Self.advert(long, from: 3),
                Self.advert([3, 0x14, 0x05, 0x18], from: 4)))
        let addresses = finder.take().compactMap { address(of: $0.identifier) }
        #expect(Set(addresses) == Set(found))
        withExtendedLifetime(manager) {}
    }

    private func address(of identifier: UUID) -> Int? { Int(identifier.uuidString.suffix(12), radix: 16) }

    @Test("The data of an iBeacon is hidden as on iOS, or shown as on macOS", arguments: [true, false])
    func beacons(isHidden: Bool) async throws {
        let finder = Finder()
        let bench = await ManagerBench(.poweredOn, hidesBeacons: isHidden)
        let manager = BeaconCenter.withCurrent(bench.center) { CBCentralManager(delegate: finder, queue: bench.queue) }
        await bench.settle()
        manager.scanForPeripherals(withServices: nil)
        await bench.deliver(Self.heard(Self.advert(ManagerBench.frame().advert, kind: .nonConnectable)))
        let found = try #require(finder.take().only)
        #expect(found.manufacturerData?.prefix(4) == (isHidden ? nil : Data([0x4C, 0x00, 0x02, 0x15])))
        #expect(found.isConnectable == false)
        withExtendedLifetime(manager) {}
    }

    @Test("A scan ends when it is stopped, even in a callback, and when Bluetooth is off; the radio stops scanning")
    func ends() async {
        let finder = Finder { $0.stopScan() }
        let (bench, manager) = await Self.begin(finder, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        await bench.deliver(Self.heard(Self.advert(Self.name), Self.advert(Self.name)))
        #expect(finder.take().count == 1)
        #expect(!manager.isScanning)
        #expect(bench.radio.modes.last == .off)
        manager.scanForPeripherals(withServices: nil)
        await bench.deliver(.state(.poweredOff))
        #expect(!manager.isScanning)
        await bench.deliver(.state(.poweredOn), Self.heard(Self.advert(Self.name)))
        #expect(finder.take().isEmpty)
        #expect(bench.radio.modes.last == .off)
    }

    @Test("A deallocated manager no longer scans")
    func deallocation() async {
        let finder = Finder()
        var (bench, manager): (ManagerBench, CBCentralManager?) = await Self.begin(finder)
        #expect(bench.radio.modes.last == .discovery)
        _ = manager
        manager = nil
        await bench.settle()
        #expect(bench.radio.modes.last == .off)
    }

    @Test("An identifier leads back to its device, even in another manager, and other identifiers do not")
    func identifiers() async throws {
        let finder = Finder()
        let (bench, manager) = await Self.begin(finder)
        await bench.deliver(Self.heard(Self.advert(Self.name)))
        let found = try #require(finder.take().only)
        #expect(manager.retrievePeripherals(withIdentifiers: [found.identifier]).map(\.name) == ["Lamp"])
        let other = BeaconCenter.withCurrent(bench.center) { CBCentralManager() }
        #expect(
            other.retrievePeripherals(withIdentifiers: [found.identifier, UUID()]).map(\.identifier) == [
                found.identifier
            ])
        await bench.settle()
    }

    @Test("No bytes cause a trap, and each device is reported")
    func anyBytes() async {
        let finder = Finder()
        let (bench, manager) = await Self.begin(finder, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        var random = SplitMix64(seed: 38)
        for _ in 0..<200 {
            let adverts = (0..<10).map { _ in
                let bytes = (0..<Int(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next() % 36) }
                let kind = AdvertisingReport.Kind(rawValue: UInt8(random.next() % 6)) ?? .connectable
                return Self.advert(bytes, from: random.next() % 4, kind: kind)
            }
            var batch = SourceBatch()
            batch.adverts = adverts
            await bench.deliver(.heard(batch))
            #expect(finder.take().count == 10)
        }
        withExtendedLifetime(manager) {}
    }

    @Test("More devices than the limit are all reported")
    func crowd() async {
        let finder = Finder()
        let (bench, manager) = await Self.begin(finder)
        for start in 0..<10 {
            var batch = SourceBatch()
            batch.adverts = (0..<2000).map { Self.advert(Self.name, from: UInt64(start * 2000 + $0)) }
            await bench.deliver(.heard(batch))
        }
        #expect(Set(finder.take().map(\.identifier)).count == 20_000)
        withExtendedLifetime(manager) {}
    }
}

extension Array {
    /// The element of an array with exactly one; otherwise nil.
    fileprivate var only: Element? { count == 1 ? first : nil }
}
