package import BeaconRadio

/// The settings of a source whose receivers send their adverts over the network.
package protocol NetworkSource: Hashable, Sendable {
    /// The source, for people. It never contains a password.
    var title: String { get }

    /// The settings of the receivers.
    var network: ReceiverNetwork.Settings { get set }

    /// True if receivers may appear that the user did not choose: other programs can make them up.
    var admitsStrangers: Bool { get }

    /// Returns the mistakes in the settings, each with its remedy.
    func mistakes() -> [String]

    /// Starts to listen to the receivers.
    ///
    /// - Throws: an error that lists the mistakes in the settings.
    func makeDriver() throws(RadioError) -> any ReceiverDriver

    /// Returns the source with the generated identifiers of an earlier one, which it continues. The result equals the
    /// earlier source if both have the same settings.
    func continuing(_ earlier: Self) -> Self
}

extension NetworkSource {
    /// True for most sources.
    package var admitsStrangers: Bool { true }

    /// Returns the source unchanged.
    package func continuing(_ earlier: Self) -> Self { self }
}
