import BeaconNATS
import Testing

@Suite("Tokens of subjects")
struct NATSNameTests {
    @Test(
        "A token is made from any name and decodes to the same name",
        arguments: [
            ("", "="), ("hall", "hall"), ("a.b", "a=2Eb"), ("Ann's", "Ann=27s"), ("=", "=3D"), ("\n", "=0A"),
            ("grüß", "gr=C3=BC=C3=9F"), ("*>", "=2A=3E"), ("AA:BB", "AA=3ABB"),
        ])
    func escaping(name: String, token: String) {
        #expect(NATSName.escape(name) == token)
        #expect(NATSName.unescape(token) == name)
    }

    @Test("A token not made from a name is invalid", arguments: ["a.b", "=4", "=zz", "=41", "=3d", "=FF", "=+1"])
    func damaged(token: String) { #expect(NATSName.unescape(token) == nil) }
}
