/// Whether a write is answered.
public enum CBCharacteristicWriteType: Int, Sendable, BitwiseCopyable {
    /// It is.
    case withResponse = 0

    /// It is not.
    case withoutResponse = 1
}
