import BeaconModel

/// The paths of the fields in messages of an unsupported gateway. Such a message is JSON with a receiver, an address, a
/// signal strength, perhaps a time, and either the advert's bytes or the fields of an iBeacon that the gateway decoded.
public struct ReceiverMapping: Hashable, Sendable {
    /// The encoding of the advert's bytes.
    public enum Encoding: String, Hashable, Sendable, CaseIterable {
        case hexadecimal = "hex"
        case base64
    }

    /// The notation of numbers in quotation marks. A number that begins with `0x` is always hexadecimal.
    public enum Numbers: String, Hashable, Sendable, CaseIterable {
        case decimal
        case hexadecimal = "hex"
    }

    /// The source of a receiver's name: a topic level, or a path in the message.
    public enum Name: Hashable, Sendable {
        /// A topic level; 1 is the first one.
        case level(Int)
        case path(JSONPath)
        /// A constant name: all messages are from one receiver.
        case fixed(String)
    }

    /// The receiver's name.
    public var receiver: Name
    /// The list of adverts in a message; nil if each message is one advert.
    public var each: JSONPath?
    /// The beacon's device address, relative to the advert; nil if messages have none.
    public var address: JSONPath?
    /// The signal strength in dBm, relative to the advert.
    public var rssi: JSONPath
    /// The AD structures or the manufacturer data, relative to the advert; nil if messages have no bytes.
    public var data: JSONPath?
    /// The encoding of the bytes.
    public var encoding: Encoding
    /// The proximity UUID of an iBeacon, relative to the advert; nil if the gateway does not decode iBeacons. If a
    /// message has both, the bytes take precedence.
    public var uuid: JSONPath?
    /// The major value.
    public var major: JSONPath?
    /// The minor value.
    public var minor: JSONPath?
    /// The measured power, in dBm or as a byte.
    public var power: JSONPath?
    /// The notation of the major value, the minor value and the power if they are strings.
    public var numbers = Numbers.decimal
    /// A value of the advert that shows whether the beacon is present; off, false and 0 are not adverts.
    public var state: JSONPath?
    /// The time at which the gateway heard it, relative to the advert, in seconds, milliseconds or microseconds since
    /// 1970; nil if messages have no time.
    public var time: JSONPath?

    /// Creates a mapping for the bytes of adverts, for the fields of iBeacons that the gateway decoded, or for both.
    public init(
        receiver: Name, each: JSONPath? = nil, address: JSONPath? = nil, rssi: JSONPath, data: JSONPath? = nil,
        encoding: Encoding = .hexadecimal, uuid: JSONPath? = nil, major: JSONPath? = nil, minor: JSONPath? = nil,
        power: JSONPath? = nil, time: JSONPath? = nil
    ) {
        self.receiver = receiver
        self.each = each
        self.address = address
        self.rssi = rssi
        self.data = data
        self.encoding = encoding
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.power = power
        self.time = time
    }
}
