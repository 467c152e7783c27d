import BeaconModel

/// The places of what matters in messages of a gateway that this package does not know: JSON with a receiver, an
/// address, a signal strength, the advert's bytes and perhaps a time.
public struct ReceiverMapping: Hashable, Sendable {
    /// The encoding of the advert's bytes.
    public enum Encoding: String, Hashable, Sendable, CaseIterable {
        case hexadecimal = "hex"
        case base64
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
    /// The advert's AD structures, from the advert.
    public var data: JSONPath
    /// How these are written.
    public var encoding: Encoding
    /// When it was heard, from the advert, in seconds, milliseconds or microseconds since 1970; nil where messages have
    /// no time.
    public var time: JSONPath?

    /// A mapping from its parts.
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
}
