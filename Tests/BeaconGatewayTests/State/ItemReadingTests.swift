import BeaconModel
import BeaconSupport
import Foundation
import Testing

@testable import BeaconGateway

/// The console's items. A change reads only the changed items.
@Suite("Reading of items")
struct ItemReadingTests {
    private static let uuid = "f7826da6-4fa2-4e98-8024-bc5b71e0893e"

    private static func base() -> GatewayConfiguration {
        let text = """
            sources: [simulation:department-store]
            regions: [{ name: hall, uuid: \(uuid) }]
            places: [{ name: foyer, receivers: [a] }]
            web: true
            """
        return GatewayConfiguration.check(text, folder: URL(fileURLWithPath: "/"), environment: [:]).configuration
    }

    /// Returns an item with few possible names and numbers, so that many items collide or refer to missing ones.
    private static func item(_ random: inout SplitMix64) -> ConfigurationItem {
        let kind = ConfigurationItem.Kind.allCases.randomElement(using: &random) ?? .beacon
        let name = ["hall", "foyer", "a", "b", "c"].randomElement(using: &random) ?? ""
        let number = JSONValue.integer(Int64.random(in: -1...2, using: &random))
        var settings: [String: JSONValue] = ["name": .string(name)]
        switch kind {
        case .beacon: settings.merge(["uuid": .string(uuid), "major": .integer(1), "minor": number]) { _, new in new }
        case .region: settings.merge(["uuid": .string(uuid), "major": number]) { _, new in new }
        case .place: settings["receivers"] = .array([.string(["a", "r", "s"].randomElement(using: &random) ?? "")])
        case .rule:
            settings["events"] = .array([.string(["enter", "near", "place"].randomElement(using: &random) ?? "")])
            settings["beacons"] = Bool.random(using: &random) ? nil : .array([.string("a")])
            settings["regions"] = Bool.random(using: &random) ? nil : .array([.string("b")])
            settings["message"] = .string("hello")
        }
        return ConfigurationItem(kind: kind, name: name, settings: .object(settings), origin: .console)
    }

    @Test("After any changes, the configuration equals a full reading", arguments: 0..<20)
    func random(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let base = Self.base()
        var items: [ConfigurationItem] = []
        for _ in 0..<60 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !items.isEmpty: items.remove(at: Int.random(in: 0..<items.count, using: &random))
            case 1 where !items.isEmpty: items[Int.random(in: 0..<items.count, using: &random)] = Self.item(&random)
            default: items.append(Self.item(&random))
            }
            let (known, new) = (base.adding(items), Self.base().adding(items))
            #expect(known.items == new.items)
            #expect(known.regions == new.regions && known.beacons == new.beacons)
            #expect(known.places == new.places && known.launch.rules == new.launch.rules)
        }
    }

    @Test("A change of one item among thousands reads only that item")
    func reads() {
        let base = Self.base()
        var items = (0..<2_000).map { number in
            let settings: [String: JSONValue] = [
                "name": .string("tag \(number)"), "uuid": .string(Self.uuid), "major": .integer(1),
                "minor": .integer(Int64(number)),
            ]
            return ConfigurationItem(
                kind: .beacon, name: "tag \(number)", settings: .object(settings), origin: .console)
        }
        _ = base.adding(items)
        #expect(base.itemReadings.count == 2_000)
        items[7].settings = .object(["name": .string("tag 7")])
        #expect(base.adding(items).beacons.count == 1_999)
        #expect(base.itemReadings.count == 2_001)
        items.remove(at: 9)
        #expect(base.adding(items).beacons.count == 1_998)
        #expect(base.itemReadings.count == 2_001)
    }
}
