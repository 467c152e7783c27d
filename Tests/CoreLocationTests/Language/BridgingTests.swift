// Imports nothing but the module under test and the test library, as apps do: the module must export Foundation and
// Dispatch.
import CoreLocation
import Testing

/// The bridging conversions that apps use with the module's types, one test for each.
@Suite struct BridgingTests {
    private let region = CLBeaconRegion(uuid: deployment, major: 1, minor: 2, identifier: "id")
    private var data: NSMutableDictionary { region.peripheralData(withMeasuredPower: nil) }
    private let key = "kCBAdvDataAppleBeaconKey"

    @Test("Advertisement data can pass through an NSDictionary")
    func advertisementDataByWayOfADictionary() {
        #expect(((data as NSDictionary) as? [String: Any])?[key] is Data)
        #expect(((data as NSDictionary) as! [String: Any]).count == 1)
        #expect(((data as NSDictionary) as! Dictionary<String, Any>).count == 1)
    }

    @Test("Advertisement data can be cast to a dictionary")
    func advertisementDataDirectly() {
        #expect((data as? [String: Any])?[key] is Data)
        #expect((data as! [String: Any])[key] is Data)
        #expect((data as NSDictionary as? [String: AnyObject])?.count == 1)
        #expect((data.allKeys as? [String]) == [key])
    }

    @Test("A dictionary becomes an NSDictionary")
    func dictionariesBecomeObjects() {
        let options: [String: Any] = ["a": 1]
        #expect((options as NSDictionary)["a"] as? Int == 1)
    }

    @Test("Measured power can be a literal or a number")
    func measuredPowerAsLiteralAndNumber() {
        #expect(region.peripheralData(withMeasuredPower: -59) == data)
        let power = -59
        #expect(region.peripheralData(withMeasuredPower: power as NSNumber) == data)
    }

    @Test("A beacon's numbers convert as on Apple's systems")
    func numbersOfABeacon() {
        let beacon: CLBeacon = Numbered()
        #expect(beacon.major as? Int == 7)
        #expect(beacon.major as? UInt16 == 7)
        #expect(CLBeaconMajorValue(beacon.major) == 7)
        #expect(CLBeaconMinorValue(truncating: beacon.minor) == 8)
        #expect(beacon.major.uint16Value == 7 && beacon.major.intValue == 7 && beacon.major.stringValue == "7")
        #expect(beacon.major == 7)
        #expect(beacon.major == NSNumber(value: 7))
        #expect("\(beacon.major).\(beacon.minor)" == "7.8")
        #expect((["m": beacon.major] as [String: Any])["m"] as? Int == 7)
    }

    @Test("A region's numbers convert as on Apple's systems")
    func numbersOfARegion() {
        #expect(region.major as? Int == 1)
        #expect(region.minor?.intValue == 2)
        #expect(CLBeaconRegion(uuid: deployment, identifier: "x").major as? Int == nil)
    }

    @Test("A beacon's numbers can be encoded as JSON")
    func numbersGoIntoJSON() throws {
        let beacon = Numbered()
        let json = try JSONSerialization.data(
            withJSONObject: ["major": beacon.major, "p": beacon.proximity.rawValue], options: .sortedKeys)
        #expect(String(decoding: json, as: UTF8.self) == #"{"major":7,"p":0}"#)
    }

    @Test("Regions can be elements of sets")
    func setsOfRegions() {
        let regions: Set<CLRegion> = [region]
        #expect(regions.filter { $0.identifier == "id" }.first as? CLBeaconRegion === region)
        #expect(regions.compactMap { $0 as? CLBeaconRegion }.count == 1)
        #expect((regions as NSSet).count == 1)
        #expect((region as CLRegion) is CLBeaconRegion)
    }

    @Test("A proximity can be a dictionary key")
    func proximityAsKey() {
        var sections = [CLProximity: [CLBeacon]]()
        sections[.near, default: []].append(CLBeacon())
        #expect(sections[.near]?.count == 1)
    }

    @Test("Arrays of beacons can be filtered and sorted")
    func arraysOfBeacons() {
        let beacons = [CLBeacon(), CLBeacon()]
        #expect((beacons as NSArray).count == 2)
        #expect((beacons as NSArray) as? [CLBeacon] == beacons)
        #expect((beacons as [AnyObject]) as? [CLBeacon] == beacons)
    }

    @Test("Both kinds of UUID can be converted")
    func uuidsOfBothKinds() {
        #expect(NSUUID(uuidString: "39ED98FF-2900-441A-802F-9C398FC199D2") as UUID? == deployment)
        var bytes = [UInt8](repeating: 0, count: 16)
        (region.uuid as NSUUID).getBytes(&bytes)
        #expect(bytes.first == 0x39)
    }

    @Test("Classes can be passed as values")
    func classesAsValues() {
        func accepts(_ regionClass: AnyClass) -> Bool { regionClass is CLRegion.Type }
        #expect(accepts(CLBeaconRegion.self))
        #expect(region.isKind(of: CLRegion.self))
        #expect(type(of: region) == CLBeaconRegion.self)
    }

    @Test("Copies can be cast to their class")
    func copiesAreCast() {
        #expect((region.copy() as? CLBeaconRegion)?.identifier == "id")
    }

    @Test("Regions can be found by identifier")
    func namedByIdentifier() {
        switch region.identifier {
        case "id": break
        default: Issue.record("the identifier does not match")
        }
    }

    @Test("Notifications can carry regions")
    func notificationsCarryRegions() {
        let name = Notification.Name("region")
        nonisolated(unsafe) var heard: CLRegion?
        let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
            heard = $0.object as? CLRegion
        }
        NotificationCenter.default.post(name: name, object: region)
        NotificationCenter.default.removeObserver(token)
        #expect(heard === region)
    }

    @Test("The module exports Dispatch")
    func dispatchIsExported() async {
        let done = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: true) }
        }
        #expect(done)
    }

    @Test("Availability can be checked")
    func availability() {
        if #available(iOS 13.0, *) {
            #expect(region.beaconIdentityConstraint.major == 1)
        } else {
            Issue.record("not available")
        }
    }

    @Test("Values can be interpolated in strings")
    func describedInStrings() {
        #expect(String(describing: region) == region.description)
        #expect("\(CLProximity.near) \(CLProximity.near.rawValue)" == "near 2")
        #expect(region.debugDescription.contains("id"))
    }
}

private final class Numbered: CLBeacon, @unchecked Sendable {
    override var major: NSNumber { 7 }
    override var minor: NSNumber { 8 }
}

@Suite("Dictionaries of advertisement data")
struct DictionaryTests {
    @Test("A region's advertisement data can pass through NSDictionary's initializer, as on Apple's platforms")
    func copy() throws {
        let region = CLBeaconRegion(uuid: UUID(), major: 1, minor: 2, identifier: "region")
        let data = region.peripheralData(withMeasuredPower: nil)
        let copied = try #require(NSDictionary(dictionary: data) as? [String: AnyObject])
        #expect(copied.keys.sorted() == ["kCBAdvDataAppleBeaconKey"])
        #expect((copied["kCBAdvDataAppleBeaconKey"] as? Data)?.count == 21)
    }
}
