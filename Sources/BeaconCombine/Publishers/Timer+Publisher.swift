#if Combine || Gateway
    public import Foundation
    public import OpenCombine

    extension Timer {
        /// A publisher of the current time at regular intervals, while it is connected.
        public final class TimerPublisher: ConnectablePublisher {
            /// The type of the values.
            public typealias Output = Date
            /// The type of the failures.
            public typealias Failure = Never

            /// The interval in seconds.
            public let interval: TimeInterval

            /// The tolerance in seconds; nil for Foundation's default.
            public let tolerance: TimeInterval?

            /// The run loop of the timer.
            public let runLoop: RunLoop

            /// The mode of the run loop.
            public let mode: RunLoop.Mode

            private let subject = PassthroughSubject<Date, Never>()

            /// A timer that continues even if the connection is not kept, like Apple's.
            private struct Connection: Cancellable {
                let timer: Timer
                func cancel() { timer.invalidate() }
            }

            /// Creates a publisher.
            public init(
                interval: TimeInterval, tolerance: TimeInterval? = nil, runLoop: RunLoop, mode: RunLoop.Mode,
                options: RunLoop.SchedulerOptions? = nil
            ) {
                self.interval = interval
                self.tolerance = tolerance
                self.runLoop = runLoop
                self.mode = mode
            }

            /// Adds a subscriber.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Date, Downstream.Failure == Never { subject.receive(subscriber: subscriber) }

            /// Starts the timer, which ends when the connection is cancelled.
            public func connect() -> any Cancellable {
                let sent = HandedOver(subject)
                let timer = Timer(timeInterval: interval, repeats: true) { _ in sent.value.send(Date()) }
                if let tolerance { timer.tolerance = tolerance }
                runLoop.add(timer, forMode: mode)
                return Connection(timer: timer)
            }
        }

        /// Returns a publisher of the current time at regular intervals.
        public static func publish(
            every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop, in mode: RunLoop.Mode,
            options: RunLoop.SchedulerOptions? = nil
        ) -> TimerPublisher {
            TimerPublisher(interval: interval, tolerance: tolerance, runLoop: runLoop, mode: mode, options: options)
        }
    }
#endif
