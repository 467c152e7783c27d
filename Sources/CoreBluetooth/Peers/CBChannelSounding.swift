/// The role of a device in measurements of a distance. Nothing is measured here; the types of iOS 27 exist so that code
/// for it compiles.
open class CBChannelSoundingSessionConfiguration: NSObject {
    /// A role.
    public enum Role: Int, Sendable, BitwiseCopyable {
        /// The device starts each measurement. Apple does not document the number.
        case initiator = 0
    }

    /// The role.
    public let role: Role

    /// Creates a configuration.
    public init(role: Role) {
        self.role = role
    }
}

/// A measured distance. It is never delivered here.
open class CBChannelSoundingProcedureResults: NSObject {
    /// Meters.
    open var distance: Double { 0 }
}
