/// What centrals may do with an attribute.
public struct CBAttributePermissions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Permissions from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Read it.
    public static let readable = CBAttributePermissions(rawValue: 0x01)

    /// Write it.
    public static let writeable = CBAttributePermissions(rawValue: 0x02)

    /// Read it, if trusted.
    public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x04)

    /// Write it, if trusted.
    public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x08)
}
