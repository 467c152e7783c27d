/// The reason why a text is not read as an iBeacon advert: its form, and the parts that are missing.
public struct PastedAdvertError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. More may come, so a `switch` over codes needs a default.
    public struct Code: Hashable, Sendable {
        private enum Value: Hashable, Sendable {
            case noBytes, notHexadecimal, cutShort, wrongLength, otherCompany, otherBeacon, noManufacturerData
            case identityOnly, noAdvert, unknownForm, missingDigit
        }

        private let value: Value

        /// There is nothing to read.
        public static let noBytes = Code(value: .noBytes)
        /// The text is in no notation of bytes that is known.
        public static let notHexadecimal = Code(value: .notHexadecimal)
        /// The bytes of an iBeacon frame end too early.
        public static let cutShort = Code(value: .cutShort)
        /// A length byte contradicts the bytes behind it.
        public static let wrongLength = Code(value: .wrongLength)
        /// The data is of another company than Apple.
        public static let otherCompany = Code(value: .otherCompany)
        /// The advert is of another kind of beacon, or of another kind of Apple's devices.
        public static let otherBeacon = Code(value: .otherBeacon)
        /// The advert carries no manufacturer specific data.
        public static let noManufacturerData = Code(value: .noManufacturerData)
        /// The bytes are an identity or a part of it, without a frame around.
        public static let identityOnly = Code(value: .identityOnly)
        /// The packet is of another kind than a report of an advert.
        public static let noAdvert = Code(value: .noAdvert)
        /// The bytes are of none of the forms that are known.
        public static let unknownForm = Code(value: .unknownForm)
        /// A byte has half of its digits only, or a dump has fewer bytes than its offsets count.
        public static let missingDigit = Code(value: .missingDigit)
    }

    /// The kind of failure.
    public var code: Code

    /// A sentence or two that name the form and say what is missing.
    public var message: String

    /// Creates an error from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
