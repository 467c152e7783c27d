import BeaconModel

extension SuspicionDetector {
    /// What is known of an identity.
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
        /// When each reason was reported last.
        var reported: [SuspicionReason: Int64] = [:]
    }

    /// An address that an identity was heard from.
    struct KnownAddress {
        var address: DeviceAddress
        var receiver: UInt16
        var newest: Int64
        var hasReturned = false

        /// True for one that changes, and that those who know its key give in another form (Core Specification, Vol 6,
        /// Part B, 1.3.2.2).
        var isResolvable: Bool { address.kind != .public && address.bits >> 46 == 0b01 }
    }

    /// Two receivers whose adverts contradict each other.
    struct Conflict {
        var newest: Int64
        var turns: Turns
        /// When it was heard last where it came to.
        var arrived: Int64
        /// True once it was back where it came from.
        var hasReturned = false
        var first: Suspicion.Side
        var second: Suspicion.Side
        var gap: Gap
        var isDecided = false
    }

    /// What lies between two triples that contradict each other.
    struct Gap {
        /// The metres that no speed explains.
        var excess: Float
        /// The metres that have to be covered at least, and the seconds that there are.
        var metres: Float
        var seconds: Float
        /// The metres between the receivers.
        var distance: Float
    }

    /// Changes from one of two to the other and back.
    struct Turns {
        let began: Int64
        var count = 0
        private var last: Int64

        init(at time: Int64) {
            began = time
            last = time
        }

        /// Takes in a turn, after others or of another occasion.
        func noting(at time: Int64, within span: Int64) -> Turns {
            guard time - last <= span else { return Turns(at: time) }
            var turns = self
            guard time - last >= SuspicionDetector.turnTime else { return turns }
            turns.count += 1
            turns.last = time
            return turns
        }

        /// True once there were so many, over so long.
        func reach(_ least: Int, at time: Int64, over span: Int64) -> Bool { count >= least && time - began >= span }
    }
}
