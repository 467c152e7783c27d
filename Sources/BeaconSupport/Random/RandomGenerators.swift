/// A small random number generator that repeats its sequence for the same seed: SplitMix64.
///
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. Its state is a single word, so
/// that many generators are cheap. The algorithm is fixed here: a seed must give the same numbers for years.
@usableFromInline
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    @usableFromInline var state: UInt64

    /// The golden ratio in 64 bits, made odd.
    @inlinable package static var step: UInt64 { 0x9E37_79B9_7F4A_7C15 }

    /// Creates a generator with a seed.
    @inlinable package init(seed: UInt64) { state = seed }

    /// Returns the next 64 bits.
    @inlinable package mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mixed(state)
    }

    /// Returns a value each of whose bits depends on all bits of the input.
    @inlinable package static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ mixed &>> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed &>> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed &>> 31
    }
}

/// A generator of the system's random numbers.
///
/// `SystemRandomNumberGenerator` has no size, and Thread Sanitizer mistakes two of them on two threads for one
/// variable. It would report a false race in every program that uses this package.
package struct SystemRandom: RandomNumberGenerator {
    private var count: UInt64 = 0

    /// Creates a generator.
    package init() {}

    /// Returns 64 bits from the system.
    package mutating func next() -> UInt64 {
        count &+= 1
        return UInt64.random(in: .min ... .max)
    }
}
