import CoreLocation
import Testing

@Suite("Dictionaries of advertisement data")
struct DictionaryTests {
    @Test("What a region gives goes through NSDictionary's initialiser, as on Apple's platforms")
    func copy() throws {
        let region = CLBeaconRegion(uuid: UUID(), major: 1, minor: 2, identifier: "region")
        let data = region.peripheralData(withMeasuredPower: nil)
        let copied = try #require(NSDictionary(dictionary: data) as? [String: AnyObject])
        #expect(copied.keys.sorted() == ["kCBAdvDataAppleBeaconKey"])
        #expect((copied["kCBAdvDataAppleBeaconKey"] as? Data)?.count == 21)
    }
}
