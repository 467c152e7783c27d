import BeaconModel

extension SuspicionDetector {
    /// An advert that shows how near a beacon was.
    struct Hearing {
        var time: Int64 = 0
        /// The decibels that were lost since one metre.
        var loss: Float = 0
    }

    /// Three adverts of a beacon that one receiver heard within ``window``, by which it was in a circle around it.
    struct Triple {
        var hearings = InlineArray<3, Hearing>(repeating: Hearing())
        var newest: Int64 = 0

        /// The decibels that none of the three exceeds.
        var loss: Float { max(hearings[0].loss, max(hearings[1].loss, hearings[2].loss)) }
    }

    /// What a receiver heard of a beacon.
    struct Fix {
        var receiver: UInt16
        var address: DeviceAddress
        /// The adverts of the last seconds that lost least.
        var recent = Triple()
        var count = 0
        /// The three that say most of where the beacon can be; nil until there were three.
        var best: Triple?

        /// Takes in an advert.
        ///
        /// - Returns: true where the newest three are complete.
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
                // Of equals the newer one, which says more of now.
                if loss <= recent.hearings[weakest].loss {
                    recent.hearings[weakest] = Hearing(time: time, loss: loss)
                }
            }
            return count == 3
        }

        /// The least that was lost, for a receiver that has not heard three.
        var leastLoss: Float {
            var least = recent.hearings[0].loss
            for index in 1..<max(count, 1) { least = min(least, recent.hearings[index].loss) }
            return least
        }
    }

    /// The distances at which signals in free space have lost so many decibels since one metre.
    enum Radii {
        /// For whole decibels from 0 on, in metres: ten to the power of a twentieth of them.
        private static let table: [Float] = {
            var radius = 1.0
            return (0...200).map { _ in
                defer { radius *= 1.122_018_454_301_963_3 }
                return Float(radius)
            }
        }()

        /// Returns the greatest distance; a receiver's surroundings count as its own place.
        static func radius(_ loss: Float) -> Float {
            guard loss > 0 else { return 1 }
            let index = Int(loss.rounded(.up))
            return index < table.count ? table[index] : .infinity
        }
    }
}
