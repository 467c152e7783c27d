import BeaconMonitoring
import Dispatch
public import Foundation
import Logging

extension Kumulos {
    /// Requests permission for push messages. They are not displayed here, which is logged once: the answer is
    /// `denied`, on the main queue.
    public static func pushRequestDeviceToken(_ onAuthorizationStatus: KSUNAuthorizationCheckedHandler? = nil) {
        KumulosLog.logUnavailable("Apple push messages")
        guard let onAuthorizationStatus else { return }
        // It is only passed to the main queue, where its owner expects it, as with Kumulos' own SDK.
        let sent = UnsafeTransfer(onAuthorizationStatus)
        DispatchQueue.main.async { sent.value(.denied, nil) }
    }

    /// Registers a device for push messages. There is no push service here, which is logged once.
    public static func pushRegister(_ deviceToken: Data) { KumulosLog.logUnavailable("Apple push messages") }

    /// Unregisters from push messages. Does nothing.
    public static func pushUnregister() {}

    /// Counts a push message as opened. Does nothing, since none is ever shown.
    public static func pushTrackOpen(notification: KSPushNotification?) {}

    /// Logs an exception. It is not sent to Kumulos.
    public static func logException(
        name: String, reason: String, language: String, lineOfCode: String, stackTrace: [Any], logAllThreads: Bool
    ) {
        KumulosLog.logger.error("\(name) at \(lineOfCode): \(reason); crash reports are not sent on Linux")
    }
}

/// A handler for the user's answer about push messages.
public typealias KSUNAuthorizationCheckedHandler = (UNAuthorizationStatus, (any Error)?) -> Void

/// A handler that decides how a push message is shown in the foreground. Never called.
public typealias PushReceivedInForegroundHandlerBlock = (
    KSPushNotification, (UNNotificationPresentationOptions) -> Void
) -> Void

/// The user's permission to show notifications, as in Apple's UserNotifications, which Linux lacks.
public enum UNAuthorizationStatus: Int, Sendable {
    /// Not decided.
    case notDetermined = 0
    /// Not allowed.
    case denied = 1
    /// Allowed.
    case authorized = 2
    /// Allowed quietly.
    case provisional = 3
    /// Allowed temporarily.
    case ephemeral = 4
}

/// The presentation of a notification, as in Apple's UserNotifications, which Linux lacks. Nothing is shown here.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A number on the app's icon.
    public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
    /// A sound.
    public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
    /// An alert.
    public static let alert = UNNotificationPresentationOptions(rawValue: 1 << 2)
    /// An entry in the notification center.
    public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
    /// A banner.
    public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}
