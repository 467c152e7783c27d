import Crypto
import Foundation

/// Signs requests as Standard Webhooks 1.0 has it: HMAC-SHA256 over the id, the time and the body, so that neither can be
/// changed, nor an old request played again.
///
/// `webhook-signature` has `v1,` and the Base64 of the code for each secret, separated by spaces.
struct WebhookSignature: Sendable {
    private let keys: [SymmetricKey]

    /// - Throws: ``SinkError`` where a secret is empty, or begins with `whsec_` and is no Base64 behind that.
    init(_ secrets: [Secret]) throws(SinkError) {
        var keys: [SymmetricKey] = []
        for secret in secrets {
            let text = secret.reveal()
            if text.hasPrefix("whsec_") {
                guard let bytes = Data(base64Encoded: String(text.dropFirst(6))), !bytes.isEmpty else {
                    throw SinkError(
                        .invalidSecret, "a signing secret begins with whsec_, and what follows has to be Base64")
                }
                keys.append(SymmetricKey(data: bytes))
            } else {
                guard !text.isEmpty else { throw SinkError(.invalidSecret, "a signing secret is empty") }
                keys.append(SymmetricKey(data: Data(text.utf8)))
            }
        }
        self.keys = keys
    }

    var isEmpty: Bool { keys.isEmpty }

    /// The value of `webhook-signature`.
    func value(id: String, timestamp: Int64, body: Data) -> String {
        let content = Data("\(id).\(timestamp).".utf8) + body
        return keys.map { key in
            "v1," + Data(HMAC<SHA256>.authenticationCode(for: content, using: key)).base64EncodedString()
        }.joined(separator: " ")
    }
}
