import Glibc

/// The system's error numbers in words.
enum SystemError {
    /// The system's words for an error number.
    static func text(of number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, strerror_r(number, base, buffer.count) == 0 else {
                return "error \(number)"
            }
            return String(cString: base)
        }
    }
}
