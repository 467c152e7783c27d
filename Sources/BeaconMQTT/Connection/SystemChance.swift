/// The system's chance. `SystemRandomNumberGenerator` has no size, and Thread Sanitizer takes two of them on two threads for
/// one variable, so that it would report a race in every program that is built on this one and has none.
struct SystemChance: RandomNumberGenerator {
    private var count: UInt64 = 0

    mutating func next() -> UInt64 {
        count &+= 1
        return UInt64.random(in: .min ... .max)
    }
}
