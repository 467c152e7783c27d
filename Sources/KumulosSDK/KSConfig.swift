import BeaconMonitoring
public import Foundation

/// The configuration of the SDK. ``KSConfigBuilder`` makes it.
public struct KSConfig: Sendable {
    /// The key of the app at Kumulos.
    public let apiKey: String
    /// The secret that goes with it. It is never written to a log.
    public let secretKey: String

    let sink: (any KumulosEventSink)?

    /// The folder in which events wait; nil for the app's state directory.
    let folder: URL?

    /// The address to which events are sent; nil for Kumulos' own.
    let eventsAddress: String?

    /// The address from which messages are taken; nil for none.
    let messagesAddress: String?

    /// Takes messages; nil where the app wants none.
    ///
    /// It is only handed on to the main queue, where its owner expects it, as with Kumulos' own SDK.
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

    /// Sets the addresses of other servers than Kumulos' own, a test's for instance.
    ///
    /// - Parameter baseUrlMap: the addresses. Those of ``Service/events`` and ``Service/push`` count here; without the
    /// first, Kumulos' own stays, and without the second messages come from where events go to. A beacond is both.
    @discardableResult
    open func setBaseUrlMapping(baseUrlMap: ServiceUrlMap) -> KSConfigBuilder {
        eventsAddress = baseUrlMap[.events]
        messagesAddress = baseUrlMap[.push] ?? baseUrlMap[.events]
        return self
    }

    /// Sets what takes messages.
    ///
    /// Kumulos' own SDK calls it when somebody has opened a push message. Here, where nobody shows messages, it is
    /// called with each message once it comes, on the main queue, in order, at least once: one that was being handled
    /// when the app ended comes again. Messages come from a beacond, whose address ``setBaseUrlMapping(baseUrlMap:)``
    /// gives.
    @discardableResult
    open func setPushOpenedHandler(pushOpenedHandlerBlock: @escaping PushOpenedHandlerBlock) -> KSConfigBuilder {
        pushOpenedHandler = pushOpenedHandlerBlock
        return self
    }

    /// Asks for messages in the app. None ever comes here, which is logged once.
    @discardableResult
    open func enableInAppMessaging(inAppConsentStrategy: InAppConsentStrategy) -> KSConfigBuilder {
        if inAppConsentStrategy != .NotEnabled { KumulosLog.isMissing("messages in the app") }
        return self
    }

    /// Sets what takes the links of messages in the app. It is never called.
    @discardableResult
    open func setInAppDeepLinkHandler(
        inAppDeepLinkHandlerBlock: @escaping InAppDeepLinkHandlerBlock
    ) -> KSConfigBuilder { self }

    /// Sets what decides how a push message is shown while the app is in front. It is never called: nothing is shown.
    @discardableResult
    open func setPushReceivedInForegroundHandler(
        pushReceivedInForegroundHandlerBlock: @escaping PushReceivedInForegroundHandlerBlock
    ) -> KSConfigBuilder { self }

    /// Asks for deep links. None is ever opened here, which is logged once, and the handler is never called.
    @discardableResult
    open func enableDeepLinking(cname: String? = nil, _ handler: @escaping DeepLinkHandler) -> KSConfigBuilder {
        KumulosLog.isMissing("deep links")
        return self
    }

    /// Asks for reports of crashes. None is sent from here, which is logged once.
    @discardableResult
    open func enableCrash() -> KSConfigBuilder {
        KumulosLog.isMissing("reports of crashes")
        return self
    }

    /// Sets the time after which a session ends. There are no sessions here.
    @discardableResult
    open func setSessionIdleTimeout(seconds: UInt) -> KSConfigBuilder { self }

    /// Sets a sink for events in place of Kumulos. Kumulos' own SDK has no such call; put it behind `#if os(Linux)` in
    /// code for both.
    @discardableResult
    open func setEventSink(_ sink: any KumulosEventSink) -> KSConfigBuilder {
        self.sink = sink
        return self
    }

    /// Sets the folder in which events wait in place of the app's state directory. Kumulos' own SDK has no such call.
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

/// The services of Kumulos, each at an address of its own. Only ``events`` is used here.
public enum Service: CaseIterable, Sendable {
    /// Data and code of an app's own.
    case backend
    /// Reports of crashes.
    case crash
    /// Installations and their users.
    case crm
    /// Deep links.
    case ddl
    /// Events, those about beacons among them.
    case events
    /// Messages in apps.
    case iar
    /// Pictures.
    case media
    /// Push messages.
    case push
}

/// The address of each of Kumulos' services.
public typealias ServiceUrlMap = [Service: String]
