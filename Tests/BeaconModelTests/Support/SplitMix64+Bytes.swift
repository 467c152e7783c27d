import BeaconSupport

extension SplitMix64 {
    /// Returns so many bytes.
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
