/// The reason why a text cannot be read as an iBeacon advert: its form, and the missing parts.
public struct PastedAdvertError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. Future versions may add kinds, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case noBytes, notHexadecimal, cutShort, wrongLength, otherCompany, otherBeacon, noManufacturerData
            case identityOnly, noAdvert, unknownForm, missingDigit
        }

        private let value: Value

        /// The text is empty.
        public static let noBytes = Code(value: .noBytes)
        /// The text has an unknown notation of bytes.
        public static let notHexadecimal = Code(value: .notHexadecimal)
        /// The bytes of an iBeacon frame end too early.
        public static let cutShort = Code(value: .cutShort)
        /// A length byte contradicts the bytes after it.
        public static let wrongLength = Code(value: .wrongLength)
        /// The data belongs to a company other than Apple.
        public static let otherCompany = Code(value: .otherCompany)
        /// The advert belongs to another kind of beacon, or to another kind of Apple device.
        public static let otherBeacon = Code(value: .otherBeacon)
        /// The advert has no manufacturer specific data.
        public static let noManufacturerData = Code(value: .noManufacturerData)
        /// The bytes are an identity or a part of it, without a frame.
        public static let identityOnly = Code(value: .identityOnly)
        /// The packet is not an advertising report.
        public static let noAdvert = Code(value: .noAdvert)
        /// The bytes have an unknown form.
        public static let unknownForm = Code(value: .unknownForm)
        /// A byte has only one digit, or a dump has fewer bytes than its offsets.
        public static let missingDigit = Code(value: .missingDigit)
    }

    /// The kind of failure.
    public var code: Code

    /// One or two sentences with the form and the missing parts.
    public var message: String

    /// Creates an error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
