import Testing

@testable import BeaconMQTT

@Suite("Ids of gateways at Home Assistant")
struct DiscoveryIDTests {
    @Test("No two client ids give the same, so that no gateway removes another's devices (D28)")
    func apart() {
        var ids: [String: String] = [:]
        for client in names(of: ["a", "b", "_", ".", "-", "2", "E", " ", "é"]) {
            let node = DiscoveryID.node(from: client)
            #expect(ids.updateValue(client, forKey: node) == nil, "\(node)")
            #expect(node.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") })
        }
        #expect(DiscoveryID.node(from: "beacond-hall") == "beacond-hall")
        #expect(DiscoveryID.node(from: "a.b_c") == "a_2Eb__c")
    }
}
