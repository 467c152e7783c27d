import BeaconDelivery
public import Foundation

/// What takes a message.
public typealias PushOpenedHandlerBlock = (KSPushNotification) -> Void

/// A message to this installation, in the form of Kumulos' SDK for Swift 10.0.0.
open class KSPushNotification: NSObject {
    /// A number that the message has each time that it comes.
    open internal(set) var id: Int
    /// What Apple's platforms show: under `alert` the `title` and the `body`.
    open internal(set) var aps: [AnyHashable: Any]
    /// What goes with the message: `id`, its name as text, and `time`, in seconds since 1970.
    open internal(set) var data: [AnyHashable: Any]
    /// An address to open.
    open internal(set) var url: URL?

    /// The action that the user chose; nil, since nothing shows messages here.
    open internal(set) var actionIdentifier: String?

    /// Returns the link to a message in the app. Always nil.
    open func inAppDeepLink() -> [AnyHashable: Any]? { nil }

    init(_ message: KumulosMessage) {
        // FNV-1a, 64 bits: the same in each process, as a number of the server would be.
        let hash = message.id.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        id = Int(hash >> 1)
        var alert: [String: Any] = ["body": message.text]
        alert["title"] = message.title
        aps = ["alert": alert]
        data = ["id": message.id, "time": message.time]
        url = message.url.flatMap { URL(string: $0) }
    }
}
