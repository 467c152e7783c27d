import BeaconNATS
import BeaconSupport
import Testing

@Suite("Addresses of NATS")
struct NATSSettingsTests {
    @Test("An address has hosts, ports and credentials")
    func parts() throws {
        let options = try NATSSettings("tls://ann%40home:p%3Aw@one:4333,[::1],10.0.0.2")
        #expect(options.servers == ["tls://one:4333", "tls://[::1]:4222", "tls://10.0.0.2:4222"])
        #expect(options.user == "ann@home")
        #expect(options.password?.reveal() == "p:w")
        #expect(options.title == "one:4333, [::1]:4222, 10.0.0.2:4222")
        #expect(options.mistakes().isEmpty)
        #expect(try NATSSettings("nats://hall").servers == ["nats://hall:4222"])
    }

    @Test(
        "An invalid address is refused",
        arguments: [
            "", "hall", "nats://", "http://hall", "nats://hall:0", "nats://hall:70000", "nats://a,,b", "nats://@hall",
            "nats://a b", "nats://a%zz:b@hall", "nats://[::1", "nats://hall/path",
        ])
    func none(text: String) { #expect(throws: AddressError.self) { try NATSSettings(text) } }

    @Test("All mistakes in settings are reported, without passwords")
    func mistakes() {
        var options = NATSSettings(servers: ["nats://ann:hidden@hall"], name: "")
        options.user = "ann"
        options.certificateFile = "one.pem"
        let mistakes = options.mistakes()
        #expect(mistakes.count == 4)
        #expect(!mistakes.joined().contains("hidden"))
        #expect(NATSSettings(servers: []).mistakes().count == 1)
        let error = #expect(throws: NATSError.self) { try NATSConnection(options) }
        #expect(error?.code == .invalidSettings)
    }
}
