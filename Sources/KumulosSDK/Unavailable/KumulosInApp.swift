import BeaconMonitoring
import Dispatch
public import Foundation

/// The inbox of in-app messages, which is always empty here.
open class KumulosInApp {
    /// Sets whether the user consents to in-app messages. None ever arrives, which is logged once.
    public static func updateConsent(forUser consentGiven: Bool) { KumulosLog.logUnavailable("in-app messages") }

    /// Returns the messages in the inbox. Always empty.
    public static func getInboxItems() -> [InAppInboxItem] { [] }

    /// Shows a message. Always fails, since nothing can be shown.
    public static func presentInboxMessage(item: InAppInboxItem) -> InAppMessagePresentationResult { .FAILED }

    /// Deletes a message. Always returns false, since the inbox is empty.
    public static func deleteMessageFromInbox(item: InAppInboxItem) -> Bool { false }

    /// Marks a message as read. Always returns false, since the inbox is empty.
    public static func markAsRead(item: InAppInboxItem) -> Bool { false }

    /// Marks all messages as read. Always returns true, since the inbox is empty.
    public static func markAllInboxItemsAsRead() -> Bool { true }

    /// Sets the handler for changes of the inbox, which never changes.
    public static func setOnInboxUpdated(inboxUpdatedHandlerBlock: InboxUpdatedHandlerBlock?) {}

    /// Counts the messages in the inbox, on the main queue. Always zero.
    public static func getInboxSummaryAsync(inboxSummaryBlock: @escaping InboxSummaryBlock) {
        // It is only passed to the main queue, where its owner expects it, as with Kumulos' own SDK.
        let sent = UnsafeTransfer(inboxSummaryBlock)
        DispatchQueue.main.async { sent.value(InAppInboxSummary(totalCount: 0, unreadCount: 0)) }
    }
}

/// A message in the inbox. None is ever created here.
open class InAppInboxItem {
    /// The message's number.
    open internal(set) var id: Int64 = 0
    /// The title.
    open internal(set) var title = ""
    /// The subtitle.
    open internal(set) var subtitle = ""
    /// The time from which it is shown.
    open internal(set) var availableFrom: Date?
    /// The time until which it is shown.
    open internal(set) var availableTo: Date?
    /// The time at which it was dismissed.
    open internal(set) var dismissedAt: Date?
    /// The time at which it was sent.
    open internal(set) var sentAt = Date.distantPast
    /// The attached data.
    open internal(set) var data: NSDictionary?

    init() {}

    /// Returns whether it can be shown now.
    open func isAvailable() -> Bool { false }

    /// Returns whether it was read.
    open func isRead() -> Bool { false }

    /// Returns the address of its image.
    open func getImageUrl() -> URL? { nil }

    /// Returns the address of its image with a width.
    open func getImageUrl(width: UInt) -> URL? { nil }
}

/// The number of messages in the inbox.
public struct InAppInboxSummary: Sendable {
    /// All messages.
    public let totalCount: Int64
    /// Unread messages.
    public let unreadCount: Int64
}

/// A button press in a message.
public struct InAppButtonPress {
    /// The button's deep link.
    public let deepLinkData: [AnyHashable: Any]
    /// The message's number.
    public let messageId: Int64
    /// The data attached to the message.
    public let messageData: NSDictionary?
}

/// The result of showing a message.
public enum InAppMessagePresentationResult: String, Sendable {
    /// It is shown.
    case PRESENTED = "presented"
    /// It has expired.
    case EXPIRED = "expired"
    /// It cannot be shown.
    case FAILED = "failed"
}

/// How a user consents to in-app messages.
public enum InAppConsentStrategy: String, Sendable {
    /// No messages.
    case NotEnabled
    /// Every user receives messages.
    case AutoEnroll
    /// The app asks the user.
    case ExplicitByUser
}

/// A handler for button presses. Never called here.
public typealias InAppDeepLinkHandlerBlock = (InAppButtonPress) -> Void

/// A handler for changes of the inbox.
public typealias InboxUpdatedHandlerBlock = () -> Void

/// A handler for the inbox's summary.
public typealias InboxSummaryBlock = (InAppInboxSummary?) -> Void
