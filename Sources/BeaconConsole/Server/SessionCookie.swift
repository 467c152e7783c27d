import BeaconGateway
import Foundation
import HTTPTypes
import Hummingbird

/// The cookie that keeps a browser signed in.
///
/// Over HTTPS its name has the prefix `__Host-`: browsers then take it from this host alone, and only with `Secure` and
/// without a domain, so that no other page, not even one of the same domain, can set it. Over plain HTTP browsers
/// refuse that prefix, and the cookie has its plain name.
enum SessionCookie {
    private static let plainName = "beacond-session"
    private static let secureName = "__Host-" + plainName
    /// The time that a browser keeps it: as long as beacond keeps the session.
    private static let lifetime = Int(ConsoleAccess.sessionTime / .seconds(1))

    /// Returns the name of a request's session; nil where it has none.
    ///
    /// - Parameter isEncrypted: whether the console itself speaks HTTPS. Then the plain name does not count, since a
    ///   page of plain HTTP on this host may have set it.
    static func value(in request: Request, isEncrypted: Bool) -> String? {
        func value(_ name: String) -> String? { request.cookies[name].flatMap { $0.value.isEmpty ? nil : $0.value } }
        return value(secureName) ?? (isEncrypted ? nil : value(plainName))
    }

    /// Returns the header that begins a session.
    ///
    /// - Parameters:
    ///   - session: the session's name.
    ///   - request: the request that began it.
    ///   - isEncrypted: whether the console itself speaks HTTPS.
    static func header(for session: String, to request: Request, isEncrypted: Bool) -> String {
        // The browser's page may be one of HTTPS though a proxy asks without: the browser itself says so.
        let isSecure = isEncrypted || request.headers[.origin]?.lowercased().hasPrefix("https://") == true
        return text(isSecure ? secureName : plainName, session, isSecure: isSecure, age: lifetime)
    }

    /// Returns the headers that remove the cookie, by either name.
    static var removal: HTTPFields {
        var fields = HTTPFields()
        fields[values: .setCookie] = [
            text(secureName, "", isSecure: true, age: 0), text(plainName, "", isSecure: false, age: 0),
        ]
        return fields
    }

    // Hummingbird's type writes the attributes in an order that is random in each process.
    private static func text(_ name: String, _ value: String, isSecure: Bool, age: Int) -> String {
        "\(name)=\(value); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(age)\(isSecure ? "; Secure" : "")"
    }
}
