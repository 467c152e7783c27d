import BeaconSupport

/// The names of NATS: subjects, and what is made from names that people chose.
package enum NATSName {
    /// Returns the token for a name, which can be a part of a subject or of a key.
    ///
    /// `.` separates tokens, `*` and `>` are wildcards, and a key may have no more than letters, digits, `-`, `_`, `=`,
    /// `.` and `/` (NATS ADR-8). Each UTF-8 byte of the name that is not a letter or digit of ASCII, `-` or `_` becomes
    /// `=` and two hexadecimal digits. No two names give the same token.
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

    /// Returns the name that a token was made from; nil where it was not made from any.
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
        // Another writing of the same name is none that `escape` gives.
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

    /// Throws where a subject is not valid: the protocol is of lines and blanks.
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
                "The subject \"\(subject.printable)\" is not valid; write tokens with dots between, without blanks"
                    + (allowsWildcards ? "." : " and wildcards."))
        }
    }

    /// Throws where the name or the value of a header is not valid.
    static func check(header: String) throws(NATSError) {
        guard header.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw NATSError(.invalidMessage, "The header \"\(header.printable)\" is not valid; write it on one line.")
        }
    }

    /// Throws where the key of a bucket is not valid (NATS ADR-8).
    static func check(key: String) throws(NATSError) {
        let isValid = key.utf8.allSatisfy { byte in
            isPlain(byte) || byte == UInt8(ascii: "=") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
        }
        guard isValid, !key.isEmpty, !key.hasPrefix("."), !key.hasSuffix("."), !key.contains("..") else {
            throw NATSError(
                .invalidMessage,
                "The key \"\(key.printable)\" is not valid; write letters, digits, - and _, with dots between.")
        }
    }

    /// Throws where the name of a stream or a bucket is not valid.
    static func check(stream: String) throws(NATSError) {
        guard !stream.isEmpty, stream.utf8.allSatisfy(isPlain) else {
            throw NATSError(
                .invalidMessage,
                "The name \"\(stream.printable)\" of a stream is not valid; write letters, digits, - and _.")
        }
    }
}
