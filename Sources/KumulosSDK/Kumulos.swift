import BeaconRadio
import BeaconService
public import CoreLocation
import Logging

/// Kumulos' names for what an app tells its backend about beacons, so that code for Kumulos' SDK compiles and runs
/// unchanged.
///
/// Only the part about iBeacons is here. Events are kept in an outbox in the app's state directory and delivered to Kumulos
/// from there, at once or when it can be reached again, in order, also after the app was ended; unless
/// ``KSConfigBuilder/setEventSink(_:)`` names another place.
open class Kumulos {
    private struct State {
        var sink: (any KumulosEventSink)?
        var user: String?
    }

    private static let state = Locked(State())
    private static let logger = Logger(label: "swift-beacon.kumulos")

    /// What Kumulos' SDK calls the place of the installation's name in the app's defaults.
    static let installIDKey = "KumulosUUID"

    /// Sets the SDK up, and begins to deliver what earlier launches have left. Events before it are lost, which is logged.
    public static func initialize(config: KSConfig) {
        // The one before has to let go of the outbox first.
        state.withLock { $0.sink = nil }
        let sink = config.sink ?? outbox(config)
        state.withLock { $0.sink = sink }
    }

    /// The way to Kumulos; where the outbox cannot be had, a file that keeps events until it can.
    private static func outbox(_ config: KSConfig) -> any KumulosEventSink {
        let folder = config.folder ?? stateFolder
        let lines = folder.appendingPathComponent("kumulos.ndjson")
        do {
            let sink = try OutboxSink(
                config, installID: installId, file: folder.appendingPathComponent("kumulos.db"), logger: logger)
            sink.take(JSONLinesSink(file: lines))
            return sink
        } catch {
            logger.error(
                "events cannot be delivered now; they are kept, and delivered by a later launch",
                metadata: ["error": "\(error)", "file": "\(lines.path)"])
            return JSONLinesSink(file: lines)
        }
    }

    private static var stateFolder: URL {
        StateDirectory.user.url
            .appendingPathComponent("applications", isDirectory: true)
            .appendingPathComponent(ApplicationIdentity.current.name, isDirectory: true)
    }

    /// This installation's name: a random UUID, made once and kept in the app's defaults.
    public static var installId: String {
        state.withLock { _ in
            if let known = UserDefaults.standard.string(forKey: installIDKey) { return known }
            let new = UUID().uuidString
            UserDefaults.standard.set(new, forKey: installIDKey)
            return new
        }
    }

    /// Has later events carry a user's name in place of the installation's.
    public static func associateUserWithInstall(userIdentifier: String) {
        state.withLock { $0.user = userIdentifier }
    }

    /// Has later events carry the installation's name again.
    public static func clearUserAssociation() { state.withLock { $0.user = nil } }

    /// Tells Kumulos how near a beacon is.
    ///
    /// What cannot be kept is logged, since the SDK's form of the call has no way to tell.
    public static func sendiBeaconProximity(beacon: CLBeacon) {
        let (sink, user) = state.withLock { ($0.sink, $0.user) }
        guard let sink else {
            logger.error("an event is lost: call Kumulos.initialize(config:) before sending any")
            return
        }
        let event = KumulosEvent(
            type: KumulosEvent.beaconEnteredProximity,
            uuid: UUID().uuidString.lowercased(),
            timestamp: Int64((Date().timeIntervalSince1970 * 1000).rounded()),
            data: KumulosEvent.BeaconProximity(
                uuid: beacon.uuid.uuidString, major: beacon.major.stringValue, minor: beacon.minor.stringValue,
                proximity: beacon.proximity.rawValue),
            userId: user ?? installId)
        do {
            try sink.record(event)
        } catch {
            logger.error("an event is lost: \(error)")
        }
    }
}
