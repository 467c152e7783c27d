import Foundation

/// A request as the server got it.
struct ReceivedRequest: Sendable {
    var method: String
    var path: String
    /// By names in lower case.
    var headers: [String: String]
    var body: Data

    /// The body as JSON.
    var json: Any? { try? JSONSerialization.jsonObject(with: body) }

    /// The body as a JSON object.
    var object: [String: Any] { json as? [String: Any] ?? [:] }

    /// The minor value of the beacon that a CloudEvent is about.
    var minor: Int? {
        let data = object["data"] as? [String: Any]
        return (data?["beacon"] as? [String: Any])?["minor"] as? Int
    }
}
