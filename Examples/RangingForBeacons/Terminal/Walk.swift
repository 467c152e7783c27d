import BeaconTestKit

/// The place of this device in the air that programs share, and the way that arrow keys take it.
@MainActor
struct Walk {
    /// The length of a step in metres.
    private static let step = 0.5

    /// Where the last step led; nil before the first.
    private var target: Position?

    /// The place in words; nil for a device with a radio, which its user walks with.
    var text: String? {
        guard let position = SharedAir.position else { return nil }
        // Whole digits of what a step changes.
        func metres(_ value: Double) -> String {
            let tenths = Int((value * 10).rounded())
            return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
        }
        return "at \(metres(position.x)), \(metres(position.y)) m"
    }

    /// Takes a step in the direction of an arrow key, at a person's speed.
    ///
    /// - Returns: false where the key is no arrow, or there is no air to walk in.
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
