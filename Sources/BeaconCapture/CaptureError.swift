import CLibrary

/// An error of reading or writing a capture.
public struct CaptureError: Error, Sendable {
    /// The kind of failure. Future versions may add kinds, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case cannotOpen, cannotRead, cannotWrite, unknownFormat, otherFormat, unsupported, truncated, damaged
        }

        private let value: Value

        /// The file cannot be opened.
        public static let cannotOpen = Code(value: .cannotOpen)
        /// The system reported an error while reading.
        public static let cannotRead = Code(value: .cannotRead)
        /// The system reported an error while writing.
        public static let cannotWrite = Code(value: .cannotWrite)
        /// The content has an unknown format.
        public static let unknownFormat = Code(value: .unknownFormat)
        /// The format is known but has no readable adverts; the message explains how to record them.
        public static let otherFormat = Code(value: .otherFormat)
        /// The format is known, but its packets are not readable Bluetooth Low Energy.
        public static let unsupported = Code(value: .unsupported)
        /// The file ends too early.
        public static let truncated = Code(value: .truncated)
        /// The file contradicts its format.
        public static let damaged = Code(value: .damaged)
    }

    /// The kind of failure.
    public var code: Code

    /// One or two sentences with the fault and the remedy.
    public var message: String

    /// The offset of the fault in the content, in bytes; in compressed files, after decompression. Nil if the fault has
    /// no place.
    public var offset: Int?

    /// The caller's name of the file, if there is one.
    public var path: String?

    /// The system's error number, if there is one.
    public var systemError: Int32?

    /// Creates an error from its parts.
    public init(_ code: Code, _ message: String, offset: Int? = nil, path: String? = nil, systemError: Int32? = nil) {
        self.code = code
        self.message = message
        self.offset = offset
        self.path = path
        self.systemError = systemError
    }
}

extension CaptureError: CustomStringConvertible {
    /// A line with file, place and fault, for people.
    public var description: String {
        var text = ""
        if let path { text += "\(path): " }
        if let offset { text += "at byte \(offset): " }
        return text + message
    }
}

/// The descriptions of the system's error numbers.
enum SystemError {
    /// Returns the system's description of an error number.
    static func text(of number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, strerror_r(number, base, buffer.count) == 0 else {
                return "error \(number)"
            }
            return String(cString: base)
        }
    }
}
