import BeaconMonitoring
import Dispatch
public import Foundation

/// Messages in the app. The inbox is always empty here.
open class KumulosInApp {
    /// Sets whether the user wants messages in the app. None ever comes, which is logged once.
    public static func updateConsent(forUser consentGiven: Bool) { KumulosLog.isMissing("messages in the app") }

    /// Returns the messages of the inbox: none.
    public static func getInboxItems() -> [InAppInboxItem] { [] }

    /// Shows a message: fails, since nothing can be shown.
    public static func presentInboxMessage(item: InAppInboxItem) -> InAppMessagePresentationResult { .FAILED }

    /// Deletes a message. Returns false: the inbox is empty.
    public static func deleteMessageFromInbox(item: InAppInboxItem) -> Bool { false }

    /// Marks a message as read. Returns false: the inbox is empty.
    public static func markAsRead(item: InAppInboxItem) -> Bool { false }

    /// Marks all messages as read. Returns true: the inbox is empty.
    public static func markAllInboxItemsAsRead() -> Bool { true }

    /// Sets what is called when the inbox changes. It never does.
    public static func setOnInboxUpdated(inboxUpdatedHandlerBlock: InboxUpdatedHandlerBlock?) {}

    /// Counts the messages of the inbox: none, on the main queue.
    public static func getInboxSummaryAsync(inboxSummaryBlock: @escaping InboxSummaryBlock) {
        // It is only handed on to the main queue, where its owner expects it, as with Kumulos' own SDK.
        let sent = UnsafeTransfer(inboxSummaryBlock)
        DispatchQueue.main.async { sent.value(InAppInboxSummary(totalCount: 0, unreadCount: 0)) }
    }
}

/// A message of the inbox. None is ever made here.
open class InAppInboxItem {
    /// The message's number.
    open internal(set) var id: Int64 = 0
    /// The title.
    open internal(set) var title = ""
    /// The subtitle.
    open internal(set) var subtitle = ""
    /// When it begins to be shown.
    open internal(set) var availableFrom: Date?
    /// When it ceases to be shown.
    open internal(set) var availableTo: Date?
    /// When it was put away.
    open internal(set) var dismissedAt: Date?
    /// When it was sent.
    open internal(set) var sentAt = Date.distantPast
    /// What goes with it.
    open internal(set) var data: NSDictionary?

    init() {}

    /// Returns whether it may be shown.
    open func isAvailable() -> Bool { false }

    /// Returns whether it was read.
    open func isRead() -> Bool { false }

    /// Returns the address of its picture.
    open func getImageUrl() -> URL? { nil }

    /// Returns the address of its picture of a width.
    open func getImageUrl(width: UInt) -> URL? { nil }
}

/// The number of messages in the inbox.
public struct InAppInboxSummary: Sendable {
    /// All messages.
    public let totalCount: Int64
    /// Those that were not read.
    public let unreadCount: Int64
}

/// A button of a message that was pressed.
public struct InAppButtonPress {
    /// Where it leads.
    public let deepLinkData: [AnyHashable: Any]
    /// The message's number.
    public let messageId: Int64
    /// What goes with the message.
    public let messageData: NSDictionary?
}

/// The outcome of showing a message.
public enum InAppMessagePresentationResult: String, Sendable {
    /// It is shown.
    case PRESENTED = "presented"
    /// Its time is over.
    case EXPIRED = "expired"
    /// It cannot be shown.
    case FAILED = "failed"
}

/// The way in which a user agrees to messages in the app.
public enum InAppConsentStrategy: String, Sendable {
    /// No messages.
    case NotEnabled
    /// Each user gets them.
    case AutoEnroll
    /// The app asks.
    case ExplicitByUser
}

/// The receiver of pressed buttons. Never called here.
public typealias InAppDeepLinkHandlerBlock = (InAppButtonPress) -> Void

/// The receiver of changes of the inbox.
public typealias InboxUpdatedHandlerBlock = () -> Void

/// The receiver of the inbox's numbers.
public typealias InboxSummaryBlock = (InAppInboxSummary?) -> Void
