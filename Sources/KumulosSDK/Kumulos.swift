import BeaconApplications
import BeaconDelivery
import BeaconMonitoring
import BeaconSupport
public import CoreLocation
@_exported public import Foundation
import Logging

// Kumulos' own module brings Foundation along, and code that was written for it relies on that.

/// The calls by which an app sends events to Kumulos, under the names of Kumulos' SDK, so that code for it compiles and
/// runs unchanged.
///
/// Events are kept in a file in the app's state directory and delivered to Kumulos from there, at once or when it
/// can be reached again, in order, also after the app was ended; unless ``KSConfigBuilder/setEventSink(_:)`` names
/// another place. What cannot be kept is logged, since the SDK's calls return nothing.
open class Kumulos {
    private struct State {
        var sink: (any KumulosEventSink)?
        var user: String?
        var apiKey = ""
        var secretKey = ""
        var messages: MessageTask?
    }

    private static let state = Locked(State())
    private static let logger = KumulosLog.logger

    /// The key under which Kumulos' SDK keeps the installation's name in the app's defaults.
    static let installIDKey = "KumulosUUID"

    /// The SDK, of which there is one.
    private static let instance = UnsafeTransfer(Kumulos())

    /// Returns the SDK. All that it does is in the methods of its class.
    public static func getInstance() -> Kumulos { instance.value }

    /// Sets the SDK up, and begins to deliver the events of earlier launches. Events before it are lost, which is
    /// logged.
    public static func initialize(config: KSConfig) {
        // The one before has to close the event store first.
        state.withLock { state in
            state.sink = nil
            state.messages = nil
        }
        let sink = config.sink ?? delivery(config)
        let messages = MessageTask(config, installID: installId, logger: logger)
        state.withLock { state in
            state.sink = sink
            state.messages = messages
            state.apiKey = config.apiKey
            state.secretKey = config.secretKey
        }
    }

    /// The key of the app at Kumulos; empty before ``initialize(config:)``.
    public static var apiKey: String { state.withLock { $0.apiKey } }

    /// The secret that goes with ``apiKey``; empty before ``initialize(config:)``.
    public static var secretKey: String { state.withLock { $0.secretKey } }

    /// Returns the delivery to Kumulos, which another process of the app may have.
    private static func delivery(_ config: KSConfig) -> any KumulosEventSink {
        let file = (config.folder ?? stateFolder).appendingPathComponent("kumulos.db")
        let (id, logger) = (installId, logger)
        return SharedDeliverySink(file: file) {
            try DeliverySink(config, installID: id, file: file, logger: logger)
        }
    }

    private static var stateFolder: URL {
        StateDirectory.user.url
            .appendingPathComponent("applications", isDirectory: true)
            .appendingPathComponent(ApplicationIdentity.current.name, isDirectory: true)
    }

    // MARK: - Installation and user

    /// The name of this installation: a random UUID, made once and kept in the app's defaults.
    public static var installId: String {
        state.withLock { _ in
            if let known = UserDefaults.standard.string(forKey: installIDKey) { return known }
            let new = UUID().uuidString
            UserDefaults.standard.set(new, forKey: installIDKey)
            return new
        }
    }

    /// The user that is associated with this installation, else ``installId``.
    public static var currentUserIdentifier: String { state.withLock { $0.user } ?? installId }

    /// Sets a user's name, which later events carry in place of the installation's. An empty one is refused and logged.
    public static func associateUserWithInstall(userIdentifier: String) { _ = associate(userIdentifier) }

    /// Sets a user's name, which later events carry in place of the installation's, and sends the user's attributes.
    ///
    /// - Parameters:
    ///   - userIdentifier: the user's name. An empty one is refused, which is logged.
    ///   - attributes: what JSON can hold.
    public static func associateUserWithInstall(userIdentifier: String, attributes: [String: AnyObject]) {
        guard associate(userIdentifier) else { return }
        let properties: [String: Any] = ["id": userIdentifier, "attributes": attributes]
        trackEvent(eventType: KumulosEvent.userAssociated, properties: properties)
    }

    private static func associate(_ user: String) -> Bool {
        guard !user.isEmpty else {
            logger.error("no user is associated: the identifier is empty")
            return false
        }
        state.withLock { $0.user = user }
        return true
    }

    /// Removes the user's name, so that later events carry the installation's again.
    public static func clearUserAssociation() { state.withLock { $0.user = nil } }

    // MARK: - Events

    /// Sends an event of the app's own to Kumulos.
    ///
    /// - Parameters:
    ///   - eventType: the kind of event. An event without one is dropped, which is logged.
    ///   - properties: what JSON can hold. An event with anything else is dropped, which is logged.
    public static func trackEvent(eventType: String, properties: [String: Any]?) {
        guard !eventType.isEmpty else {
            logger.error("an event is lost: its type is empty")
            return
        }
        guard let properties else { return send(eventType, data: KumulosEvent.Properties(nil)) }
        do {
            // Anything else than JSON would end the process.
            guard JSONSerialization.isValidJSONObject(properties) else { throw CocoaError(.propertyListWriteInvalid) }
            let data = try JSONSerialization.data(withJSONObject: properties)
            send(eventType, data: try JSONDecoder().decode(KumulosEvent.Properties.self, from: data))
        } catch {
            logger.error("the event \(eventType) is lost: its properties cannot be written as JSON")
        }
    }

    /// Sends an event of the app's own to Kumulos at once, as every event is here.
    ///
    /// - Parameters:
    ///   - eventType: the kind of event. An event without one is dropped, which is logged.
    ///   - properties: what JSON can hold. An event with anything else is dropped, which is logged.
    public static func trackEventImmediately(eventType: String, properties: [String: Any]?) {
        trackEvent(eventType: eventType, properties: properties)
    }

    /// Sends the device's position to Kumulos.
    public static func sendLocationUpdate(location: CLLocation) {
        let place = location.coordinate
        send(
            KumulosEvent.locationUpdated,
            data: KumulosEvent.Properties(["lat": .number(place.latitude), "lng": .number(place.longitude)]))
    }

    /// Sends a beacon's proximity to Kumulos.
    public static func sendiBeaconProximity(beacon: CLBeacon) {
        send(
            KumulosEvent.beaconEnteredProximity,
            data: KumulosEvent.Properties([
                "type": .integer(1),
                "uuid": .string(beacon.uuid.uuidString),
                "major": .string(beacon.major.stringValue),
                "minor": .string(beacon.minor.stringValue),
                "proximity": .integer(Int64(beacon.proximity.rawValue)),
            ]))
    }

    private static func send(_ type: String, data: KumulosEvent.Properties) {
        guard let sink = state.withLock({ $0.sink }) else {
            logger.error("an event is lost: call Kumulos.initialize(config:) before sending any")
            return
        }
        let event = KumulosEvent(
            type: type, uuid: UUID().uuidString.lowercased(),
            timestamp: Int64((Date().timeIntervalSince1970 * 1000).rounded()), data: data,
            userId: currentUserIdentifier)
        do {
            try sink.record(event)
        } catch {
            logger.error("an event is lost: \(error)")
        }
    }
}
