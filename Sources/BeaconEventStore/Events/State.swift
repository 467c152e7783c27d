public import BeaconModel
public import Foundation

/// A value of the state.
public struct StateRow: Hashable, Sendable {
    /// The kind of value.
    public var namespace: String
    /// The key within the namespace.
    public var key: String
    /// The value.
    public var value: Data
    /// The sender whose bounds it counts for.
    public var sender: String?
    /// The time of the newest change, by the store's wall clock.
    public var modified: Timestamp
}

/// The bounds of a namespace of the state. Beyond them, the values with the oldest changes are removed first.
public struct StateLimits: Hashable, Sendable {
    /// The maximum number of values. Above 1 000, a few more than necessary are removed at once.
    public var rows: Int
    /// The maximum number of bytes of all values.
    public var bytes: Int
    /// The longest time without a change; nil for no bound.
    public var age: Duration?
    /// The maximum number of values of one sender.
    public var rowsPerSender: Int
    /// The maximum number of bytes of one sender's values.
    public var bytesPerSender: Int

    /// Creates bounds.
    ///
    /// - Parameters:
    ///   - rows: the maximum number of values.
    ///   - bytes: the maximum number of bytes of all values.
    ///   - age: the longest time without a change; nil for no bound.
    ///   - rowsPerSender: the maximum number of values of one sender.
    ///   - bytesPerSender: the maximum number of bytes of one sender's values.
    public init(
        rows: Int = 10_000, bytes: Int = 16 << 20, age: Duration? = nil, rowsPerSender: Int = 1_000,
        bytesPerSender: Int = 1 << 20
    ) {
        self.rows = rows
        self.bytes = bytes
        self.age = age
        self.rowsPerSender = rowsPerSender
        self.bytesPerSender = bytesPerSender
    }
}

/// A change of one value of the state.
public struct StateChange: Hashable, Sendable {
    /// The kind of value.
    public var namespace: String
    /// The key within the namespace.
    public var key: String
    /// The value; nil to remove it.
    public var value: Data?
    /// The sender whose bounds the value counts for.
    public var sender: String?

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - namespace: the kind of value.
    ///   - key: the key within the namespace.
    ///   - value: the value; nil to remove it.
    ///   - sender: the sender whose bounds it counts for.
    public init(namespace: String, key: String, value: Data?, sender: String? = nil) {
        (self.namespace, self.key, self.value) = (namespace.canonical, key.canonical, value)
        self.sender = sender?.canonical
    }

    /// The largest value, in bytes.
    public static let maximumValue = 8 << 20

    var fault: String? {
        if let value, value.count > Self.maximumValue {
            return "it has \(value.count) bytes of at most \(Self.maximumValue)"
        }
        return [namespace, key, sender].compactMap { $0.flatMap(Event.fault(ofText:)) }.first
    }
}
