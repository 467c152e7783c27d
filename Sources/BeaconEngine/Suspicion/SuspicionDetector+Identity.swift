import BeaconModel

extension SuspicionDetector {
    /// The state of an identity.
    struct Record {
        let identity: BeaconIdentity
        var isNamed: Bool
        var newest: Int64
        var power = MeasuredPower()
        var fixes: [Fix] = []
        var conflict: Conflict?
        var addresses: [KnownAddress] = []
        var lastAddress = 0
        var turns: Turns?
        /// The time at which each reason was last reported.
        var reported: [SuspicionReason: Int64] = [:]
    }

    /// An address of an identity.
    struct KnownAddress {
        var address: DeviceAddress
        var receiver: UInt16
        var newest: Int64
        var hasReturned = false

        /// True for an address that changes, and that receivers with its key report in another form (Core
        /// Specification, Vol 6, Part B, 1.3.2.2).
        var isResolvable: Bool { address.kind != .public && address.bits >> 46 == 0b01 }
    }

    /// Two receivers whose adverts contradict each other.
    struct Conflict {
        var newest: Int64
        var turns: Turns
        /// The time at which it was last heard at the place that it moved to.
        var arrived: Int64
        /// True once it was back at the place that it came from.
        var hasReturned = false
        var first: Suspicion.Side
        var second: Suspicion.Side
        var gap: Gap
        var isDecided = false
    }

    /// The contradiction between two triples.
    struct Gap {
        /// The distance in meters that no permitted speed explains.
        var excess: Float
        /// The minimum distance to cover in meters, and the time for it in seconds.
        var meters: Float
        var seconds: Float
        /// The distance between the receivers in meters.
        var distance: Float
    }

    /// Alternations between two devices.
    struct Turns {
        let began: Int64
        var count = 0
        private var last: Int64

        init(at time: Int64) {
            began = time
            last = time
        }

        /// Returns the alternations with one more, or new ones if the last is too old.
        func noting(at time: Int64, within span: Int64) -> Turns {
            guard time - last <= span else { return Turns(at: time) }
            var turns = self
            guard time - last >= SuspicionDetector.turnTime else { return turns }
            turns.count += 1
            turns.last = time
            return turns
        }

        /// Returns true once there are enough alternations over a long enough time.
        func reach(_ least: Int, at time: Int64, over span: Int64) -> Bool { count >= least && time - began >= span }
    }
}
