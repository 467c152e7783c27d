import BeaconApplications
import BeaconDelivery
import BeaconMonitoring
import BeaconSupport
public import CoreLocation
@_exported public import Foundation
import Logging

// Kumulos' own module exports Foundation, and code for it relies on that.

/// The methods with which an app sends events to Kumulos. They have the names of Kumulos' SDK, so that code for it
/// compiles and runs unchanged.
///
/// Events are stored in a file in the app's state directory, unless ``KSConfigBuilder/setEventSink(_:)`` sets another
/// sink. From there they are delivered to Kumulos in order: at once, or when it is reachable again, even after the app
/// was ended. Events that cannot be stored are logged, since the SDK's methods return nothing.
open class Kumulos {
    private struct State {
        var sink: (any KumulosEventSink)?
        var apiKey = ""
        var secretKey = ""
        var messages: MessageTask?
    }

    private static let state = Locked(State())
    private static let logger = KumulosLog.logger

    /// The keys in the app's defaults under which Kumulos' SDK stores the installation's identifier and its user.
    private static let installIDKey = "KumulosUUID"
    private static let userKey = "KumulosCurrentUserID"

    /// The SDK's only instance.
    private static let instance = UnsafeTransfer(Kumulos())

    /// Returns the SDK's instance. All functions are class methods.
    public static func getInstance() -> Kumulos { instance.value }

    /// Initializes the SDK, and starts to deliver the events of earlier launches. Events that are sent before are lost,
    /// which is logged.
    public static func initialize(config: KSConfig) {
        // The previous sink must close the event store first.
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

    /// The app's API key; empty before ``initialize(config:)``.
    public static var apiKey: String { state.withLock { $0.apiKey } }

    /// The app's secret key; empty before ``initialize(config:)``.
    public static var secretKey: String { state.withLock { $0.secretKey } }

    /// Returns the sink that delivers to Kumulos from this process or another process of the app.
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

    /// The identifier of this installation: a random UUID, created once and kept in the app's defaults.
    public static var installId: String {
        state.withLock { _ in
            if let known = UserDefaults.standard.string(forKey: installIDKey) { return known }
            let new = UUID().uuidString
            keep(new, forKey: installIDKey)
            return new
        }
    }

    /// The user associated with this installation, or ``installId``.
    public static var currentUserIdentifier: String { user ?? installId }

    private static var user: String? { UserDefaults.standard.string(forKey: userKey) }

    /// Changes the app's defaults on the disk, too: Foundation writes them on Linux only when it is asked to.
    private static func keep(_ value: String?, forKey key: String) {
        UserDefaults.standard.set(value, forKey: key)
        UserDefaults.standard.synchronize()
    }

    /// Sets the user of later events, which replaces the installation, also in later launches, and sends the
    /// association. An empty identifier is rejected and logged.
    public static func associateUserWithInstall(userIdentifier: String) { associate(userIdentifier, [:]) }

    /// Sets the user of later events, which replaces the installation, also in later launches, and sends the
    /// association with the user's attributes.
    ///
    /// - Parameters:
    ///   - userIdentifier: the user's identifier. An empty one is rejected, which is logged.
    ///   - attributes: values that JSON can represent.
    public static func associateUserWithInstall(userIdentifier: String, attributes: [String: AnyObject]) {
        associate(userIdentifier, ["attributes": attributes])
    }

    private static func associate(_ user: String, _ properties: [String: Any]) {
        guard !user.isEmpty else { return logger.error("cannot associate a user: the identifier is empty") }
        keep(user, forKey: userKey)
        trackEvent(
            eventType: KumulosEvent.userAssociated, properties: properties.merging(["id": user]) { $1 })
    }

    /// Removes the user, which is sent as well. Later events carry the installation again.
    public static func clearUserAssociation() {
        // Kumulos' SDK sends it as an event of the old user, and also without one.
        trackEvent(
            eventType: KumulosEvent.userAssociationCleared, properties: ["oldUserIdentifier": user ?? NSNull()])
        keep(nil, forKey: userKey)
    }

    // MARK: - Events

    /// Sends a custom event of the app to Kumulos.
    ///
    /// - Parameters:
    ///   - eventType: the type of the event. An event with an empty type is dropped, which is logged.
    ///   - properties: values that JSON can represent. An event with any other value is dropped, which is logged.
    public static func trackEvent(eventType: String, properties: [String: Any]?) {
        guard !eventType.isEmpty else {
            logger.error("an event is lost: its type is empty")
            return
        }
        guard let properties else { return send(eventType, data: KumulosEvent.Properties(nil)) }
        do {
            // A value that JSON cannot represent would end the process.
            guard JSONSerialization.isValidJSONObject(properties) else { throw CocoaError(.propertyListWriteInvalid) }
            let data = try JSONSerialization.data(withJSONObject: properties)
            send(eventType, data: try JSONDecoder().decode(KumulosEvent.Properties.self, from: data))
        } catch {
            logger.error("the event \(eventType) is lost: its properties cannot be written as JSON")
        }
    }

    /// Sends a custom event of the app to Kumulos at once, like every event here.
    ///
    /// - Parameters:
    ///   - eventType: the type of the event. An event with an empty type is dropped, which is logged.
    ///   - properties: values that JSON can represent. An event with any other value is dropped, which is logged.
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
