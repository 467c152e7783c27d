/// Runs a closure alongside a body, and ends it with the body.
package func running<Result: Sendable>(
    _ run: @escaping @Sendable () async -> Void, _ body: () async throws -> Result
) async throws -> Result {
    let task = Task { await run() }
    do {
        let result = try await body()
        task.cancel()
        await task.value
        return result
    } catch {
        task.cancel()
        await task.value
        throw error
    }
}
