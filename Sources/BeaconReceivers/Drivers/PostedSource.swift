package import BeaconRadio
package import BeaconSupport

/// Gateways that post what they hear as a source: who takes their requests adds these to its queue.
package struct PostedSource: NetworkSource {
    /// The name of the source.
    package var name: String
    /// The token that gateways show; nil before it is known.
    package var token: Secret?
    /// The settings of the receivers.
    package var network = ReceiverNetwork.Settings()
    /// Where requests wait.
    package let queue = PostQueue()

    /// The shortest token, in characters: one of 16 cannot be guessed in any time.
    package static let shortestToken = 16

    /// A source of this name.
    package init(name: String) { self.name = name }

    package var title: String { name }

    package func makeDriver() throws(RadioError) -> any ReceiverDriver { try PostedDriver(self) }

    /// Returns the source with the queue that was made for an earlier one.
    package func continuing(_ earlier: PostedSource) -> PostedSource {
        var source = earlier
        (source.name, source.token, source.network) = (name, token, network)
        return source
    }

    /// Returns the mistakes in the settings, each with its remedy.
    package func mistakes() -> [String] {
        guard let token else {
            return ["\"token\" is missing: write { env: NAME } or { file: PATH }, where the token of the gateways is"]
        }
        guard token.reveal().utf8.count < Self.shortestToken else { return [] }
        return ["the token is shorter than \(Self.shortestToken) characters; make one with 'openssl rand -hex 16'"]
    }
}
