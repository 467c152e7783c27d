import BeaconGateway
import Foundation
import HTTPTypes
import Hummingbird

/// The cookie that keeps a browser signed in.
///
/// Over HTTPS its name has the prefix `__Host-`. Browsers accept such a cookie only from this host, with `Secure` and
/// without a domain, so that no other page can set it, not even a page of the same domain. Over plain HTTP browsers
/// refuse that prefix, and the cookie has its plain name.
enum SessionCookie {
    private static let plainName = "beacond-session"
    private static let secureName = "__Host-" + plainName
    /// The time that a browser keeps the cookie: as long as beacond keeps the session.
    private static let lifetime = Int(ConsoleAccess.sessionTime / .seconds(1))

    /// Returns the name of a request's session, or nil without one.
    ///
    /// - Parameter isEncrypted: whether the console itself uses HTTPS. The plain name is ignored then, since a plain
    ///   HTTP page on this host may have set it.
    static func value(in request: Request, isEncrypted: Bool) -> String? {
        func value(_ name: String) -> String? { request.cookies[name].flatMap { $0.value.isEmpty ? nil : $0.value } }
        return value(secureName) ?? (isEncrypted ? nil : value(plainName))
    }

    /// Returns the header that begins a session.
    ///
    /// - Parameters:
    ///   - session: the session's name.
    ///   - request: the request that began it.
    ///   - isEncrypted: whether the console itself uses HTTPS.
    static func header(for session: String, to request: Request, isEncrypted: Bool) -> String {
        // A proxy may use plain HTTP although the browser's page uses HTTPS. The origin shows it.
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

    // Hummingbird's type writes the attributes in an order that differs in each process.
    private static func text(_ name: String, _ value: String, isSecure: Bool, age: Int) -> String {
        "\(name)=\(value); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(age)\(isSecure ? "; Secure" : "")"
    }
}
