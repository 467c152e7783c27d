import CLibrary

/// A host and an optional port.
///
/// The forms are `HOST`, `HOST:PORT`, `[ADDRESS]` and `[ADDRESS]:PORT`. A field for a host also accepts an IPv6 address
/// without brackets. All network addresses that users write are parsed here.
package struct HostAndPort: Hashable, Sendable, CustomStringConvertible {
    /// The name or address in the form that the system resolves: without brackets, with the zone of an address after
    /// `%`.
    package var host: String

    /// The port; nil if the text contains none.
    package var port: UInt16?

    /// Creates an address from host and port.
    package init(host: String, port: UInt16? = nil) { (self.host, self.port) = (host, port) }

    /// Parses a host and its port.
    ///
    /// - Parameters:
    ///   - text: the text, which may be part of a longer one.
    ///   - ports: the valid ports.
    /// - Throws: ``AddressError``, which does not quote the text: a part of it may be a password.
    package init(_ text: some StringProtocol, ports: ClosedRange<UInt16> = 1...65_535) throws(AddressError) {
        guard !text.isEmpty else { throw .emptyHost }
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw .noBracket }
            let address = Self.decodingZone(text[text.index(after: text.startIndex)..<end])
            guard Self.isIPv6(address) else { throw .noIPv6 }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw .textBehindBracket }
            self.init(host: address, port: rest.isEmpty ? nil : try Self.port(rest.dropFirst(), ports))
            return
        }
        // An address without brackets has no port: the port would be ambiguous.
        if text.count(where: { $0 == ":" }) > 1 {
            let address = Self.decodingZone(text)
            guard Self.isIPv6(address) else { throw .severalColons }
            self.init(host: address)
            return
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let name = text[..<colon]
        guard !name.isEmpty else { throw .emptyHost }
        guard name.utf8.count <= 253, name.unicodeScalars.allSatisfy(Self.isValid) else { throw .invalidHost }
        self.init(
            host: String(name),
            port: colon == text.endIndex ? nil : try Self.port(text[text.index(after: colon)...], ports))
    }

    /// Parses a host and its port in a longer text such as a URL, where an IPv6 address needs brackets (RFC 3986,
    /// 3.2.2). Without them, `::1:1883` would be another host than the user means.
    ///
    /// - Throws: ``AddressError``, which does not quote the text: a part of it may be a password.
    package init(bracketed text: some StringProtocol) throws(AddressError) {
        try self.init(text)
        guard text.hasPrefix("[") || !host.contains(":") else { throw .bareAddress }
    }

    /// The host and its port in the form that can be parsed, with an IPv6 address in brackets.
    package var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(name):\($0)" } ?? name
    }

    private static func port(_ text: some StringProtocol, _ ports: ClosedRange<UInt16>) throws(AddressError) -> UInt16 {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let port = UInt16(text),
            ports.contains(port)
        else { throw .invalidPort(ports) }
        return port
    }

    /// Returns an address with its zone in the system's form: in a URL, the `%` of a zone is `%25` (RFC 6874).
    private static func decodingZone(_ text: some StringProtocol) -> String {
        guard let percent = text.firstIndex(of: "%") else { return String(text) }
        let zone = text[percent...]
        // The zone itself may be the number 25.
        return text[..<percent] + "%" + (zone.hasPrefix("%25") && zone.count > 3 ? zone.dropFirst(3) : zone.dropFirst())
    }

    private static func isIPv6(_ text: String) -> Bool {
        let percent = text.firstIndex(of: "%") ?? text.endIndex
        var bytes = in6_addr()
        guard inet_pton(AF_INET6, String(text[..<percent]), &bytes) == 1 else { return false }
        guard percent != text.endIndex else { return true }
        let zone = text[text.index(after: percent)...]
        return (1...64).contains(zone.utf8.count)
            && zone.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "-._~".utf8.contains($0)
            }
    }

    /// Letters of all scripts are valid, since the system's resolver may support such names.
    private static func isValid(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "-", ".", "_", "~": true
        default: scalar.properties.isAlphabetic || scalar.properties.numericType != nil || isMark(scalar)
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .spacingMark].contains(scalar.properties.generalCategory)
    }
}

extension StringProtocol {
    /// The text of an address for people, without any part that could be a password.
    package var shownAddress: String {
        guard contains("@") else { return printable }
        guard let colon = firstIndex(of: ":"), self[colon...].hasPrefix("://"),
            let scheme = ServerAddress.scheme(self[..<colon])
        else { return "…" }
        return scheme + "://…"
    }
}
