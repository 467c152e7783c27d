import BeaconPrograms
import BeaconService

/// An application of a user.
struct ApplicationKey: Hashable, Sendable, CustomStringConvertible {
    /// Whose it is.
    var account: UserAccount

    /// Which of the user's it is.
    var identity: ApplicationIdentity

    /// The application's name, and whose it is.
    var description: String { "\(identity.name) of \(account.name)" }
}
