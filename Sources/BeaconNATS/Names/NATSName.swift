import BeaconSupport

/// Checks of NATS names, and subject tokens for arbitrary names.
package enum NATSName {
    /// Returns a token for a name, for use in a subject or a key.
    ///
    /// In subjects `.` separates tokens, and `*` and `>` are wildcards. A key may contain only letters, digits, `-`,
    /// `_`, `=`, `.` and `/` (NATS ADR-8). Each UTF-8 byte of the name that is not an ASCII letter, an ASCII digit, `-`
    /// or `_` becomes `=` and two hexadecimal digits. Different names give different tokens.
    package static func escape(_ name: String) -> String {
        // An empty token is not valid. No other name gives a lone `=`.
        guard !name.isEmpty else { return "=" }
        var token = ""
        for byte in name.utf8 {
            if isPlain(byte) {
                token.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                token += digits.utf8.count == 1 ? "=0" + digits : "=" + digits
            }
        }
        return token
    }

    /// Returns the name of a token; nil if `escape` did not make the token.
    package static func unescape(_ token: String) -> String? {
        guard token != "=" else { return "" }
        var bytes: [UInt8] = []
        var rest = token.utf8[...]
        while let byte = rest.popFirst() {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard byte == UInt8(ascii: "="), rest.count >= 2, let value = UInt8(digits, radix: 16) else {
                    return nil
                }
                bytes.append(value)
                rest = rest.dropFirst(2)
            }
        }
        // Reject other spellings of the name: only the token that `escape` makes is valid.
        guard let name = String(validating: bytes, as: UTF8.self), escape(name) == token else { return nil }
        return name
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Throws an error if a subject is not valid. Line breaks and blanks would break the protocol.
    static func check(subject: String, allowsWildcards: Bool) throws(NATSError) {
        var isTokenEmpty = true
        var isValid = true
        for byte in subject.utf8 {
            switch byte {
            case UInt8(ascii: "."):
                isValid = isValid && !isTokenEmpty
                isTokenEmpty = true
            case 0...0x20, 0x7F: isValid = false
            case UInt8(ascii: "*"), UInt8(ascii: ">"):
                isValid = isValid && allowsWildcards
                isTokenEmpty = false
            default: isTokenEmpty = false
            }
        }
        guard isValid, !isTokenEmpty else {
            throw NATSError(
                .invalidMessage,
                "The subject \"\(subject.printable)\" is not valid; write tokens separated by dots, without blanks"
                    + (allowsWildcards ? "." : " and wildcards."))
        }
    }

    /// Throws an error if a header's name or value is not valid.
    static func check(header: String) throws(NATSError) {
        guard header.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw NATSError(.invalidMessage, "The header \"\(header.printable)\" is not valid; write it on one line.")
        }
    }

    /// Throws an error if a bucket's key is not valid (NATS ADR-8).
    static func check(key: String) throws(NATSError) {
        let isValid = key.utf8.allSatisfy { byte in
            isPlain(byte) || byte == UInt8(ascii: "=") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
        }
        guard isValid, !key.isEmpty, !key.hasPrefix("."), !key.hasSuffix("."), !key.contains("..") else {
            throw NATSError(
                .invalidMessage,
                "The key \"\(key.printable)\" is not valid; write letters, digits, - and _, separated by dots.")
        }
    }

    /// Throws an error if the name of a stream or a bucket is not valid.
    static func check(stream: String) throws(NATSError) {
        guard !stream.isEmpty, stream.utf8.allSatisfy(isPlain) else {
            throw NATSError(
                .invalidMessage,
                "The stream name \"\(stream.printable)\" is not valid; write letters, digits, - and _.")
        }
    }
}
