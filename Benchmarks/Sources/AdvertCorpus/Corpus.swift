public import BeaconModel
public import CReference

/// Adverts in the order in which a receiver hears them, with all their bytes in one buffer.
///
/// A corpus consists of rounds. In each round, every beacon advertises once, in a different order, mixed with the
/// requested number of foreign adverts. A seed determines everything: the corpus is the same in each run, and its order
/// is far too long for a branch predictor to learn.
public struct Corpus {
    /// The proximity UUID of all beacons of a corpus.
    public static let uuid = ProximityUUID(high: 0xF781_3A25_4C9D_4E0B, low: 0x9A3C_52D8_E16B_07F4)

    /// The number of beacons per major value, so that 10 000 beacons make 100 groups.
    public static let beaconsPerMajor = 100

    /// The advertising interval: 100 ms, as Apple requires.
    public static let roundNanoseconds: Int64 = 100_000_000

    /// The bytes of all adverts.
    public let bytes: [UInt8]

    /// The adverts in order.
    public let adverts: [reference_advert]

    /// The number of beacons.
    public let beaconCount: Int

    /// The number of iBeacon adverts.
    public let iBeaconCount: Int

    /// The time from one advert to the next in nanoseconds, so that each beacon has its interval.
    public let step: Int64

    /// Returns the identity of a beacon by its number.
    public static func identity(_ number: Int) -> BeaconIdentity {
        BeaconIdentity(
            uuid: uuid, major: UInt16(number / beaconsPerMajor), minor: UInt16(number % beaconsPerMajor))
    }

    /// Creates a corpus.
    ///
    /// - Parameters:
    ///   - beacons: the number of beacons.
    ///   - foreignShare: the number of foreign adverts for each iBeacon advert.
    ///   - atLeast: the minimum number of adverts; rounds are always complete.
    ///   - seed: the seed of all randomness.
    public init(beacons: Int, foreignShare: Int = 1, atLeast minimum: Int, seed: UInt64 = 1) {
        var chance = Chance(seed: seed)
        let perRound = beacons * (1 + foreignShare)
        let rounds = max(1, (minimum + perRound - 1) / perRound)
        var bytes: [UInt8] = []
        var adverts: [reference_advert] = []
        bytes.reserveCapacity(rounds * perRound * 31)
        adverts.reserveCapacity(rounds * perRound)
        // Each beacon has a different position, and therefore a different level.
        let levels = (0..<beacons).map { _ in Int8.random(in: -95 ... -45, using: &chance) }
        var order = (0..<perRound).map { $0 < beacons ? $0 : -1 }
        for _ in 0..<rounds {
            order.shuffle(using: &chance)
            for number in order {
                let advert =
                    number < 0 ? Self.foreignAdvert(&chance) : Self.advert(number)
                let level = number < 0 ? -80 : levels[number]
                adverts.append(
                    reference_advert(
                        offset: UInt32(bytes.count),
                        count: UInt8(advert.count),
                        rssi: level + Int8.random(in: -6...6, using: &chance),
                        receiver: 0,
                        address: number < 0 ? chance.next() >> 16 : Self.address(number)))
                bytes += advert
            }
        }
        self.bytes = bytes
        self.adverts = adverts
        beaconCount = beacons
        iBeaconCount = rounds * beacons
        step = Self.roundNanoseconds / Int64(perRound)
    }

    /// Returns a random static address for each beacon.
    private static func address(_ number: Int) -> UInt64 {
        var chance = Chance(seed: UInt64(number) &+ 0xADD)
        return chance.next() >> 16 | 0xC000_0000_0000
    }

    /// Returns a beacon's advert. Most follow Apple's layout; makers differ in flags and in additional data.
    private static func advert(_ number: Int) -> [UInt8] {
        let frame = IBeaconFrame(identity: identity(number), measuredPower: Int8(-59 - number % 4))
        var advert = frame.advert
        switch number % 8 {
        case 5: advert[2] = 0x1A
        case 6: advert.removeFirst(3)
        case 7:
            // Without flags there is space for the transmit power after the frame.
            advert.removeFirst(3)
            advert += [0x02, 0x0A, 0x04]
        default: break
        }
        return advert
    }

    private static func foreignAdvert(_ chance: inout Chance) -> [UInt8] {
        // The list is never empty, and `??` avoids a forced unwrap.
        (ForeignAdvert.allCases.randomElement(using: &chance) ?? .named).bytes(&chance)
    }
}
