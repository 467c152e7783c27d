import BeaconNATS
import Testing

@Suite("A token of a subject")
struct NATSNameTests {
    @Test(
        "is made from any name, and gives it back",
        arguments: [
            ("", "="), ("hall", "hall"), ("a.b", "a=2Eb"), ("Ann's", "Ann=27s"), ("=", "=3D"), ("\n", "=0A"),
            ("grüß", "gr=C3=BC=C3=9F"), ("*>", "=2A=3E"), ("AA:BB", "AA=3ABB"),
        ])
    func escaping(name: String, token: String) {
        #expect(NATSName.escape(name) == token)
        #expect(NATSName.unescape(token) == name)
    }

    @Test("that was not made from a name gives none", arguments: ["a.b", "=4", "=zz", "=41", "=3d", "=FF", "=+1"])
    func damaged(token: String) { #expect(NATSName.unescape(token) == nil) }
}
