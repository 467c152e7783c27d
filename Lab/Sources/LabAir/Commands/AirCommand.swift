import VirtualController

/// The guest's commands to the air, one per line. `Lab/README.md` describes them.
enum AirCommand: Hashable, Sendable {
    case start(String)
    case stop
    case elapsed
    case flood(FloodPlan)
    case flooded
    case silent(Int)
    case dead(Int)
    case refuse(Int, times: Int, Status)
    case well(Int)
    case endScan(Int)
    case powerCycle(Int)
    case state(Int)

    /// Reads a line.
    ///
    /// - Parameter controllers: the number of controllers.
    init(_ line: String, controllers: Int) throws(AirCommandError) {
        var words = line.split(separator: " ")[...]
        func word(_ meaning: String) throws(AirCommandError) -> String {
            guard let word = words.popFirst() else { throw AirCommandError("missing \(meaning)") }
            return String(word)
        }
        func number(_ meaning: String, in range: ClosedRange<Int>) throws(AirCommandError) -> Int {
            let text = try word(meaning)
            guard let number = Int(text), range.contains(number) else {
                throw AirCommandError(
                    "\(meaning) is \(text); write a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        func controller() throws(AirCommandError) -> Int { try number("controller", in: 0...max(0, controllers - 1)) }
        switch try word("command") {
        case "start": self = .start(try word("scenario"))
        case "stop": self = .stop
        case "elapsed": self = .elapsed
        case "flood":
            self = .flood(
                FloodPlan(
                    foreignRate: try number("foreign adverts a second", in: 0...100_000),
                    beaconRate: try number("iBeacon adverts a second", in: 0...100_000),
                    duration: try number("seconds", in: 1...3600)))
        case "flooded": self = .flooded
        case "silent": self = .silent(try controller())
        case "dead": self = .dead(try controller())
        case "refuse":
            self = .refuse(
                try controller(), times: try number("times", in: 1...1000),
                Status(rawValue: UInt8(try number("status", in: 1...255))))
        case "well": self = .well(try controller())
        case "end-scan": self = .endScan(try controller())
        case "power-cycle": self = .powerCycle(try controller())
        case "state": self = .state(try controller())
        case let other: throw AirCommandError("\"\(other)\" is not a command of the air")
        }
        guard words.isEmpty else { throw AirCommandError("\"\(words.joined(separator: " "))\" is unexpected") }
    }
}
