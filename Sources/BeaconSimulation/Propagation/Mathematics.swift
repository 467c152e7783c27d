#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// The few functions that come from the platform's mathematics library, in one place: it alone has to know its name.
enum Mathematics {
    /// Returns a ratio of powers in dB.
    static func decibels(_ ratio: Double) -> Double { 10 * log10(ratio) }

    /// Returns the ratio of powers that is so many dB.
    static func ratio(decibels: Double) -> Double { pow(10, decibels / 10) }

    /// Returns e to a power.
    static func exponential(_ power: Double) -> Double { exp(power) }

    /// Returns 1 - e to the power of -`x`, without loss of digits where `x` is small.
    static func saturation(_ x: Double) -> Double { -expm1(-x) }
}
