import Foundation

/// An error that ends a test.
public struct Failure: Error, CustomStringConvertible {
    /// The description.
    public var description: String

    /// Creates an error with a description.
    public init(_ description: String) { self.description = description }
}

extension Duration {
    /// The time after which a waiting test counts as hanging. It is not a measurement: any working machine is faster,
    /// however busy. Set BEACON_TEST_HANG to a number of seconds to change it while debugging.
    public static let hang = Duration.seconds(
        ProcessInfo.processInfo.environment["BEACON_TEST_HANG"].flatMap { Int64($0) } ?? 300)
}

/// Waits until a condition holds, and checks it repeatedly.
///
/// - Parameter what: a description of the condition.
public func eventually(
    _ what: String = "the condition of the test", file: String = #fileID, line: Int = #line,
    _ holds: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .hang
    while try await !holds() {
        guard ContinuousClock.now < end else { throw Failure("timed out waiting for: \(what) (\(file):\(line))") }
        try await Task.sleep(for: .milliseconds(2))
    }
}
