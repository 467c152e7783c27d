import BeaconMonitoring
public import Foundation

/// The configuration of the SDK. Create it with ``KSConfigBuilder``.
public struct KSConfig: Sendable {
    /// The app's API key.
    public let apiKey: String
    /// The app's secret key. It is never logged.
    public let secretKey: String

    let sink: (any KumulosEventSink)?

    /// The folder for waiting events; nil for the app's state directory.
    let folder: URL?

    /// The address for events; nil for Kumulos' own.
    let eventsAddress: String?

    /// The address for messages; nil for none.
    let messagesAddress: String?

    /// The handler for messages; nil if the app does not want any.
    ///
    /// It is only passed to the main queue, where its owner expects it, as with Kumulos' own SDK.
    let pushOpenedHandler: UnsafeTransfer<PushOpenedHandlerBlock>?
}

/// A builder of a ``KSConfig``, as in Kumulos' SDK.
open class KSConfigBuilder: NSObject {
    private let apiKey: String
    private let secretKey: String
    private var sink: (any KumulosEventSink)?
    private var eventsAddress: String?
    private var messagesAddress: String?
    private var pushOpenedHandler: PushOpenedHandlerBlock?
    private var folder: URL?

    /// Creates a builder for an app.
    public init(apiKey: String, secretKey: String) {
        self.apiKey = apiKey
        self.secretKey = secretKey
    }

    /// Sets the addresses of servers other than Kumulos' own, for example of a test.
    ///
    /// - Parameter baseUrlMap: the addresses. Only ``Service/events`` and ``Service/push`` are used. If
    ///   ``Service/events`` is missing, events are sent to Kumulos; if ``Service/push`` is missing, messages come from
    ///   the address for events. A beacond serves both.
    @discardableResult
    open func setBaseUrlMapping(baseUrlMap: ServiceUrlMap) -> KSConfigBuilder {
        eventsAddress = baseUrlMap[.events]
        messagesAddress = baseUrlMap[.push] ?? baseUrlMap[.events]
        return self
    }

    /// Sets the handler for messages.
    ///
    /// Kumulos' own SDK calls it when the user opens a push message. Here, messages are not displayed: the handler is
    /// called on the main queue with each message, in order and at least once. A message that was being handled when
    /// the app ended is delivered again. Messages come from a beacond, at the address in
    /// ``setBaseUrlMapping(baseUrlMap:)``.
    @discardableResult
    open func setPushOpenedHandler(pushOpenedHandlerBlock: @escaping PushOpenedHandlerBlock) -> KSConfigBuilder {
        pushOpenedHandler = pushOpenedHandlerBlock
        return self
    }

    /// Enables in-app messages. None ever arrives here, which is logged once.
    @discardableResult
    open func enableInAppMessaging(inAppConsentStrategy: InAppConsentStrategy) -> KSConfigBuilder {
        if inAppConsentStrategy != .NotEnabled { KumulosLog.logUnavailable("in-app messages") }
        return self
    }

    /// Sets the handler for the links of in-app messages. It is never called.
    @discardableResult
    open func setInAppDeepLinkHandler(
        inAppDeepLinkHandlerBlock: @escaping InAppDeepLinkHandlerBlock
    ) -> KSConfigBuilder { self }

    /// Sets the handler that decides how a push message is shown in the foreground. It is never called: nothing is
    /// shown.
    @discardableResult
    open func setPushReceivedInForegroundHandler(
        pushReceivedInForegroundHandlerBlock: @escaping PushReceivedInForegroundHandlerBlock
    ) -> KSConfigBuilder { self }

    /// Enables deep links. None is ever opened here, which is logged once, and the handler is never called.
    @discardableResult
    open func enableDeepLinking(cname: String? = nil, _ handler: @escaping DeepLinkHandler) -> KSConfigBuilder {
        KumulosLog.logUnavailable("deep links")
        return self
    }

    /// Enables crash reports. None is sent, which is logged once.
    @discardableResult
    open func enableCrash() -> KSConfigBuilder {
        KumulosLog.logUnavailable("crash reports")
        return self
    }

    /// Sets the idle time after which a session ends. There are no sessions here.
    @discardableResult
    open func setSessionIdleTimeout(seconds: UInt) -> KSConfigBuilder { self }

    /// Sets a sink for events that replaces Kumulos. Kumulos' own SDK has no such method; put the call inside `#if
    /// os(Linux)` in code for both.
    @discardableResult
    open func setEventSink(_ sink: any KumulosEventSink) -> KSConfigBuilder {
        self.sink = sink
        return self
    }

    /// Sets the folder for waiting events, replacing the app's state directory. Kumulos' own SDK has no such method.
    @discardableResult
    open func setEventFolder(_ folder: URL) -> KSConfigBuilder {
        self.folder = folder
        return self
    }

    /// Returns the configuration.
    open func build() -> KSConfig {
        KSConfig(
            apiKey: apiKey, secretKey: secretKey, sink: sink, folder: folder, eventsAddress: eventsAddress,
            messagesAddress: messagesAddress, pushOpenedHandler: pushOpenedHandler.map { UnsafeTransfer($0) })
    }
}

/// The services of Kumulos, each with its own address. Only ``events`` and ``push`` are used here.
public enum Service: CaseIterable, Sendable {
    /// An app's custom data and code.
    case backend
    /// Crash reports.
    case crash
    /// Installations and their users.
    case crm
    /// Deep links.
    case ddl
    /// Events, including beacon events.
    case events
    /// In-app messages.
    case iar
    /// Images.
    case media
    /// Push messages.
    case push
}

/// The address of each of Kumulos' services.
public typealias ServiceUrlMap = [Service: String]
