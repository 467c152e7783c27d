/// Waits until something holds, looking again and again, and gives up after a time that no machine needs.
func eventually(
    _ what: String, within limit: Duration = .seconds(60), _ holds: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !holds() {
        guard ContinuousClock.now < end else { throw Failure("this never came about: \(what)") }
        try await Task.sleep(for: .milliseconds(10))
    }
}
