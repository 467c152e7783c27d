import CLibrary

/// An error of reading or writing a capture.
public struct CaptureError: Error, Sendable {
    /// The kind of failure.
    public enum Code: Sendable {
        case cannotOpen, cannotRead, cannotWrite, unknownFormat, otherFormat, unsupported, truncated, damaged
    }

    /// The kind of failure.
    public var code: Code

    /// One or two sentences with the fault and the remedy.
    public var message: String

    /// The offset of the fault in the content, in bytes; in compressed files, after decompression. Nil if the fault has
    /// no place.
    public var offset: Int?

    /// True if the content, in which the fault has its offset, is unpacked data of the file.
    public var isUnpacked = false

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
        if let offset { text += "at byte \(offset)\(isUnpacked ? " of the unpacked data" : ""): " }
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
