import Testing

/// A source and its expected findings.
struct Example: CustomTestStringConvertible {
    /// The description of the example.
    var testDescription: String

    /// The source.
    var source: String

    /// A line and a kind for each finding: `3 signature`.
    var expected: [String]

    /// Creates a source, by default without findings.
    init(_ testDescription: String, _ source: String, finds expected: String...) {
        self.testDescription = testDescription
        self.source = source
        self.expected = expected
    }

    /// Creates a member, on line 2, of a class that conforms to the location manager's delegate.
    static func member(_ testDescription: String, _ member: String, finds expected: String...) -> Example {
        var example = Example(
            testDescription, "final class Scanner: NSObject, CLLocationManagerDelegate {\n    \(member)\n}\n")
        example.expected = expected
        return example
    }

    /// Creates a member, on line 2, of a class that conforms to the peripheral manager's delegate.
    static func advertiser(_ testDescription: String, _ member: String, finds expected: String...) -> Example {
        var example = Example(
            testDescription, "class Advertiser: NSObject, CBPeripheralManagerDelegate {\n\(member)\n}\n")
        example.expected = expected
        return example
    }

    /// Creates a member, on line 2, of a class that conforms to the central manager's delegate.
    static func central(_ testDescription: String, _ member: String, finds expected: String...) -> Example {
        var example = Example(testDescription, "class Central: NSObject, CBCentralManagerDelegate {\n\(member)\n}\n")
        example.expected = expected
        return example
    }
}
