import BeaconDelivery
import BeaconEngine
import BeaconMQTT
import BeaconService
import Foundation
import Logging

extension Addressee {
    /// What a destination's settings say.
    ///
    /// - Parameters:
    ///   - settings: the destination.
    ///   - configuration: all else, of which brokers are told too.
    ///   - stateFolder: where a name that is made once is kept; nil for a dry run, which keeps nothing.
    ///   - logger: where it logs.
    /// - Throws: why it cannot work.
    init(
        _ settings: DestinationSettings, in configuration: GatewayConfiguration, stateFolder: URL?, logger: Logger
    ) throws {
        let filter = DestinationFilter(regions: settings.regions)
        let sink: any Sink
        var receive: (@Sendable (SessionEvent) -> Void)?
        switch settings.kind {
        case .webhook(let webhook):
            var configuration = WebhookConfiguration(url: webhook.url)
            for header in webhook.headers { configuration.headers[header.name] = header.value }
            if let secret = webhook.signingSecret { configuration.signingSecrets = [secret] }
            configuration.maximumBatch = webhook.batch
            configuration.http.connectTimeout = webhook.connectTimeout
            configuration.http.requestTimeout = webhook.timeout
            configuration.http.proxy = webhook.proxy.flatMap(HTTPProxy.init)
            if let file = webhook.authorityFile {
                configuration.http.additionalTrustRoots = [URL(fileURLWithPath: file)]
            }
            sink = try WebhookSink(configuration)
        case .kumulos(let kumulos):
            let id = try kumulos.installID ?? InstallID(name: settings.name, in: stateFolder).value
            var configuration = KumulosConfiguration(
                apiKey: kumulos.apiKey, secretKey: kumulos.secretKey, installID: id)
            if let url = kumulos.url { configuration.baseURL = url }
            sink = try KumulosSink(configuration)
        case .mqtt(let mqtt):
            let broker = try MQTTSink(mqtt, for: settings, in: configuration, logger: logger)
            receive = { broker.receive($0) }
            sink = broker
        }
        self.init(
            destination: Destination(
                name: settings.name, sink: FilteredSink(sink: sink, filter: filter), kinds: settings.news),
            filter: filter, receive: receive)
    }
}

extension HTTPProxy {
    /// The proxy that an address names, with the user and password in it.
    fileprivate init?(_ url: URL) {
        guard let host = url.host else { return nil }
        // RFC 9110, 4.2: what stands for the port where none is given.
        let port = url.port ?? (url.scheme == "https" ? 443 : 80)
        self.init(host: host, port: port, username: url.user, password: url.password.map { Secret($0) })
    }
}
