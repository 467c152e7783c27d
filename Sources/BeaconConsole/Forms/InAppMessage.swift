import BeaconGateway
import BeaconModel
import Foundation

/// A message as Kumulos' SDK for Swift 10.0.0 and OptimoveSDK 6.10 store it. A missing key, a text in place of a number
/// or a time with fractions of a second would end the app.
struct InAppMessage: Encodable, Sendable {
    /// The content for the page that shows messages.
    struct Content: Encodable, Sendable {
        var title: String?
        var text: String
        var url: String?
    }

    /// The entry of the app's inbox. With it, the SDK does not forget a closed message, and never shows it again.
    struct Inbox: Encodable, Sendable {
        var title: String
        var subtitle: String
    }

    var id: Int
    var updatedAt: String
    var sentAt: String
    var presentedWhen = "immediately"
    var content: Content
    var inbox: Inbox

    init(_ message: InstallMessage) {
        id = message.number
        // To the second, in UTC.
        sentAt = Date(timeIntervalSince1970: message.time.seconds.rounded(.down)).formatted(.iso8601)
        updatedAt = sentAt
        let (title, text) = (message.content.title, message.content.text)
        content = Content(title: title, text: text, url: message.content.url)
        inbox = Inbox(title: title ?? text, subtitle: title == nil ? "" : text)
    }
}
