import Testing

/// A source and what is to be found in it.
struct Example: CustomTestStringConvertible {
    /// What it shows.
    var testDescription: String

    /// The source.
    var source: String

    /// A line and a kind for each finding: `3 signature`.
    var expected: [String]

    /// A source in which nothing is to be found where nothing is said.
    init(_ testDescription: String, _ source: String, finds expected: String...) {
        self.testDescription = testDescription
        self.source = source
        self.expected = expected
    }

    /// A member of a class that conforms to the location manager's delegate; it stands on line 2.
    static func member(_ testDescription: String, _ member: String, finds expected: String...) -> Example {
        var example = Example(
            testDescription, "final class Scanner: NSObject, CLLocationManagerDelegate {\n    \(member)\n}\n")
        example.expected = expected
        return example
    }

    /// A member of a class that conforms to the peripheral manager's delegate; it stands on line 2.
    static func advertiser(_ testDescription: String, _ member: String, finds expected: String...) -> Example {
        var example = Example(
            testDescription, "class Advertiser: NSObject, CBPeripheralManagerDelegate {\n\(member)\n}\n")
        example.expected = expected
        return example
    }

    /// A member of a class that conforms to the central manager's delegate; it stands on line 2.
    static func central(_ testDescription: String, _ member: String, finds expected: String...) -> Example {
        var example = Example(testDescription, "class Central: NSObject, CBCentralManagerDelegate {\n\(member)\n}\n")
        example.expected = expected
        return example
    }
}
