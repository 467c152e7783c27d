import BeaconModel

/// The places of what matters in messages of a gateway that this package does not know: JSON with a receiver, an
/// address, a signal strength, perhaps a time, and the advert's bytes, or the fields of an iBeacon that the gateway
/// decoded.
public struct ReceiverMapping: Hashable, Sendable {
    /// The encoding of the advert's bytes.
    public enum Encoding: String, Hashable, Sendable, CaseIterable {
        case hexadecimal = "hex"
        case base64
    }

    /// How numbers in quotation marks are written. One that begins with `0x` is always hexadecimal.
    public enum Numbers: String, Hashable, Sendable, CaseIterable {
        case decimal
        case hexadecimal = "hex"
    }

    /// A name of a receiver: a level of the topic, or a place in the message.
    public enum Name: Hashable, Sendable {
        /// A level of the topic; 1 is the first one.
        case level(Int)
        case path(JSONPath)
        /// Always the same: all messages are of one receiver.
        case fixed(String)
    }

    /// The receiver's name.
    public var receiver: Name
    /// The adverts in a message; nil where the message is one.
    public var each: JSONPath?
    /// The beacon's device address, from the advert; nil where messages have none.
    public var address: JSONPath?
    /// The signal strength in dBm, from the advert.
    public var rssi: JSONPath
    /// The advert's AD structures, or its manufacturer data, from the advert; nil where messages have none.
    public var data: JSONPath?
    /// How these are written.
    public var encoding: Encoding
    /// The fields of an iBeacon, from the advert; nil where the gateway does not decode it. Bytes count more where
    /// there are both.
    public var uuid: JSONPath?
    /// The major value.
    public var major: JSONPath?
    /// The minor value.
    public var minor: JSONPath?
    /// The measured power in dBm, or its byte.
    public var power: JSONPath?
    /// How the major value, the minor value and the power are written where they are texts.
    public var numbers = Numbers.decimal
    /// A word from the advert that says whether the beacon is there; off, false and 0 are no advert.
    public var state: JSONPath?
    /// When it was heard, from the advert, in seconds, milliseconds or microseconds since 1970; nil where messages have
    /// no time.
    public var time: JSONPath?

    /// A mapping to the bytes of adverts.
    public init(
        receiver: Name, each: JSONPath? = nil, address: JSONPath? = nil, rssi: JSONPath, data: JSONPath,
        encoding: Encoding = .hexadecimal, time: JSONPath? = nil
    ) {
        self.receiver = receiver
        self.each = each
        self.address = address
        self.rssi = rssi
        self.data = data
        self.encoding = encoding
        self.time = time
    }

    /// A mapping to the fields of iBeacons that the gateway decoded.
    public init(
        receiver: Name, each: JSONPath? = nil, address: JSONPath? = nil, rssi: JSONPath, uuid: JSONPath,
        major: JSONPath, minor: JSONPath, power: JSONPath? = nil, time: JSONPath? = nil
    ) {
        self.receiver = receiver
        self.each = each
        self.address = address
        self.rssi = rssi
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.power = power
        self.time = time
        encoding = .hexadecimal
    }
}
