#if Combine || Gateway
    public import Dispatch
    public import OpenCombine

    // OpenCombine also has these, in a module that omits them if a module named Combine can be imported, which is the
    // case once this module is built. So this module has its own.

    extension DispatchQueue: @retroactive Scheduler {
        /// A time of a queue.
        public struct SchedulerTimeType: Strideable, Codable, Hashable, Sendable {
            /// The time in Dispatch's form.
            public var dispatchTime: DispatchTime

            /// Creates a time.
            public init(_ time: DispatchTime) { dispatchTime = time }

            /// Decodes the nanoseconds of a time.
            public init(from decoder: any Decoder) throws {
                let nanoseconds = try decoder.singleValueContainer().decode(UInt64.self)
                self.init(DispatchTime(uptimeNanoseconds: nanoseconds))
            }

            /// Encodes the nanoseconds of the time.
            public func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(dispatchTime.uptimeNanoseconds)
            }

            /// Adds the time's nanoseconds to a hash.
            public func hash(into hasher: inout Hasher) { hasher.combine(dispatchTime.uptimeNanoseconds) }

            /// Returns the interval from this time to another.
            public func distance(to other: SchedulerTimeType) -> Stride {
                let (from, to) = (dispatchTime.uptimeNanoseconds, other.dispatchTime.uptimeNanoseconds)
                return .nanoseconds(to >= from ? Int(clamping: to - from) : -Int(clamping: from - to))
            }

            /// Returns the time after an interval.
            public func advanced(by stride: Stride) -> SchedulerTimeType {
                SchedulerTimeType(dispatchTime + stride.timeInterval)
            }

            /// An interval between two times, in whole nanoseconds.
            public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric,
                ExpressibleByFloatLiteral,
                Hashable, Codable, Sendable
            {
                /// The nanoseconds.
                public var magnitude: Int

                /// The interval in Dispatch's form.
                public var timeInterval: DispatchTimeInterval { .nanoseconds(magnitude) }

                private init(nanoseconds: Int) { magnitude = nanoseconds }

                /// Creates an interval from Dispatch's form; an infinite one becomes the longest possible interval.
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

                /// Creates an interval from seconds.
                public init(floatLiteral value: Double) { self = .seconds(value) }

                /// Creates an interval from seconds.
                public init(integerLiteral value: Int) { self = .seconds(value) }

                /// Creates an interval from nanoseconds; nil if an Int cannot represent them.
                public init?(exactly source: some BinaryInteger) {
                    guard let nanoseconds = Int(exactly: source) else { return nil }
                    self.init(nanoseconds: nanoseconds)
                }

                /// Orders intervals by length.
                public static func < (left: Stride, right: Stride) -> Bool { left.magnitude < right.magnitude }
                /// Adds two intervals.
                public static func + (left: Stride, right: Stride) -> Stride {
                    Stride(nanoseconds: left.magnitude + right.magnitude)
                }
                /// Subtracts an interval.
                public static func - (left: Stride, right: Stride) -> Stride {
                    Stride(nanoseconds: left.magnitude - right.magnitude)
                }
                /// Multiplies two intervals.
                public static func * (left: Stride, right: Stride) -> Stride {
                    Stride(nanoseconds: left.magnitude * right.magnitude)
                }
                /// Adds an interval.
                public static func += (left: inout Stride, right: Stride) { left = left + right }
                /// Subtracts an interval.
                public static func -= (left: inout Stride, right: Stride) { left = left - right }
                /// Multiplies by an interval.
                public static func *= (left: inout Stride, right: Stride) { left = left * right }

                private static func times(_ count: Int, _ unit: Int) -> Stride {
                    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
                    return Stride(nanoseconds: overflow ? count < 0 ? .min : .max : product)
                }

                /// Returns an interval from seconds.
                public static func seconds(_ count: Double) -> Stride {
                    let nanoseconds = (count * 1e9).rounded()
                    return Stride(nanoseconds: Int(exactly: nanoseconds) ?? (nanoseconds < 0 ? .min : .max))
                }

                /// Returns an interval from seconds.
                public static func seconds(_ count: Int) -> Stride { times(count, 1_000_000_000) }

                /// Returns an interval from milliseconds.
                public static func milliseconds(_ count: Int) -> Stride { times(count, 1_000_000) }

                /// Returns an interval from microseconds.
                public static func microseconds(_ count: Int) -> Stride { times(count, 1_000) }

                /// Returns an interval from nanoseconds.
                public static func nanoseconds(_ count: Int) -> Stride { Stride(nanoseconds: count) }
            }
        }

        /// The options for scheduled work.
        public struct SchedulerOptions {
            /// The quality of service.
            public var qos: DispatchQoS

            /// The flags.
            public var flags: DispatchWorkItemFlags

            /// The group of the work.
            public var group: DispatchGroup?

            /// Creates options.
            public init(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], group: DispatchGroup? = nil)
            {
                self.qos = qos
                self.flags = flags
                self.group = group
            }
        }

        /// The current time.
        public var now: SchedulerTimeType { SchedulerTimeType(.now()) }

        /// The minimum tolerance: zero.
        public var minimumTolerance: SchedulerTimeType.Stride { 0 }

        /// Performs an action soon.
        public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
            let action = HandedOver(action)
            async(group: options?.group, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) {
                action.value()
            }
        }

        /// Performs an action at a time.
        public func schedule(
            after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
            _ action: @escaping () -> Void
        ) {
            let action = HandedOver(action)
            asyncAfter(
                deadline: date.dispatchTime, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []
            ) { action.value() }
        }

        /// Performs an action at a time and then after each interval, until it is cancelled.
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
