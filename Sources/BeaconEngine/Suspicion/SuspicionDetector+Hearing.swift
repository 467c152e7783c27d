import BeaconModel

extension SuspicionDetector {
    /// An advert that bounds how far away a beacon was.
    struct Hearing {
        var time: Int64 = 0
        /// The loss since one meter in decibels.
        var loss: Float = 0
    }

    /// Three adverts of a beacon that one receiver heard within ``window``. They bound the beacon to a circle around
    /// it.
    struct Triple {
        var hearings = InlineArray<3, Hearing>(repeating: Hearing())
        var newest: Int64 = 0

        /// The loss in decibels that none of the three exceeds.
        var loss: Float { max(hearings[0].loss, max(hearings[1].loss, hearings[2].loss)) }
    }

    /// A receiver's adverts of a beacon.
    struct Fix {
        var receiver: UInt16
        var address: DeviceAddress
        /// The adverts of the last seconds with the least loss.
        var recent = Triple()
        var count = 0
        /// The three adverts that bound the beacon's position most; nil until there were three.
        var best: Triple?

        /// Adds an advert.
        ///
        /// - Returns: true if the newest three are complete.
        mutating func hear(_ loss: Float, at time: Int64) -> Bool {
            recent.newest = max(recent.newest, time)
            var kept = 0
            for index in 0..<count where recent.newest - recent.hearings[index].time <= SuspicionDetector.window {
                recent.hearings[kept] = recent.hearings[index]
                kept += 1
            }
            count = kept
            if count < 3 {
                recent.hearings[count] = Hearing(time: time, loss: loss)
                count += 1
            } else {
                var weakest = 0
                for index in 1..<3 where recent.hearings[index].loss > recent.hearings[weakest].loss { weakest = index }
                // Among equals, the newer one counts, because it is more recent evidence.
                if loss <= recent.hearings[weakest].loss {
                    recent.hearings[weakest] = Hearing(time: time, loss: loss)
                }
            }
            return count == 3
        }

        /// The least loss, for a receiver that has not heard three adverts.
        var leastLoss: Float {
            var least = recent.hearings[0].loss
            for index in 1..<max(count, 1) { least = min(least, recent.hearings[index].loss) }
            return least
        }
    }

    /// The distances at which signals in free space have lost a number of decibels since one meter.
    enum Radii {
        /// For whole decibels from 0 on, in meters: ten to the power of a twentieth of the decibels.
        private static let table: [Float] = {
            var radius = 1.0
            return (0...200).map { _ in
                defer { radius *= 1.122_018_454_301_963_3 }
                return Float(radius)
            }
        }()

        /// Returns the maximum distance. Everything within a meter counts as the receiver's own position.
        static func radius(_ loss: Float) -> Float {
            guard loss > 0 else { return 1 }
            let index = Int(loss.rounded(.up))
            return index < table.count ? table[index] : .infinity
        }
    }
}
