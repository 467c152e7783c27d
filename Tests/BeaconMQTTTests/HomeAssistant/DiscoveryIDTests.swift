import BeaconModel
import BrokerTestSupport
import Testing

@testable import BeaconMQTT

@Suite("Device ids in Home Assistant")
struct DiscoveryIDTests {
    @Test("Different client ids give different gateway ids, so that no gateway removes another's devices (D28)")
    func apart() {
        var ids: [String: String] = [:]
        for client in names(of: ["a", "b", "_", ".", "-", "2", "E", " ", "é"]) {
            let node = DiscoveryID.escape(client)
            #expect(ids.updateValue(client, forKey: node) == nil, "\(node)")
            #expect(node.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") })
        }
    }

    @Test("A device's id is decoded only for its gateway, and different devices have different ids")
    func regions() {
        var ids: [String: DiscoveryID] = [:]
        let uuid = TestBeacon.keys.uuid.description
        let few =
            names(of: ["a", "_", "2", "é"]) + ["region", "_region_", "a_region_", "_region_b", "__region_2"]
            + [uuid, "\(uuid) 1 2", "\(uuid.uppercased())#1#2", uuid.filter { $0 != "-" } + " 1 2"]
        let nodes = few.map(DiscoveryID.escape)
        for node in nodes {
            let subjects: [DiscoveryID.Subject] =
                few.map { .region(DiscoveryID.escape($0)) } + [
                    .beacon(TestBeacon.keys), .beacon(TestBeacon.bag), .gateway,
                ]
            for subject in subjects {
                let id = DiscoveryID(node: node, subject: subject)
                #expect(ids.updateValue(id, forKey: id.text) == nil, "\(id.text)")
                #expect(DiscoveryID(id.text, of: node) == id)
            }
        }
        // Ids of other gateways are not accepted.
        for (text, id) in ids {
            for node in nodes where node != id.node {
                #expect(DiscoveryID(text, of: node) == nil, "\(text) of \(node)")
            }
        }
    }

    @Test("A name without special characters does not change")
    func plain() {
        #expect(DiscoveryID.escape("beacond-hall") == "beacond-hall")
        #expect(DiscoveryID.escape("a.b_c") == "a_2Eb__c")
    }
}
