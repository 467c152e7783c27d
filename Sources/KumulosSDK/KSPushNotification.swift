import BeaconDelivery
public import Foundation

/// A handler for messages.
public typealias PushOpenedHandlerBlock = (KSPushNotification) -> Void

/// A message to this installation, in the form of Kumulos' SDK for Swift 10.0.0.
open class KSPushNotification: NSObject {
    /// A number that identifies the message, the same each time that it is delivered.
    open internal(set) var id: Int
    /// The content that Apple's platforms show: `alert` with `title` and `body`.
    open internal(set) var aps: [AnyHashable: Any]
    /// The message's `id`, as text, and its `time`, in seconds since 1970.
    open internal(set) var data: [AnyHashable: Any]
    /// A URL to open.
    open internal(set) var url: URL?

    /// The action that the user chose. Always nil, since messages are not displayed here.
    open internal(set) var actionIdentifier: String?

    /// Returns the link to an in-app message. Always nil.
    open func inAppDeepLink() -> [AnyHashable: Any]? { nil }

    init(_ message: KumulosMessage) {
        // FNV-1a, 64 bits: the same in each process, like a server's number.
        let hash = message.id.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        id = Int(hash >> 1)
        var alert: [String: Any] = ["body": message.text]
        alert["title"] = message.title
        aps = ["alert": alert]
        data = ["id": message.id, "time": message.time]
        url = message.url.flatMap { URL(string: $0) }
    }
}
