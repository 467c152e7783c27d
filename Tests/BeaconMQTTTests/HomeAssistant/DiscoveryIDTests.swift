import Testing

@testable import BeaconMQTT

@Suite("Ids of gateways at Home Assistant")
struct DiscoveryIDTests {
    @Test("No two client ids give the same, so that no gateway removes another's devices (D28)")
    func apart() {
        var ids: [String: String] = [:]
        for client in names(of: ["a", "b", "_", ".", "-", "2", "E", " ", "é"]) {
            let node = DiscoveryID.escape(client)
            #expect(ids.updateValue(client, forKey: node) == nil, "\(node)")
            #expect(node.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") })
        }
    }

    @Test("A device's id is read as it was written, for any gateway and region, and no two have the same")
    func regions() {
        var ids: [String: DiscoveryID] = [:]
        let few = names(of: ["a", "_", "2", "é"]) + ["region", "_region_", "a_region_", "_region_b", "__region_2"]
        for client in few {
            for name in few {
                let id = DiscoveryID(node: DiscoveryID.escape(client), subject: .region(DiscoveryID.escape(name)))
                #expect(DiscoveryID(id.text) == id)
                #expect(ids.updateValue(id, forKey: id.text) == nil)
            }
        }
    }

    @Test("A name without special characters is as it is")
    func plain() {
        #expect(DiscoveryID.escape("beacond-hall") == "beacond-hall")
        #expect(DiscoveryID.escape("a.b_c") == "a_2Eb__c")
    }
}
