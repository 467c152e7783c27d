/// A version of the MQTT protocol.
public enum MQTTVersion: String, Hashable, Sendable, CaseIterable {
    /// Version 3.1.1 of 2014, which every broker speaks. It acknowledges a message that it does not let through all the
    /// same (MQTT 3.1.1, 3.3.5), so that a missing right to publish stays unnoticed.
    case v3_1_1 = "3.1.1"

    /// Version 5.0 of 2019, which gives a reason with each refusal, and takes a message's name as a property.
    case v5 = "5"
}

extension MQTTVersion: CustomStringConvertible {
    /// The number, as people write it.
    public var description: String { rawValue }
}
