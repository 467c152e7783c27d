#if Combine || Gateway
    public import Foundation
    public import OpenCombine

    /// A time of a run loop or an operation queue.
    public struct DateSchedulerTime: Strideable, Codable, Hashable, Sendable {
        /// The date.
        public var date: Date

        /// Creates a time from a date.
        public init(_ date: Date) { self.date = date }

        /// Returns the interval from this time to another.
        public func distance(to other: DateSchedulerTime) -> Stride {
            Stride(other.date.timeIntervalSince(date))
        }

        /// Returns the time after an interval.
        public func advanced(by stride: Stride) -> DateSchedulerTime {
            DateSchedulerTime(date.addingTimeInterval(stride.timeInterval))
        }

        /// An interval between two times, in seconds.
        public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByFloatLiteral,
            Hashable, Codable, Sendable
        {
            /// The seconds.
            public var magnitude: TimeInterval

            /// The seconds.
            public var timeInterval: TimeInterval { magnitude }

            /// Creates an interval from seconds.
            public init(_ timeInterval: TimeInterval) { magnitude = timeInterval }

            /// Creates an interval from seconds.
            public init(floatLiteral value: TimeInterval) { self.init(value) }

            /// Creates an interval from seconds.
            public init(integerLiteral value: TimeInterval) { self.init(value) }

            /// Creates an interval from seconds; nil if a Double cannot represent them exactly.
            public init?(exactly source: some BinaryInteger) {
                guard let seconds = TimeInterval(exactly: source) else { return nil }
                self.init(seconds)
            }

            /// Orders intervals by length.
            public static func < (left: Stride, right: Stride) -> Bool { left.magnitude < right.magnitude }
            /// Adds two intervals.
            public static func + (left: Stride, right: Stride) -> Stride { Stride(left.magnitude + right.magnitude) }
            /// Subtracts an interval.
            public static func - (left: Stride, right: Stride) -> Stride { Stride(left.magnitude - right.magnitude) }
            /// Multiplies two intervals.
            public static func * (left: Stride, right: Stride) -> Stride { Stride(left.magnitude * right.magnitude) }
            /// Adds an interval.
            public static func += (left: inout Stride, right: Stride) { left = left + right }
            /// Subtracts an interval.
            public static func -= (left: inout Stride, right: Stride) { left = left - right }
            /// Multiplies by an interval.
            public static func *= (left: inout Stride, right: Stride) { left = left * right }

            /// Returns an interval from seconds.
            public static func seconds(_ count: Double) -> Stride { Stride(count) }

            /// Returns an interval from seconds.
            public static func seconds(_ count: Int) -> Stride { Stride(Double(count)) }

            /// Returns an interval from milliseconds.
            public static func milliseconds(_ count: Int) -> Stride { Stride(Double(count) / 1e3) }

            /// Returns an interval from microseconds.
            public static func microseconds(_ count: Int) -> Stride { Stride(Double(count) / 1e6) }

            /// Returns an interval from nanoseconds.
            public static func nanoseconds(_ count: Int) -> Stride { Stride(Double(count) / 1e9) }
        }
    }
#endif
