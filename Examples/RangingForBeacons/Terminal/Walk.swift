import BeaconTestKit

/// The position of this device in the shared air, which the arrow keys change.
@MainActor
struct Walk {
    /// The length of a step in meters.
    private static let step = 0.5

    /// The target of the last step; nil before the first step.
    private var target: Position?

    /// The position in words; nil for a device with a radio, which its user carries.
    var text: String? {
        guard let position = SharedAir.position else { return nil }
        // Tenths are enough for steps of half a meter.
        func meters(_ value: Double) -> String {
            let tenths = Int((value * 10).rounded())
            return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
        }
        return "at \(meters(position.x)), \(meters(position.y)) m"
    }

    /// Takes a step in the direction of an arrow key, at walking speed.
    ///
    /// - Returns: false if the key is not an arrow, or there is no shared air.
    mutating func take(_ key: Key) -> Bool {
        guard let place = target ?? SharedAir.position else { return false }
        var (x, y) = (place.x, place.y)
        switch key {
        case .up: y += Self.step
        case .down: y -= Self.step
        case .left: x -= Self.step
        case .right: x += Self.step
        default: return false
        }
        let next = Position(x: x, y: y)
        guard (try? SharedAir.move(to: next, speed: 1.4)) != nil else { return false }
        target = next
        return true
    }
}
