package import BeaconRadio
package import BeaconSupport

/// Gateways that post adverts by HTTP as a source. The HTTP server adds their requests to its queue.
package struct PostedSource: NetworkSource {
    /// The name of the source.
    package var name: String
    /// The token that gateways send; nil before it is known.
    package var token: Secret?
    /// The settings of the receivers.
    package var network = ReceiverNetwork.Settings()
    /// The requests that the driver has not read yet.
    package let queue = PostQueue()

    /// The shortest token, in characters: 16 are too many to guess.
    package static let shortestToken = 16

    /// Creates a source with this name.
    package init(name: String) { self.name = name }

    package var title: String { name }

    package func makeDriver() throws(RadioError) -> any ReceiverDriver { try PostedDriver(self) }

    /// Returns the source with the queue of an earlier one.
    package func continuing(_ earlier: PostedSource) -> PostedSource {
        var source = earlier
        (source.name, source.token, source.network) = (name, token, network)
        return source
    }

    /// Returns the mistakes in the settings, each with its remedy.
    package func mistakes() -> [String] {
        guard let token else {
            return ["\"token\" is missing: write { env: NAME } or { file: PATH } of the gateways' token"]
        }
        guard token.reveal().utf8.count < Self.shortestToken else { return [] }
        return ["the token is shorter than \(Self.shortestToken) characters; make one with 'openssl rand -hex 16'"]
    }
}
