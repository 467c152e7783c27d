import BeaconDelivery
public import BeaconMQTT
import BeaconModel
import Foundation
import TestSupport
import Testing

extension QueuedNotification {
    /// An event of the region `shop`.
    static func enter(_ number: Int, region: String = "shop") throws -> QueuedNotification {
        let uuid = try #require(ProximityUUID("e2c56db5-dffb-48d2-b060-d0f5a71096e0"))
        let time = Timestamp(nanoseconds: 1_700_000_000_000_000_000 + Int64(number) * 1_000_000)
        let id = try #require(EventID("018bcfe5-6800-7000-8000-\(String(format: "%012d", number))"))
        var notification = BeaconNotification(id: id, kind: .enter, time: time)
        notification.region = BeaconNotification.Region(name: region, constraint: BeaconConstraint(uuid: uuid))
        return QueuedNotification(sequence: Int64(number), notification: notification)
    }
}

/// The beacons of the tests.
enum TestBeacon {
    static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    static let keys = BeaconIdentity(uuid: uuid, major: 1, minor: 2)
    static let bag = BeaconIdentity(uuid: uuid, major: 1, minor: 3)

    /// Returns the beacons of a region, different for each name.
    static func constraint(of region: String) -> BeaconConstraint {
        // FNV-1a, folded.
        let hash = region.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return BeaconConstraint(uuid: uuid, major: UInt16(truncatingIfNeeded: hash ^ hash >> 16))
    }
}

extension NamedRegion: ExpressibleByStringLiteral {
    /// Creates a region with this name and unique beacons.
    public init(stringLiteral name: String) { self.init(name: name, constraint: TestBeacon.constraint(of: name)) }

    /// The id of its device in Home Assistant, for the gateway `gateway`.
    var device: String { "gateway_region_e2c56db5dffb48d2b060d0f5a71096e0-\(constraint.major ?? 0)" }
}

extension NamedPlace: ExpressibleByStringLiteral {
    /// Creates a place with this name and a receiver of the same name in lower case.
    public init(stringLiteral name: String) { self.init(name: name, receivers: [name.lowercased()]) }
}

extension Timestamp {
    /// Returns the time at a number of seconds after the start.
    static func at(_ seconds: Double) -> Timestamp { Timestamp(nanoseconds: Int64(seconds * 1_000_000_000)) }
}

extension BeaconEvent {
    /// The state of a region with a name.
    static func region(
        _ name: String, _ state: RegionState, _ kind: RegionEvent.Kind = .state, by identity: BeaconIdentity? = nil,
        at seconds: Double = 0
    ) -> BeaconEvent {
        .region(
            RegionEvent(
                kind, name: name, constraint: TestBeacon.constraint(of: name), time: .at(seconds), receiver: nil,
                state: state, before: .unknown, identity: identity))
    }

    /// The state of a beacon's own region.
    static func presence(
        _ state: RegionState, _ kind: RegionEvent.Kind = .state, of identity: BeaconIdentity = TestBeacon.keys,
        at seconds: Double = 0
    ) -> BeaconEvent {
        var event = RegionEvent(
            kind, name: "any", constraint: BeaconConstraint(identity), time: .at(seconds), receiver: nil,
            state: state, before: .unknown)
        event.isPresence = true
        return .region(event)
    }

    /// A report of one beacon, or of none.
    static func ranged(
        _ accuracy: Double?, rssi: Int = -60, proximity: Proximity = .near, identity: BeaconIdentity = TestBeacon.keys,
        receiver: String = "hci0", of constraint: BeaconConstraint? = nil, range: ClosedRange<Double>? = nil,
        at seconds: Double
    ) -> BeaconEvent {
        let beacons = accuracy.map { accuracy in
            var beacon = RangedBeacon(
                address: DeviceAddress(bits: 0xC0FF_EE00_0001, kind: .unspecified), identity: identity,
                proximity: proximity, accuracy: accuracy, rssi: rssi, lastHeard: .at(seconds))
            beacon.accuracyRange = range
            return [beacon]
        }
        return .ranged(
            RangingEvent(time: .at(seconds), receiver: receiver, constraint: constraint, beacons: beacons ?? []))
    }
}

extension JSONEncoder {
    /// An encoder that writes announcements as the store does.
    static var ofDiscovery: JSONEncoder {
        let encoder = sorted
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return encoder
    }

    /// An encoder whose output can be compared.
    static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
