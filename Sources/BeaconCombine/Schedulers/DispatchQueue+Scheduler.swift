#if Combine || Gateway
    public import Dispatch
    public import OpenCombine

    // OpenCombine has these too, in a module that leaves them out where a module Combine can be imported, as it can
    // once this one is built. So this one has its own.

    extension DispatchQueue: @retroactive Scheduler {
        /// A moment of a queue.
        public struct SchedulerTimeType: Strideable, Codable, Hashable, Sendable {
            /// The moment.
            public var dispatchTime: DispatchTime

            /// Creates a moment.
            public init(_ time: DispatchTime) { dispatchTime = time }

            /// Reads the nanoseconds of a moment.
            public init(from decoder: any Decoder) throws {
                let nanoseconds = try decoder.singleValueContainer().decode(UInt64.self)
                self.init(DispatchTime(uptimeNanoseconds: nanoseconds))
            }

            /// Writes the nanoseconds of the moment.
            public func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(dispatchTime.uptimeNanoseconds)
            }

            /// Adds the moment's nanoseconds to a hash.
            public func hash(into hasher: inout Hasher) { hasher.combine(dispatchTime.uptimeNanoseconds) }

            /// The time from this moment to another.
            public func distance(to other: SchedulerTimeType) -> Stride {
                let (from, to) = (dispatchTime.uptimeNanoseconds, other.dispatchTime.uptimeNanoseconds)
                return .nanoseconds(to >= from ? Int(clamping: to - from) : -Int(clamping: from - to))
            }

            /// Returns the moment a time later.
            public func advanced(by stride: Stride) -> SchedulerTimeType {
                SchedulerTimeType(dispatchTime + stride.timeInterval)
            }

            /// A time between two moments, in whole nanoseconds.
            public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric,
                ExpressibleByFloatLiteral,
                Hashable, Codable, Sendable
            {
                /// The nanoseconds.
                public var magnitude: Int

                /// The time, as Dispatch has it.
                public var timeInterval: DispatchTimeInterval { .nanoseconds(magnitude) }

                private init(nanoseconds: Int) { magnitude = nanoseconds }

                /// Creates a time from Dispatch's; one without end is the longest that there is.
                public init(_ interval: DispatchTimeInterval) {
                    self =
                        switch interval {
                        case .seconds(let count): .seconds(count)
                        case .milliseconds(let count): .milliseconds(count)
                        case .microseconds(let count): .microseconds(count)
                        case .nanoseconds(let count): .nanoseconds(count)
                        case .never: Stride(nanoseconds: .max)
                        @unknown default: Stride(nanoseconds: .max)
                        }
                }

                /// Creates a time of so many seconds.
                public init(floatLiteral value: Double) { self = .seconds(value) }

                /// Creates a time of so many seconds.
                public init(integerLiteral value: Int) { self = .seconds(value) }

                /// Creates a time of so many nanoseconds; nil where an Int has no place for them.
                public init?(exactly source: some BinaryInteger) {
                    guard let nanoseconds = Int(exactly: source) else { return nil }
                    self.init(nanoseconds: nanoseconds)
                }

                /// Orders times by their length.
                public static func < (left: Stride, right: Stride) -> Bool { left.magnitude < right.magnitude }
                /// Adds two times.
                public static func + (left: Stride, right: Stride) -> Stride {
                    Stride(nanoseconds: left.magnitude + right.magnitude)
                }
                /// Takes a time from another.
                public static func - (left: Stride, right: Stride) -> Stride {
                    Stride(nanoseconds: left.magnitude - right.magnitude)
                }
                /// Multiplies two times.
                public static func * (left: Stride, right: Stride) -> Stride {
                    Stride(nanoseconds: left.magnitude * right.magnitude)
                }
                /// Adds a time.
                public static func += (left: inout Stride, right: Stride) { left = left + right }
                /// Takes a time away.
                public static func -= (left: inout Stride, right: Stride) { left = left - right }
                /// Multiplies by a time.
                public static func *= (left: inout Stride, right: Stride) { left = left * right }

                private static func times(_ count: Int, _ unit: Int) -> Stride {
                    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
                    return Stride(nanoseconds: overflow ? count < 0 ? .min : .max : product)
                }

                /// Returns a time of so many seconds.
                public static func seconds(_ count: Double) -> Stride {
                    let nanoseconds = (count * 1e9).rounded()
                    return Stride(nanoseconds: Int(exactly: nanoseconds) ?? (nanoseconds < 0 ? .min : .max))
                }

                /// Returns a time of so many seconds.
                public static func seconds(_ count: Int) -> Stride { times(count, 1_000_000_000) }

                /// Returns a time of so many milliseconds.
                public static func milliseconds(_ count: Int) -> Stride { times(count, 1_000_000) }

                /// Returns a time of so many microseconds.
                public static func microseconds(_ count: Int) -> Stride { times(count, 1_000) }

                /// Returns a time of so many nanoseconds.
                public static func nanoseconds(_ count: Int) -> Stride { Stride(nanoseconds: count) }
            }
        }

        /// How a queue does what is scheduled.
        public struct SchedulerOptions {
            /// The quality of service.
            public var qos: DispatchQoS

            /// The flags.
            public var flags: DispatchWorkItemFlags

            /// The group that it belongs to.
            public var group: DispatchGroup?

            /// Options from their parts.
            public init(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], group: DispatchGroup? = nil)
            {
                self.qos = qos
                self.flags = flags
                self.group = group
            }
        }

        /// The present moment.
        public var now: SchedulerTimeType { SchedulerTimeType(.now()) }

        /// The least tolerance: none.
        public var minimumTolerance: SchedulerTimeType.Stride { 0 }

        /// Does something soon.
        public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
            let action = HandedOver(action)
            async(group: options?.group, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) {
                action.value()
            }
        }

        /// Does something at a moment.
        public func schedule(
            after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
            _ action: @escaping () -> Void
        ) {
            let action = HandedOver(action)
            asyncAfter(
                deadline: date.dispatchTime, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []
            ) { action.value() }
        }

        /// Does something at a moment and again after each interval, until it is cancelled.
        public func schedule(
            after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
            options: SchedulerOptions?, _ action: @escaping () -> Void
        ) -> any Cancellable {
            let action = HandedOver(action)
            let timer = DispatchSource.makeTimerSource(queue: self)
            timer.schedule(
                deadline: date.dispatchTime, repeating: interval.timeInterval, leeway: tolerance.timeInterval)
            timer.setEventHandler(qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) { action.value() }
            timer.resume()
            let sent = HandedOver(timer)
            return AnyCancellable { sent.value.cancel() }
        }
    }
#endif
