import Testing

/// Waits for something that another task brings about.
///
/// - Returns: whether it came within the time, which is long for any machine and is no measurement.
@discardableResult
func eventually(
    within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(2))
    }
    Issue.record("it did not happen within \(limit)", sourceLocation: sourceLocation)
    return false
}
