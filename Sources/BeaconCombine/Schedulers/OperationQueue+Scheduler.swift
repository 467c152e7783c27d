#if Combine || Gateway
    import Dispatch
    public import Foundation
    public import OpenCombine

    extension OperationQueue: @retroactive Scheduler {
        /// A time of an operation queue.
        public typealias SchedulerTimeType = DateSchedulerTime

        /// The options of an operation queue, which has no options.
        public struct SchedulerOptions {}

        /// The current time.
        public var now: SchedulerTimeType { SchedulerTimeType(Date()) }

        /// The minimum tolerance: zero.
        public var minimumTolerance: SchedulerTimeType.Stride { 0 }

        /// Performs an action soon.
        public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
            let action = HandedOver(action)
            addOperation { action.value() }
        }

        /// Performs an action at a time.
        public func schedule(
            after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
            _ action: @escaping () -> Void
        ) {
            let action = HandedOver(action)
            let queue = HandedOver(self)
            DispatchQueue.global().asyncAfter(deadline: .now() + max(0, date.date.timeIntervalSinceNow)) {
                queue.value.addOperation { action.value() }
            }
        }

        /// Performs an action at a time and then after each interval, until it is cancelled.
        public func schedule(
            after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
            options: SchedulerOptions?, _ action: @escaping () -> Void
        ) -> any Cancellable {
            let action = HandedOver(action)
            let queue = HandedOver(self)
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(
                deadline: .now() + max(0, date.date.timeIntervalSinceNow), repeating: interval.timeInterval,
                leeway: DispatchQueue.SchedulerTimeType.Stride.seconds(tolerance.timeInterval).timeInterval)
            timer.setEventHandler { queue.value.addOperation { action.value() } }
            timer.resume()
            let sent = HandedOver(timer)
            return AnyCancellable { sent.value.cancel() }
        }
    }
#endif
