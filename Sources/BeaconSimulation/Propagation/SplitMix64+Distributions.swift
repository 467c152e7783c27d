import BeaconSupport

// The random numbers of a simulation. They use only whole numbers, so that they do not depend on a mathematics library.
// A seed gives the same bytes for years, whereas the standard library may change its algorithms.

extension SplitMix64 {
    /// Creates the stream of this name under a seed.
    ///
    /// Streams of different names are independent, so that an additional beacon does not change the others' random
    /// numbers.
    init(seed: UInt64, stream name: String) {
        // FNV-1a (Fowler, Noll, Vo), mixed with the seed: names that differ by one letter give very different values.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        self.init(seed: Self.mixed(hash ^ Self.mixed(seed &+ Self.step)))
    }

    /// Returns a number in 0..<1.
    mutating func unit() -> Double { Double(next() &>> 11) * 0x1p-53 }

    /// Returns a whole number in 0..<`bound`, or 0 if `bound` is 0. Its bias is less than `bound` / 2^64.
    mutating func below(_ bound: UInt64) -> UInt64 { next().multipliedFullWidth(by: bound).high }

    /// Returns a normally distributed number with mean 0 and deviation 1, which never exceeds ``normalBound``: the sum
    /// of twelve uniform 16-bit numbers.
    mutating func normal() -> Double {
        var sum: UInt64 = 0
        for _ in 0..<3 {
            let bits = next()
            sum &+= bits & 0xFFFF
            sum &+= bits &>> 16 & 0xFFFF
            sum &+= bits &>> 32 & 0xFFFF
            sum &+= bits &>> 48
        }
        // Twelve times the mean of 0...65535. The deviation of the sum is 65536, except for a part in 2^33.
        return (Double(sum) - 393_210) * 0x1p-16
    }

    /// The bound of ``normal()`` in both directions.
    static var normalBound: Double { 6 }
}
