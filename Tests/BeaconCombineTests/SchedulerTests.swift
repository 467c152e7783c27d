import BeaconCombine
import BeaconSupport
import Foundation
import Testing

@Suite("Schedulers of Combine")
struct SchedulerTests {
    @Test("The interval between two times leads from one to the other, in either direction")
    func strides() {
        for nanoseconds in [-5_000_000_000, -1, 0, 1, 999, 1_000_000, 3_600_000_000_000] {
            let time = DispatchQueue.SchedulerTimeType(DispatchTime(uptimeNanoseconds: 10_000_000_000))
            let stride = DispatchQueue.SchedulerTimeType.Stride.nanoseconds(nanoseconds)
            #expect(time.distance(to: time.advanced(by: stride)) == stride)
            let date = RunLoop.SchedulerTimeType(Date(timeIntervalSince1970: 1e9))
            let seconds = RunLoop.SchedulerTimeType.Stride(Double(nanoseconds) / 1e9)
            #expect(abs(date.distance(to: date.advanced(by: seconds)).timeInterval - seconds.timeInterval) < 1e-6)
        }
    }

    @Test("Units have their usual lengths, and an interval that is too long becomes the longest possible")
    func units() {
        typealias Stride = DispatchQueue.SchedulerTimeType.Stride
        #expect(Stride.seconds(2) == .milliseconds(2_000))
        #expect(Stride.milliseconds(2) == .microseconds(2_000))
        #expect(Stride.microseconds(2) == .nanoseconds(2_000))
        #expect(Stride.seconds(1.5) == .milliseconds(1_500))
        #expect(1.5 as Stride == .milliseconds(1_500))
        #expect(Stride(.milliseconds(7)) == .milliseconds(7))
        #expect(Stride.seconds(Int.max) == .nanoseconds(.max))
        #expect(Stride.seconds(Int.min) == .nanoseconds(.min))
        #expect(Stride.seconds(1e300) == .nanoseconds(.max))
        #expect(Stride(.never) == .nanoseconds(.max))
        #expect(RunLoop.SchedulerTimeType.Stride.milliseconds(1_500) == 1.5)
    }

    @Test("A pipeline continues on the specified scheduler")
    func receiveOn() async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "app")
        queue.setSpecific(key: key, value: true)
        let operations = OperationQueue()
        for await (number, isThere) in values(
            [1, 2, 3].publisher.receive(on: operations).receive(on: queue).map {
                ($0, DispatchQueue.getSpecific(key: key) == true)
            }.collect(3).flatMap { $0.publisher })
        {
            #expect((1...3).contains(number) && isThere)
        }
    }

    @Test("Delayed values arrive later, and the last of debounced values arrives")
    func delays() async {
        let begin = DispatchTime.now()
        // Without an end, since it could overtake a value that waits. The queues keep the order.
        let endless = [1, 2, 3].publisher.append(Empty(completeImmediately: false))
        for await value in values(
            endless.delay(for: .milliseconds(20), scheduler: DispatchQueue(label: "delay"))
                .debounce(for: .milliseconds(1), scheduler: DispatchQueue(label: "app")))
        {
            if value == 3 { break }
        }
        #expect(DispatchTime.now() >= begin + .milliseconds(20))
    }

    @Test("A timer of each scheduler repeats until it is cancelled")
    func timers() async {
        let queue = DispatchQueue(label: "app")
        await repeats { queue.schedule(after: queue.now, interval: .milliseconds(1), $0) }
        let operations = OperationQueue()
        await repeats { operations.schedule(after: operations.now, interval: .milliseconds(1), $0) }
    }

    private func repeats(_ schedule: (@escaping () -> Void) -> any Cancellable) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let timer = schedule { continuation.yield() }
        var count = 0
        for await _ in stream {
            count += 1
            if count == 3 { break }
        }
        timer.cancel()
        #expect(count == 3)
    }

    @Test("The run loop runs its scheduled work and its timers")
    @MainActor
    func runLoop() {
        var words: [String] = []
        let loop = RunLoop.current
        loop.schedule { words.append("soon") }
        loop.schedule(after: loop.now.advanced(by: .milliseconds(1))) { words.append("later") }
        let ticks = Timer.publish(every: 0.001, on: loop, in: .default).autoconnect().prefix(2)
            .sink { _ in words.append("tick") }
        while words.count < 4 { _ = loop.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01)) }
        #expect(words.sorted() == ["later", "soon", "tick", "tick"])
        withExtendedLifetime(ticks) {}
        // A connection that is not kept continues.
        let timer = Timer.publish(every: 0.001, on: loop, in: .default)
        let more = timer.sink { _ in words.append("tock") }
        _ = timer.connect()
        while !words.contains("tock") { _ = loop.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01)) }
        withExtendedLifetime(more) {}
    }

    /// Returns the values of a publisher until its end.
    private func values<Source: Publisher>(_ publisher: Source) -> AsyncStream<Source.Output>
    where Source.Failure == Never, Source.Output: Sendable {
        AsyncStream { continuation in
            let subscription = UncheckedBox(
                publisher.sink(
                    receiveCompletion: { _ in continuation.finish() }, receiveValue: { continuation.yield($0) }))
            continuation.onTermination = { _ in subscription.value.cancel() }
        }
    }
}

/// A subscription with its own lock, on its way to the end of a stream.
private struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
