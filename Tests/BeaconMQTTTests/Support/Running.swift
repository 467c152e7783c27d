/// Runs something beside a body, and ends it with the body.
func running<Result: Sendable>(
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

/// Chance that comes out the same each time (xorshift64, Marsaglia 2003).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
