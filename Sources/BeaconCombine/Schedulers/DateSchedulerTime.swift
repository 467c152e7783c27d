#if Combine || Gateway
    public import Foundation
    public import OpenCombine

    /// A moment of a run loop or of an operation queue.
    public struct DateSchedulerTime: Strideable, Codable, Hashable, Sendable {
        /// The moment.
        public var date: Date

        /// Creates a moment.
        public init(_ date: Date) { self.date = date }

        /// The time from this moment to another.
        public func distance(to other: DateSchedulerTime) -> Stride {
            Stride(other.date.timeIntervalSince(date))
        }

        /// Returns the moment a time later.
        public func advanced(by stride: Stride) -> DateSchedulerTime {
            DateSchedulerTime(date.addingTimeInterval(stride.timeInterval))
        }

        /// A time between two moments, in seconds.
        public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByFloatLiteral,
            Hashable, Codable, Sendable
        {
            /// The seconds.
            public var magnitude: TimeInterval

            /// The seconds.
            public var timeInterval: TimeInterval { magnitude }

            /// Creates a time of so many seconds.
            public init(_ timeInterval: TimeInterval) { magnitude = timeInterval }

            /// Creates a time of so many seconds.
            public init(floatLiteral value: TimeInterval) { self.init(value) }

            /// Creates a time of so many seconds.
            public init(integerLiteral value: TimeInterval) { self.init(value) }

            /// Creates a time of so many seconds; nil where a number of floating point has no place for them.
            public init?(exactly source: some BinaryInteger) {
                guard let seconds = TimeInterval(exactly: source) else { return nil }
                self.init(seconds)
            }

            /// Orders times by their length.
            public static func < (left: Stride, right: Stride) -> Bool { left.magnitude < right.magnitude }
            /// Adds two times.
            public static func + (left: Stride, right: Stride) -> Stride { Stride(left.magnitude + right.magnitude) }
            /// Takes a time from another.
            public static func - (left: Stride, right: Stride) -> Stride { Stride(left.magnitude - right.magnitude) }
            /// Multiplies two times.
            public static func * (left: Stride, right: Stride) -> Stride { Stride(left.magnitude * right.magnitude) }
            /// Adds a time.
            public static func += (left: inout Stride, right: Stride) { left = left + right }
            /// Takes a time away.
            public static func -= (left: inout Stride, right: Stride) { left = left - right }
            /// Multiplies by a time.
            public static func *= (left: inout Stride, right: Stride) { left = left * right }

            /// Returns a time of so many seconds.
            public static func seconds(_ count: Double) -> Stride { Stride(count) }

            /// Returns a time of so many seconds.
            public static func seconds(_ count: Int) -> Stride { Stride(Double(count)) }

            /// Returns a time of so many milliseconds.
            public static func milliseconds(_ count: Int) -> Stride { Stride(Double(count) / 1e3) }

            /// Returns a time of so many microseconds.
            public static func microseconds(_ count: Int) -> Stride { Stride(Double(count) / 1e6) }

            /// Returns a time of so many nanoseconds.
            public static func nanoseconds(_ count: Int) -> Stride { Stride(Double(count) / 1e9) }
        }
    }
#endif
