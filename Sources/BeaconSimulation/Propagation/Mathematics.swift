#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// The functions from the platform's mathematics library, in the only file that imports it.
enum Mathematics {
    /// Returns a ratio of powers in dB.
    static func decibels(_ ratio: Double) -> Double { 10 * log10(ratio) }

    /// Returns a number of dB as a ratio of powers.
    static func ratio(decibels: Double) -> Double { pow(10, decibels / 10) }

    /// Returns e to a power.
    static func exponential(_ power: Double) -> Double { exp(power) }

    /// Returns 1 - e to the power of -`x`, without loss of digits for a small `x`.
    static func saturation(_ x: Double) -> Double { -expm1(-x) }
}
