import BeaconDelivery
import BeaconModel
import Foundation

/// An event in the form that Kumulos' servers accept.
///
/// The format is that of Kumulos' SDK for Swift, version 10.0.0.
public struct KumulosEvent: Hashable, Sendable, Codable {
    /// The type of an event about a beacon's proximity.
    public static let beaconEnteredProximity = "k.engage.beaconEnteredProximity"

    /// The type of an event about the device's position.
    public static let locationUpdated = "k.engage.locationUpdated"

    /// The type of an event about the user of an installation.
    public static let userAssociated = "k.stats.userAssociated"

    /// The type of an event about an installation that has no user anymore.
    public static let userAssociationCleared = "k.stats.userAssociationCleared"

    /// The type of the event.
    public var type: String
    /// The event's identifier, a UUID in lower case, with which a receiver recognizes duplicates.
    public var uuid: String
    /// The time of the event, in milliseconds since 1970.
    public var timestamp: Int64
    /// The properties of the event.
    public var data: Properties
    /// The user that the app associated with this installation, or the installation's identifier.
    public var userId: String

    /// The properties of an event: a JSON object, or nothing.
    public struct Properties: Hashable, Sendable, Codable {
        /// The properties by name; nil if the event has none.
        let values: [String: JSONValue]?

        init(_ values: [String: JSONValue]?) { self.values = values }

        /// Decodes properties.
        public init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            values = value.decodeNil() ? nil : try value.decode([String: JSONValue].self)
        }

        /// Encodes the properties.
        public func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            if let values { try value.encode(values) } else { try value.encodeNil() }
        }

        /// The JSON object as bytes; nil if the event has no properties.
        public var json: Data? {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return values.flatMap { try? encoder.encode($0) }
        }

        /// The type of the beacon, 1 for iBeacon; nil if the event is not about a beacon.
        public var type: Int? { integer("type") }
        /// A beacon's proximity UUID, in upper case.
        public var uuid: String? { string("uuid") }
        /// A beacon's major value, as text.
        public var major: String? { string("major") }
        /// A beacon's minor value, as text.
        public var minor: String? { string("minor") }
        /// A beacon's proximity as Core Location's number: 0 unknown, 1 immediate, 2 near, 3 far.
        public var proximity: Int? { integer("proximity") }

        private func integer(_ name: String) -> Int? {
            if case .integer(let value) = values?[name] { Int(exactly: value) } else { nil }
        }

        private func string(_ name: String) -> String? {
            if case .string(let value) = values?[name] { value } else { nil }
        }
    }
}

extension BeaconNotification {
    /// Creates the event in the event store's form, with the same identifier.
    ///
    /// - Returns: nil if the event's identifier is not a UUID. Events of the SDK always have one.
    init?(_ event: KumulosEvent) {
        guard let id = EventID(event.uuid) else { return nil }
        let time = Timestamp(nanoseconds: event.timestamp.multipliedReportingOverflow(by: 1_000_000).partialValue)
        if let (beacon, proximity) = event.beacon {
            self.init(id: id, kind: .proximity, time: time)
            self.beacon = beacon
            self.proximity = proximity
        } else {
            self.init(id: id, kind: .application, time: time)
            name = event.type
            properties = event.data.values
        }
        user = event.userId
    }
}

extension KumulosEvent {
    /// The event's beacon and its proximity.
    fileprivate var beacon: (BeaconIdentity, Proximity)? {
        guard type == Self.beaconEnteredProximity, let uuid = data.uuid.flatMap({ ProximityUUID($0) }),
            let major = data.major.flatMap({ UInt16($0) }), let minor = data.minor.flatMap({ UInt16($0) }),
            let proximity = data.proximity.flatMap({ UInt8(exactly: $0) }).flatMap({ Proximity(rawValue: $0) })
        else { return nil }
        return (BeaconIdentity(uuid: uuid, major: major, minor: minor), proximity)
    }
}

/// A sink that stores or sends events.
public protocol KumulosEventSink: Sendable {
    /// Records an event. When it returns, the event is durable and survives the end of the process.
    ///
    /// - Throws: an error if the event could not be stored.
    func record(_ event: KumulosEvent) throws
}
