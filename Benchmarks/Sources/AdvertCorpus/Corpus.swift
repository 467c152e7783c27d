public import BeaconModel
public import CReference

/// Adverts in the order in which a receiver hears them, with all their bytes in one piece of memory.
///
/// It is a number of rounds, in each of which every beacon advertises once, in an order of its own; between them come
/// as many foreign adverts as are wanted. Everything is drawn from a seed: the same corpus in each run, and far too
/// long an order for a branch predictor to learn.
public struct Corpus {
    /// The one deployment that all beacons of a corpus belong to.
    public static let uuid = ProximityUUID(high: 0xF781_3A25_4C9D_4E0B, low: 0x9A3C_52D8_E16B_07F4)

    /// Beacons a major value, so that 10 000 beacons make 100 groups.
    public static let beaconsPerMajor = 100

    /// How often a beacon advertises: each 100 ms, as Apple asks for.
    public static let roundNanoseconds: Int64 = 100_000_000

    /// The bytes of all adverts.
    public let bytes: [UInt8]

    /// The adverts in order.
    public let adverts: [reference_advert]

    /// How many beacons there are.
    public let beaconCount: Int

    /// How many of the adverts are iBeacons.
    public let iBeaconCount: Int

    /// The time from one advert to the next in nanoseconds, such that each beacon advertises at its rate.
    public let step: Int64

    /// The identity of a beacon by its number.
    public static func identity(_ number: Int) -> BeaconIdentity {
        BeaconIdentity(
            uuid: uuid, major: UInt16(number / beaconsPerMajor), minor: UInt16(number % beaconsPerMajor))
    }

    /// Makes a corpus.
    ///
    /// - Parameters:
    ///   - beacons: how many beacons there are.
    ///   - foreignShare: how many foreign adverts come with each of an iBeacon.
    ///   - atLeast: how many adverts there are at least; whole rounds are made.
    ///   - seed: what chance starts from.
    public init(beacons: Int, foreignShare: Int = 1, atLeast minimum: Int, seed: UInt64 = 1) {
        var chance = Chance(seed: seed)
        let perRound = beacons * (1 + foreignShare)
        let rounds = max(1, (minimum + perRound - 1) / perRound)
        var bytes: [UInt8] = []
        var adverts: [reference_advert] = []
        bytes.reserveCapacity(rounds * perRound * 31)
        adverts.reserveCapacity(rounds * perRound)
        // In a room of any size each beacon is somewhere, and is heard around a level of its own.
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

    /// A random static address for each beacon, without pattern.
    private static func address(_ number: Int) -> UInt64 {
        var chance = Chance(seed: UInt64(number) &+ 0xADD)
        return chance.next() >> 16 | 0xC000_0000_0000
    }

    /// A beacon's advert. Most are as Apple wants them; makers differ in flags and in what else they send.
    private static func advert(_ number: Int) -> [UInt8] {
        let frame = IBeaconFrame(identity: identity(number), measuredPower: Int8(-59 - number % 4))
        var advert = frame.advert
        switch number % 8 {
        case 5: advert[2] = 0x1A
        case 6: advert.removeFirst(3)
        case 7:
            // Without flags there is room for the power of the transmitter behind the frame.
            advert.removeFirst(3)
            advert += [0x02, 0x0A, 0x04]
        default: break
        }
        return advert
    }

    private static func foreignAdvert(_ chance: inout Chance) -> [UInt8] {
        // It is never empty, and `??` needs no force.
        (ForeignAdvert.allCases.randomElement(using: &chance) ?? .named).bytes(&chance)
    }
}
