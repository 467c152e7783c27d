/// The UUID of a service, a characteristic or a descriptor: 16, 32 or 128 bits.
///
/// A short UUID stands for a long one: the Bluetooth Base UUID `00000000-0000-1000-8000-00805F9B34FB` with the short
/// UUID's bits in its first four bytes. The two are equal and have the same hash.
open class CBUUID: NSObject, NSCopying {
    /// The 2, 4 or 16 bytes of the UUID, most significant first, in its original length.
    open var data: Data { Data(bytes) }

    /// The UUID as hexadecimal digits in upper case, in its original length: `180D`, or with the usual hyphens.
    open var uuidString: String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if bytes.count == 16, [4, 6, 8, 10].contains(index) { text += "-" }
            text += byte < 16 ? "0" : ""
            text += String(byte, radix: 16, uppercase: true)
        }
        return text
    }

    private let bytes: [UInt8]

    /// Creates a UUID from its text: 4 or 8 hexadecimal digits, or 32 with hyphens, as in
    /// `68753A44-4D6F-1226-9C60-0050E4C00067`.
    ///
    /// - Precondition: the text has one of these forms. Apple's class raises an exception otherwise.
    public init(string theString: String) {
        guard let bytes = Self.bytes(of: theString) else {
            preconditionFailure("\"\(theString)\" is not a UUID of 16, 32 or 128 bits")
        }
        self.bytes = bytes
        super.init()
    }

    /// Creates a UUID from its bytes, most significant first.
    ///
    /// - Precondition: there are 2, 4 or 16 bytes. Apple's class raises an exception otherwise.
    public init(data theData: Data) {
        precondition([2, 4, 16].contains(theData.count), "a UUID has 2, 4 or 16 bytes, not \(theData.count)")
        bytes = [UInt8](theData)
        super.init()
    }

    /// Creates a unique UUID.
    public override convenience init() { self.init(nsuuid: UUID()) }

    /// Creates a UUID of 128 bits.
    public init(nsuuid theUUID: UUID) {
        bytes = withUnsafeBytes(of: theUUID.uuid) { [UInt8]($0) }
        super.init()
    }

    /// Returns the UUID itself, since it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if the other UUID stands for the same 128 bits.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CBUUID else { return false }
        return other === self || other.expanded == expanded
    }

    /// The hash of the 128 bits.
    open override var hash: Int { expanded.hashValue }

    /// The text form.
    open override var description: String { uuidString }

    /// All 16 bytes.
    private var expanded: [UInt8] {
        let base: [UInt8] = [0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0x80, 0x5F, 0x9B, 0x34, 0xFB]
        return switch bytes.count {
        case 2: [0, 0] + bytes + base
        case 4: bytes + base
        default: bytes
        }
    }

    /// Returns the bytes of a text form, or nil if the text is invalid.
    private static func bytes(of text: String) -> [UInt8]? {
        if text.utf8.count == 36 {
            return UUID(uuidString: text).map { uuid in withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) } }
        }
        guard [4, 8].contains(text.utf8.count) else { return nil }
        var bytes: [UInt8] = []
        var half: UInt8?
        for character in text {
            guard character.isASCII, let digit = character.hexDigitValue else { return nil }
            if let high = half {
                bytes.append(high << 4 | UInt8(digit))
                half = nil
            } else {
                half = UInt8(digit)
            }
        }
        return bytes
    }
}

// Assigned by the Bluetooth SIG (Assigned Numbers, descriptors).

/// The descriptor with further properties of a characteristic.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"

/// The descriptor with a description of a characteristic for people.
public let CBUUIDCharacteristicUserDescriptionString = "2901"

/// The descriptor with which a client requests notifications.
public let CBUUIDClientCharacteristicConfigurationString = "2902"

/// The descriptor that makes a server broadcast.
public let CBUUIDServerCharacteristicConfigurationString = "2903"

/// The descriptor for the format of a characteristic's value.
public let CBUUIDCharacteristicFormatString = "2904"

/// The descriptor that combines several formats.
public let CBUUIDCharacteristicAggregateFormatString = "2905"

/// The descriptor for the valid range of a characteristic's value.
public let CBUUIDCharacteristicValidRangeString = "2906"

/// The descriptor for the times at which a characteristic is observed.
public let CBUUIDCharacteristicObservationScheduleString = "2910"

// Apple's own UUID, since Bluetooth does not define one.

/// The characteristic with the number of a channel that a peripheral publishes.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"
