package import BeaconRadio

/// A position in a shared air, in the form `air[:NAME][@X,Y[,Z]]`.
package struct AirLocation: Hashable, Sendable {
    /// The name of the default air.
    package static let defaultName = "default"

    /// The name of the air. Members of different airs do not hear each other.
    package var name: String

    /// The position in meters.
    package var point: Point

    /// Creates a position in an air.
    package init(name: String = defaultName, point: Point = .zero) {
        self.name = name
        self.point = point
    }

    /// Reads a position without the word `air`: `[:NAME][@X,Y[,Z]]`.
    ///
    /// - Throws: an error with the fault and the expected form.
    package init(_ text: some StringProtocol) throws(RadioError) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        self.init()
        if let name = parts.first, !name.isEmpty {
            self.name = String(name.dropFirst())
            guard name.first == ":", Self.isName(self.name) else {
                throw RadioError(
                    .unsupported,
                    "\"air\(text)\" is not a valid place in a shared air: use 1 to 40 letters, digits, hyphens and "
                        + "underscores, as in air:hall@2,0")
            }
        }
        if parts.count == 2 {
            guard let point = Point(parts[1]) else {
                throw RadioError(
                    .unsupported,
                    "\"air\(text)\" is not a valid place in a shared air: write meters as X,Y or X,Y,Z, as in air@2,0")
            }
            self.point = point
        }
    }

    private static func isName(_ text: String) -> Bool {
        1...40 ~= text.utf8.count
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }
}

extension Point {
    /// The maximum distance from the origin along an axis, in meters, so that squares keep their precision.
    static let farthest = 1_000_000.0

    /// Reads `X,Y` or `X,Y,Z`, in meters.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            Double(String(part)).flatMap { abs($0) <= Self.farthest ? $0 : nil }
        }
        guard 2...3 ~= parts.count, numbers.count == parts.count else { return nil }
        self.init(x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : 0)
    }
}

extension Point: CustomStringConvertible {
    /// The position in meters as `X,Y`, or as `X,Y,Z` if it is above the plan, rounded to centimeters.
    package var description: String {
        (z == 0 ? [x, y] : [x, y, z]).map(Self.text).joined(separator: ",")
    }

    private static func text(_ meters: Double) -> String {
        let rounded = (meters * 100).rounded() / 100
        return Int(exactly: rounded).map(String.init) ?? String(rounded)
    }
}
