import BeaconMonitoring
import Dispatch
public import Foundation
import Logging

extension Kumulos {
    /// Asks the user for push messages. Nothing shows them here, which is logged once: the answer is `denied`, on the
    /// main queue.
    public static func pushRequestDeviceToken(_ onAuthorizationStatus: KSUNAuthorizationCheckedHandler? = nil) {
        KumulosLog.isMissing("push messages of Apple's service")
        guard let onAuthorizationStatus else { return }
        // It is only handed on to the main queue, where its owner expects it, as with Kumulos' own SDK.
        let sent = UnsafeTransfer(onAuthorizationStatus)
        DispatchQueue.main.async { sent.value(.denied, nil) }
    }

    /// Registers a device for push messages. There is no push service here, which is logged once.
    public static func pushRegister(_ deviceToken: Data) { KumulosLog.isMissing("push messages of Apple's service") }

    /// Ends the registration for push messages. Does nothing.
    public static func pushUnregister() {}

    /// Counts a push message as opened. None is ever shown, and nothing is counted.
    public static func pushTrackOpen(notification: KSPushNotification?) {}

    /// Reports an exception. It is logged here, and sent nowhere.
    public static func logException(
        name: String, reason: String, language: String, lineOfCode: String, stackTrace: [Any], logAllThreads: Bool
    ) {
        KumulosLog.logger.error("\(name) at \(lineOfCode): \(reason); reports of crashes are not sent from here")
    }
}

/// The receiver of the user's answer about push messages.
public typealias KSUNAuthorizationCheckedHandler = (UNAuthorizationStatus, (any Error)?) -> Void

/// What decides how a push message is shown while the app is in front. Never called.
public typealias PushReceivedInForegroundHandlerBlock = (
    KSPushNotification, (UNNotificationPresentationOptions) -> Void
) -> Void

/// The user's permission to show notifications, by the name of Apple's UserNotifications, which Linux has not.
public enum UNAuthorizationStatus: Int, Sendable {
    /// Not decided.
    case notDetermined = 0
    /// Not allowed.
    case denied = 1
    /// Allowed.
    case authorized = 2
    /// Allowed quietly.
    case provisional = 3
    /// Allowed for a while.
    case ephemeral = 4
}

/// How a notification is shown, by the name of Apple's UserNotifications, which Linux has not. Nothing is shown here.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A number at the app's icon.
    public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
    /// A sound.
    public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
    /// A message.
    public static let alert = UNNotificationPresentationOptions(rawValue: 1 << 2)
    /// In the notification centre.
    public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
    /// A banner.
    public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}
