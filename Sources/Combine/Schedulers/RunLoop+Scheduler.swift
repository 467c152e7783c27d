#if Combine || Gateway
    public import Foundation
    public import OpenCombine

    extension RunLoop: @retroactive Scheduler {
        /// A moment of a run loop.
        public typealias SchedulerTimeType = DateSchedulerTime

        /// The options of a run loop, of which there are none.
        public struct SchedulerOptions {}

        /// The present moment.
        public var now: SchedulerTimeType { SchedulerTimeType(Date()) }

        /// The least tolerance: none.
        public var minimumTolerance: SchedulerTimeType.Stride { 0 }

        /// Does something soon.
        public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
            let action = HandedOver(action)
            perform { action.value() }
        }

        /// Does something at a moment.
        public func schedule(
            after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
            _ action: @escaping () -> Void
        ) {
            addTimer(at: date, interval: nil, tolerance, action)
        }

        /// Does something at a moment and again after each interval, until it is cancelled.
        public func schedule(
            after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
            options: SchedulerOptions?, _ action: @escaping () -> Void
        ) -> any Cancellable {
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
