// Imports nothing but the module under test and the test library, as the apps' files do: Foundation and Dispatch have to
// come along.
import CoreLocation
import Testing

/// What apps' code does with the module's types by way of bridging, one test each.
@Suite struct BridgingTests {
    private let region = CLBeaconRegion(uuid: deployment, major: 1, minor: 2, identifier: "id")
    private var data: NSMutableDictionary { region.peripheralData(withMeasuredPower: nil) }
    private let key = "kCBAdvDataAppleBeaconKey"

    @Test func advertisementDataByWayOfADictionary() {
        #expect(((data as NSDictionary) as? [String: Any])?[key] is Data)
        #expect(((data as NSDictionary) as! [String: Any]).count == 1)
        #expect(((data as NSDictionary) as! Dictionary<String, Any>).count == 1)
    }

    @Test func advertisementDataDirectly() {
        #expect((data as? [String: Any])?[key] is Data)
        #expect((data as! [String: Any])[key] is Data)
        #expect((data as NSDictionary as? [String: AnyObject])?.count == 1)
        #expect((data.allKeys as? [String]) == [key])
    }

    @Test func dictionariesBecomeObjects() {
        let options: [String: Any] = ["a": 1]
        #expect((options as NSDictionary)["a"] as? Int == 1)
    }

    @Test func measuredPowerAsLiteralAndNumber() {
        #expect(region.peripheralData(withMeasuredPower: -59) == data)
        let power = -59
        #expect(region.peripheralData(withMeasuredPower: power as NSNumber) == data)
    }

    @Test func numbersOfABeacon() {
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

    @Test func numbersOfARegion() {
        #expect(region.major as? Int == 1)
        #expect(region.minor?.intValue == 2)
        #expect(CLBeaconRegion(uuid: deployment, identifier: "x").major as? Int == nil)
    }

    @Test func numbersGoIntoJSON() throws {
        let beacon = Numbered()
        let json = try JSONSerialization.data(
            withJSONObject: ["major": beacon.major, "p": beacon.proximity.rawValue], options: .sortedKeys)
        #expect(String(decoding: json, as: UTF8.self) == #"{"major":7,"p":0}"#)
    }

    @Test func setsOfRegions() {
        let regions: Set<CLRegion> = [region]
        #expect(regions.filter { $0.identifier == "id" }.first as? CLBeaconRegion === region)
        #expect(regions.compactMap { $0 as? CLBeaconRegion }.count == 1)
        #expect((regions as NSSet).count == 1)
        #expect((region as CLRegion) is CLBeaconRegion)
    }

    @Test func proximityAsKey() {
        var sections = [CLProximity: [CLBeacon]]()
        sections[.near, default: []].append(CLBeacon())
        #expect(sections[.near]?.count == 1)
    }

    @Test func arraysOfBeacons() {
        let beacons = [CLBeacon(), CLBeacon()]
        #expect((beacons as NSArray).count == 2)
        #expect((beacons as NSArray) as? [CLBeacon] == beacons)
        #expect((beacons as [AnyObject]) as? [CLBeacon] == beacons)
    }

    @Test func uuidsOfBothKinds() {
        #expect(NSUUID(uuidString: "39ED98FF-2900-441A-802F-9C398FC199D2") as UUID? == deployment)
        var bytes = [UInt8](repeating: 0, count: 16)
        (region.uuid as NSUUID).getBytes(&bytes)
        #expect(bytes.first == 0x39)
    }

    @Test func classesAsValues() {
        func accepts(_ regionClass: AnyClass) -> Bool { regionClass is CLRegion.Type }
        #expect(accepts(CLBeaconRegion.self))
        #expect(region.isKind(of: CLRegion.self))
        #expect(type(of: region) == CLBeaconRegion.self)
    }

    @Test func copiesAreCast() {
        #expect((region.copy() as? CLBeaconRegion)?.identifier == "id")
    }

    @Test func namedByIdentifier() {
        switch region.identifier {
        case "id": break
        default: Issue.record("not by its identifier")
        }
    }

    @Test func notificationsCarryRegions() {
        let name = Notification.Name("region")
        nonisolated(unsafe) var heard: CLRegion?
        let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
            heard = $0.object as? CLRegion
        }
        NotificationCenter.default.post(name: name, object: region)
        NotificationCenter.default.removeObserver(token)
        #expect(heard === region)
    }

    @Test func dispatchComesAlong() async {
        let done = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: true) }
        }
        #expect(done)
    }

    @Test func availabilityIsAsked() {
        if #available(iOS 13.0, *) {
            #expect(region.beaconIdentityConstraint.major == 1)
        } else {
            Issue.record("not available")
        }
    }

    @Test func describedInStrings() {
        #expect(String(describing: region) == region.description)
        #expect("\(CLProximity.near) \(CLProximity.near.rawValue)" == "near 2")
        #expect(region.debugDescription.contains("id"))
    }
}

private final class Numbered: CLBeacon {
    override var major: NSNumber { 7 }
    override var minor: NSNumber { 8 }
}
