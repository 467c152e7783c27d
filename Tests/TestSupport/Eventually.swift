import Foundation

/// Something that a test cannot go on without.
public struct Failure: Error, CustomStringConvertible {
    /// The sentence.
    public var description: String

    /// Says what is missing.
    public init(_ description: String) { self.description = description }
}

extension Duration {
    /// The time after which a test that waits for something is taken to hang. It measures nothing: no machine that
    /// works needs it, however busy. Who looks for a fault sets BEACON_TEST_HANG, in seconds.
    public static let hang = Duration.seconds(
        ProcessInfo.processInfo.environment["BEACON_TEST_HANG"].flatMap { Int64($0) } ?? 300)
}

/// Waits until something holds, looking again and again.
///
/// - Parameter what: what is waited for, in words.
public func eventually(
    _ what: String = "what the test waits for", file: String = #fileID, line: Int = #line,
    _ holds: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .hang
    while try await !holds() {
        guard ContinuousClock.now < end else { throw Failure("this never came about: \(what) (\(file):\(line))") }
        try await Task.sleep(for: .milliseconds(2))
    }
}
