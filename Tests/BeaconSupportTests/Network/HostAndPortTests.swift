import BeaconSupport
import Testing

@Suite("Hosts and ports")
struct HostAndPortTests {
    @Test(
        "A host and port are parsed in every notation",
        arguments: [
            ("hall", "hall", nil), ("hall:1", "hall", 1), ("10.0.0.2:65535", "10.0.0.2", 65_535),
            ("büro.local:1883", "büro.local", 1883), ("my_broker", "my_broker", nil), ("::1", "::1", nil),
            ("[::1]", "::1", nil), ("[::1]:1883", "::1", 1883), ("fe80::1%eth0", "fe80::1%eth0", nil),
            ("[fe80::1%eth0]:1", "fe80::1%eth0", 1), ("[fe80::1%25eth0]:1", "fe80::1%eth0", 1),
            ("fe80::1%25wlp2s0", "fe80::1%wlp2s0", nil), ("[fe80::1%25]:1", "fe80::1%25", 1),
            ("[fe80::1%252]", "fe80::1%2", nil), ("::ffff:10.0.0.2", "::ffff:10.0.0.2", nil),
        ] as [(String, String, UInt16?)])
    func valid(text: String, host: String, port: UInt16?) throws {
        let address = try HostAndPort(text)
        #expect(address == HostAndPort(host: host, port: port))
        // Its description gives the same value again.
        #expect(try HostAndPort(address.description) == address)
    }

    @Test(
        "An invalid host or port is rejected with a remedy",
        arguments: [
            ("", "host is empty"), (":1883", "host is empty"), ("hall:0", "from 1 to 65535"),
            ("hall:65536", "from 1 to 65535"), ("hall:", "port is not valid"), ("hall:+1", "port is not valid"),
            ("hall: 1", "port is not valid"), ("hall:1:2", "several colons"), ("::1::1883", "several colons"),
            ("[::1", "no ]"), ("[hall]:1", "not an IPv6 address"), ("[::1]1883", "text follows"),
            ("[::1]:x", "port is not valid"), ("fe80::1%", "several colons"), ("[fe80::1%a/b]", "not an IPv6 address"),
            ("a b", "not a name"), ("a/b", "not a name"), ("a@b", "not a name"), ("a%b", "not a name"),
            ("a\u{0}b", "not a name"), (String(repeating: "a", count: 254), "not a name"),
        ])
    func mistakes(text: String, excerpt: String) {
        let error = #expect(throws: AddressError.self) { try HostAndPort(text) }
        #expect(error?.message.contains(excerpt) == true, "\(error?.message ?? "")")
    }

    @Test("Port 0 is allowed if the system chooses the port")
    func chosen() throws {
        #expect(try HostAndPort("[::]:0", ports: 0...65_535) == HostAndPort(host: "::", port: 0))
    }
}

@Suite("Server addresses")
struct ServerAddressTests {
    @Test("A server address has a scheme, credentials, hosts and a path")
    func parts() throws {
        let address = try ServerAddress("NATS://ann%40home:p%3A%2F%C3%BC:w@one:4333,[fe80::1%25eth0]/a/b")
        #expect(address.scheme == "nats" && address.user == "ann@home" && address.password?.reveal() == "p:/ü:w")
        #expect(
            address.hosts == [HostAndPort(host: "one", port: 4333), HostAndPort(host: "fe80::1%eth0", port: nil)])
        #expect(address.path == "a/b")
        let short = try ServerAddress("mqtt:hall")
        #expect(short.hosts == [HostAndPort(host: "hall")] && short.user == nil && short.path.isEmpty)
        #expect(try ServerAddress("mqtt://a:p@ss@hall").password?.reveal() == "p@ss")
    }

    @Test(
        "An invalid server address is rejected with a remedy",
        arguments: [
            ("hall", "no scheme"), ("://hall", "no scheme"), ("mqtt://", "host is empty"),
            ("mqtt://a@", "host is empty"),
            ("mqtt://@h", "user before the @ is empty"), ("mqtt://a:b/c@h", "write / as %2F"),
            ("mqtt://a:b@h/c@d", "write / as %2F"), ("mqtt://a:1/c@h", "write / as %2F"),
            ("mqtt://a:b%@h", "write % as %25"), ("mqtt://a:b%zz@h", "write % as %25"),
            ("mqtt://a:b%+1@h", "write % as %25"), ("mqtt://a:b%ff@h", "write % as %25"),
            ("mqtt://a:b%00@h", "write % as %25"), ("nats://a,,b", "host is empty"),
            ("mqtt://::1", "IPv6 address in brackets"), ("mqtt://::1:1883", "IPv6 address in brackets"),
            ("mqtt://a:b@fe80::1%eth0/c", "IPv6 address in brackets"), ("nats://a,::1", "IPv6 address in brackets"),
        ])
    func mistakes(text: String, excerpt: String) {
        let error = #expect(throws: AddressError.self) { try ServerAddress(text) }
        #expect(error?.message.contains(excerpt) == true, "\(error?.message ?? "")")
    }

    @Test(
        "An address is shown without any part that may be a password",
        arguments: [
            ("hall:1", "hall:1"), ("mqtt://hall/x", "mqtt://hall/x"), ("mqtt://a:b@h", "mqtt://…"), ("a:b@h", "…"),
            ("p@ss:1", "…"), ("a:b://c@h", "…"), ("mqtt://a:b/c@h", "mqtt://…"),
        ])
    func shown(text: String, shown: String) { #expect(text.shownAddress == shown) }
}
