package import BeaconRadio

/// The settings of a source whose receivers send what they hear over the network.
package protocol NetworkSource: Hashable, Sendable {
    /// The source, for people. It never has a password.
    var title: String { get }

    /// The settings of the receivers.
    var network: ReceiverNetwork.Settings { get set }

    /// True where any client can make up receivers by naming them in messages.
    var namesReceiversInMessages: Bool { get }

    /// Returns the mistakes in the settings, each with its remedy.
    func mistakes() -> [String]

    /// Begins to listen to the receivers.
    ///
    /// - Throws: an error that lists what is wrong with the settings.
    func makeDriver() throws(RadioError) -> any ReceiverDriver

    /// Returns the source as it continues an earlier one, with the identifiers that were made for that one. It is equal
    /// to the earlier one where both have the same settings.
    func continuing(_ earlier: Self) -> Self
}

extension NetworkSource {
    /// True, as for most.
    package var namesReceiversInMessages: Bool { true }

    /// The settings alone.
    package func continuing(_ earlier: Self) -> Self { self }
}
