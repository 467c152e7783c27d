/// Why nothing could be calibrated.
struct CalibrationError: Error, CustomStringConvertible {
    var message: String

    var description: String { message }
}
