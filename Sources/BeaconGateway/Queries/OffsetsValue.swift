import BeaconEngine
import BeaconModel
package import BeaconSupport

/// The receivers, and the learned offsets.
package struct ReceiversValue: Encodable, Sendable {
    package var receivers: [ReceiverValue]
    @Nullable package var offsets: OffsetsValue?
}

/// The learned offsets of beacons, and of receivers that move, with their grounds.
package struct OffsetsValue: Encodable, Sendable {
    /// Devices that are compared with each other.
    package struct Side: Encodable, Sendable {
        /// The UUID and the claimed power in dBm of the beacons; nil for the receivers.
        @Nullable var uuid: String?
        @Nullable var power: Int?
        /// `receivers` or `beacons`.
        package var kind: String
        package var devices: Int
        package var reliability: Double
        package var used: Bool
        /// Why its offsets are not used; nil if they are.
        @Nullable package var reason: String?
    }

    package struct Beacon: Encodable, Sendable {
        var uuid: String
        var major: Int
        var minor: Int
        @Nullable var name: String?
        package var offset: Double
    }

    /// The time of the newest fit; nil before the first.
    @Nullable package var time: Double?
    package var pairs: Int
    @Nullable package var noise: Double?
    package var sides: [Side]
    package var beacons: [Beacon]

    /// Creates the value of a learner, with the beacons' names.
    init(_ learner: OffsetLearner, _ names: [BeaconIdentity: String]) {
        let report = learner.report
        time = report?.time
        pairs = report?.pairs ?? 0
        noise = report?.noise.map { Self.rounded($0) }
        sides = (report?.sides ?? []).filter { $0.kind?.isCalibrated != true }.map {
            let reason = Self.reason($0, isMoving: !learner.moving.isEmpty)
            return Side(
                uuid: $0.kind?.uuid.description, power: $0.kind?.power.map(Int.init),
                kind: $0.kind == nil ? "receivers" : "beacons", devices: $0.devices,
                reliability: ($0.reliability * 1000).rounded() / 1000, used: reason == nil, reason: reason)
        }
        beacons = learner.beacons.sorted { $0.key < $1.key }.map {
            Beacon(
                uuid: $0.key.uuid.description, major: Int($0.key.major), minor: Int($0.key.minor), name: names[$0.key],
                offset: Self.rounded($0.value))
        }
    }

    static func rounded(_ decibels: Double) -> Double { (decibels * 100).rounded() / 100 }

    /// Returns why the offsets of a side are not used; nil if they are.
    private static func reason(_ side: OffsetLearner.Side, isMoving: Bool) -> String? {
        if side.kind == nil, !isMoving {
            return
                "no receiver moves: the levels of one that stands cannot tell a weak antenna from a far corner; measure it with 'beacon calibrate --offset'"
        }
        guard let needed = side.needed else { return "\(side.devices) devices are too few to compare; 3 are needed" }
        guard !side.isUsed else { return nil }
        return "the pairs agree too little: \(side.devices) devices need a reliability of \(needed)"
            + (side.kind == nil ? "" : "; beacons that lie still cannot be compared")
    }
}
