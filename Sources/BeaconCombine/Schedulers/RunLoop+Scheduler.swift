#if Combine || Gateway
    import Dispatch
    public import Foundation
    public import OpenCombine

    extension RunLoop: @retroactive Scheduler {
        /// A time of a run loop.
        public typealias SchedulerTimeType = DateSchedulerTime

        /// The options of a run loop, which has no options.
        public struct SchedulerOptions {}

        /// The current time.
        public var now: SchedulerTimeType { SchedulerTimeType(Date()) }

        /// The minimum tolerance: zero.
        public var minimumTolerance: SchedulerTimeType.Stride { 0 }

        // The main thread may run the main queue but no run loop: in a program that awaits in its main function, and in
        // tests. The main run loop also runs the main queue. So the queue works in every program.
        private var queue: DispatchQueue? { self === RunLoop.main ? .main : nil }

        /// Performs an action soon.
        public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
            if let queue { return queue.schedule(action) }
            let action = HandedOver(action)
            perform { action.value() }
        }

        /// Performs an action at a time.
        public func schedule(
            after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
            _ action: @escaping () -> Void
        ) {
            if let queue {
                return queue.schedule(
                    after: queue.now.advanced(by: .seconds(now.distance(to: date).timeInterval)),
                    tolerance: .seconds(tolerance.timeInterval), action)
            }
            addTimer(at: date, interval: nil, tolerance, action)
        }

        /// Performs an action at a time and then after each interval, until it is cancelled.
        public func schedule(
            after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
            options: SchedulerOptions?, _ action: @escaping () -> Void
        ) -> any Cancellable {
            if let queue {
                return queue.schedule(
                    after: queue.now.advanced(by: .seconds(now.distance(to: date).timeInterval)),
                    interval: .seconds(interval.timeInterval), tolerance: .seconds(tolerance.timeInterval), action)
            }
            let timer = HandedOver(addTimer(at: date, interval: interval, tolerance, action))
            return AnyCancellable { timer.value.invalidate() }
        }

        @discardableResult
        private func addTimer(
            at date: SchedulerTimeType, interval: SchedulerTimeType.Stride?, _ tolerance: SchedulerTimeType.Stride,
            _ action: @escaping () -> Void
        ) -> Timer {
            let action = HandedOver(action)
            let timer = Timer(
                fire: date.date, interval: interval?.timeInterval ?? 0, repeats: interval != nil
            ) { _ in action.value() }
            timer.tolerance = tolerance.timeInterval
            add(timer, forMode: .default)
            return timer
        }
    }
#endif
