import CLibrary

/// An error of reading or writing a capture.
public struct CaptureError: Error, Sendable {
    /// The kind of failure. More may come, so a `switch` over codes needs a default.
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
        /// The content is of none of the formats that can be read.
        public static let unknownFormat = Code(value: .unknownFormat)
        /// The format is known, and keeps no adverts that can be read; the message names a way to record them.
        public static let otherFormat = Code(value: .otherFormat)
        /// The format is known, but what it carries is no Bluetooth Low Energy that can be read.
        public static let unsupported = Code(value: .unsupported)
        /// The file ends in the middle of something.
        public static let truncated = Code(value: .truncated)
        /// The file contradicts its format.
        public static let damaged = Code(value: .damaged)
    }

    /// The kind of failure.
    public var code: Code

    /// A sentence or two that say what is wrong and what to do.
    public var message: String

    /// The offset in the content where the trouble begins, in bytes; in compressed files, after decompression. Nil
    /// where no place is to blame.
    public var offset: Int?

    /// The file, as the caller named it, where there is one.
    public var path: String?

    /// The system's own error number, where there is one.
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
    /// One line for people: file, place, what is wrong.
    public var description: String {
        var text = ""
        if let path { text += "\(path): " }
        if let offset { text += "at byte \(offset): " }
        return text + message
    }
}

/// The system's error numbers in words.
enum SystemError {
    /// Returns the system's words for an error number.
    static func text(of number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, strerror_r(number, base, buffer.count) == 0 else {
                return "error \(number)"
            }
            return String(cString: base)
        }
    }
}
