/// The address of servers: `SCHEME://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]]…[/PATH][?KEY=VALUE[&KEY=VALUE]…]`.
package struct ServerAddress: Hashable, Sendable {
    /// The scheme in lower case.
    package var scheme: String

    /// The user, without percent escapes.
    package var user: String?

    /// The password, without percent escapes.
    package var password: Secret?

    /// The hosts, at least one.
    package var hosts: [HostAndPort]

    /// The text after the hosts and a slash, unchanged; empty if the address has no path.
    package var path: String

    /// The values after a question mark by their keys, without percent escapes.
    package var query: [String: String] = [:]

    /// Parses an address. It accepts a missing slash: treated as a file name, the address would be shown with its
    /// password.
    ///
    /// - Throws: ``AddressError``, which does not quote the text: a part of it may be a password.
    package init(_ text: String) throws(AddressError) {
        guard let colon = text.firstIndex(of: ":"), let scheme = Self.scheme(text[..<colon]) else { throw .noScheme }
        let rest = text[text.index(after: colon)...].drop { $0 == "/" }
        let slash = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        // Otherwise, in `user:pa/ss@host`, the host would be "user", the port "pa" and the path "ss@host".
        guard !rest[slash...].contains("@") else { throw .slashBeforeAt }
        let authority = rest[..<slash]
        let at = authority.lastIndex(of: "@")
        var (user, password): (String?, Secret?)
        if let at {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = try Self.decoded(parts[0])
            guard user?.isEmpty == false else { throw .emptyUser }
            if parts.count == 2 { password = Secret(try Self.decoded(parts[1])) }
        }
        var hosts: [HostAndPort] = []
        let names = at.map { authority[authority.index(after: $0)...] } ?? authority
        for name in names.split(separator: ",", omittingEmptySubsequences: false) {
            hosts.append(try HostAndPort(bracketed: name))
        }
        (self.scheme, self.user, self.password, self.hosts) = (scheme, user, password, hosts)
        let question = rest[slash...].firstIndex(of: "?") ?? rest.endIndex
        path = String(rest[slash..<question].dropFirst())
        for pair in rest[question...].dropFirst().split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, query.updateValue(try Self.decoded(parts[1]), forKey: String(parts[0])) == nil
            else {
                throw .invalidQuery
            }
        }
    }

    /// Returns the scheme in lower case if the text is one: a letter, then letters, digits and `+-.`.
    package static func scheme(_ text: some StringProtocol) -> String? {
        guard let first = text.first, first.isASCII, first.isLetter,
            text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return text.lowercased()
    }

    private static func decoded(_ text: Substring) throws(AddressError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy(\.isHexadecimalDigit),
                let value = UInt8(Substring(digits), radix: 16), value != 0
            else { throw .invalidEscape }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .invalidEscape }
        return decoded
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
            || UInt8(ascii: "A")...UInt8(ascii: "F") ~= self
    }
}

/// A mistake in a server's address, with its remedy. It never quotes the address: any part of it may be a password.
package struct AddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of mistake.
    package enum Code: Sendable {
        case noScheme, emptyHost, invalidHost, invalidPort, invalidCredentials, invalidSetting
    }

    /// The kind of mistake.
    package var code: Code
    /// The mistake and its remedy.
    package var message: String

    /// Creates an error from its parts.
    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The message.
    package var description: String { message }

    static let noScheme = AddressError(.noScheme, "the address has no scheme; write one, as in mqtt://HOST")
    static let emptyHost = AddressError(.emptyHost, "the host is empty; write a name or an address")
    static let invalidHost = AddressError(
        .invalidHost, "the host is not a name or an address; write letters, digits, dots and hyphens")
    static let noBracket = AddressError(.invalidHost, "the host has a [ but no ]; write an IPv6 address as [::1]")
    static let noIPv6 = AddressError(.invalidHost, "the text in brackets is not an IPv6 address; write one as [::1]")
    static let textBehindBracket = AddressError(
        .invalidHost, "text follows the ] of the host; write the port behind a colon, as in [::1]:1883")
    static let severalColons = AddressError(
        .invalidHost,
        "the host has several colons and is not an IPv6 address; write the port once, and an IPv6 address in brackets, "
            + "as in [::1]:1883")
    static let bareAddress = AddressError(
        .invalidHost, "an IPv6 address has no brackets; write an IPv6 address in brackets, as in [::1] or [::1]:1883")
    static let slashBeforeAt = AddressError(
        .invalidCredentials,
        "an @ follows a / or a ?; in a user or a password write / as %2F, ? as %3F, @ as %40 and % as %25, and in a "
            + "topic or a setting write @ as %40")
    static let emptyUser = AddressError(.invalidCredentials, "the user before the @ is empty; write USER:PASSWORD@HOST")
    static let invalidEscape = AddressError(
        .invalidCredentials,
        "a % in the user, the password or a setting is not followed by two hexadecimal digits of a character; write % "
            + "as %25")
    static let invalidQuery = AddressError(
        .invalidSetting, "a setting after the ? has no value, or occurs twice; write ?KEY=VALUE&KEY=VALUE")

    static func invalidPort(_ ports: ClosedRange<UInt16>) -> AddressError {
        AddressError(
            .invalidPort, "the port is not valid; write a number from \(ports.lowerBound) to \(ports.upperBound)")
    }
}
