import BeaconSupport
import Testing

/// Tests of the waits between attempts.
struct RetryPolicyTests {
    @Test("The bound of a wait doubles with each failure, up to the maximum")
    func bounds() {
        let policy = RetryPolicy(base: .seconds(1), maximum: .seconds(60))
        let bounds = [0, 1, 2, 3, 6, 7, 8, 1000, Int.max].map { policy.bound(afterFailures: $0) }
        #expect(bounds == [1, 1, 2, 4, 32, 60, 60, 60, 60].map { .seconds($0) })
    }

    @Test("A wait is between zero and its bound, and not shorter than the destination requests")
    func jitter() {
        let policy = RetryPolicy(base: .seconds(1), maximum: .seconds(60), maximumRetryAfter: .seconds(100))
        var generator = SystemRandomNumberGenerator()
        for failures in 1...20 {
            let wait = policy.wait(afterFailures: failures, asked: nil, using: &generator)
            #expect(wait >= .zero && wait <= policy.bound(afterFailures: failures))
            let asked = policy.wait(afterFailures: failures, asked: .seconds(30), using: &generator)
            #expect(asked >= .seconds(30) && asked <= .seconds(31))
            let longest = policy.wait(afterFailures: failures, asked: .seconds(3600), using: &generator)
            #expect(longest >= .seconds(100) && longest <= .seconds(101))
        }
    }

    @Test("A back-off has the bounds of a policy, and starts again after a success")
    func backoff() {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(5))
        #expect((0..<5).map { _ in backoff.next() } == [1, 2, 4, 5, 5].map { .seconds($0) })
        backoff.reset()
        #expect(backoff.upcoming == .seconds(1))
        #expect(backoff.next() == .seconds(1))
        for _ in 0..<200 { backoff.next() }
        #expect(backoff.next() == .seconds(5))
    }
}
