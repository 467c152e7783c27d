import BeaconBroker
import BeaconConfiguration
import BeaconDelivery
import BeaconMQTT
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Foundation
package import LinuxRadio
import Logging

/// A trial of a source or a destination: it is opened for some seconds.
package struct ConnectionTrial: Encodable, Sendable {
    /// True if it can be used.
    package var works: Bool
    /// The result as a sentence.
    package var detail: String

    /// How long to listen to a source.
    private static let listening = Duration.seconds(8)

    /// Tries a source.
    ///
    /// - Parameters:
    ///   - source: the source.
    ///   - findings: the findings about the adapters of this machine.
    ///   - isEnding: returns true once the program ends.
    package init(
        of source: SourceSettings, _ findings: [Finding], until isEnding: @escaping @Sendable () -> Bool
    ) async {
        switch source.specification.network {
        case is PostedSource:
            self.init(works: true, detail: "Gateways can post to v1/sources/\(source.name)/adverts once it is saved.")
        case .some:
            var last: GuidedStart.Found?
            for await found in GuidedStart.search(source, for: Self.listening, until: isEnding) {
                last = found
                // A receiver that speaks proves everything.
                if found.receivers.contains(where: { $0.advertsPerMinute > 0 }) { break }
            }
            self.init(last ?? GuidedStart.Found())
        case nil: self.init(of: source.specification, findings)
        }
    }

    private init(works: Bool, detail: String) { (self.works, self.detail) = (works, detail) }

    private init(_ found: GuidedStart.Found) {
        let problems =
            found.faults.map(\.detail) + found.hints.filter { $0.kind == .refused }.map(\.detail)
            + found.devices.compactMap { device in device.problem.map { "\(device.name): \($0)" } }
        guard problems.isEmpty else {
            self.init(works: false, detail: problems.joined(separator: " "))
            return
        }
        let names = found.receivers.map(\.name) + (found.receivers.isEmpty ? found.devices.map(\.name) : [])
        guard !names.isEmpty else {
            self.init(
                works: found.state == .listening,
                detail: found.state == .listening
                    ? "Connected, but no receiver has spoken in \(Self.listening.components.seconds) s."
                    : "Nothing answered in \(Self.listening.components.seconds) s.")
            return
        }
        let shown = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
        self.init(
            works: true,
            detail: found.receivers.isEmpty
                ? "Found \(names.count.counted("proxy", "proxies")): \(shown)."
                : "Connected. \(names.count == 1 ? "1 receiver speaks" : "\(names.count) receivers speak"): \(shown).")
    }

    private init(of specification: SourceSpecification, _ findings: [Finding]) {
        do {
            try specification.validate()
        } catch {
            self.init(works: false, detail: "\(error)".capitalizedFirst + ".")
            return
        }
        let radio = GuidedStart.sources(findings).first { $0.source == "auto" }
        if specification.isAdapter, let radio, !radio.usable {
            self.init(works: false, detail: (radio.reason ?? "No radio can be used").capitalizedFirst + ".")
        } else {
            self.init(works: true, detail: specification.isAdapter ? "The radio can be used." : "It can be opened.")
        }
    }

    /// Tries a destination.
    ///
    /// - Parameter configuration: the configuration in use.
    package init(of destination: DestinationSettings, in configuration: GatewayConfiguration) async {
        switch destination.kind {
        case .mqtt(let broker):
            var options = broker.connection
            // The service may be connected already, with the configured client id.
            options.clientID = BrokerSource.newClientID()
            options.announcesAvailability = false
            let fault = await GuidedStart.Choice.Broker.fault(of: options)
            let at = HostAndPort(host: options.host, port: options.effectivePort).description
            self.init(works: fault == nil, detail: fault?.detail ?? "The broker at \(at) accepts the connection.")
        case .kumulos:
            self.init(works: true, detail: "Kumulos accepts only events of beacons. The first event tries it.")
        case .webhook(let webhook):
            await self.init(of: webhook, named: destination.name)
        }
    }

    private init(of webhook: WebhookSettings, named name: String) async {
        do throws(SinkError) {
            let sink = try WebhookSink(webhook)
            let time = Timestamp(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9))
            let event = BeaconNotification(
                id: EventID(hashing: "trial of \(name) at \(time.nanoseconds)"), kind: .heartbeat, time: time)
            switch await sink.deliver([QueuedNotification(sequence: 0, notification: event)]).first {
            case .delivered?:
                self.init(works: true, detail: "The server accepted a heartbeat, an event without beacons.")
            case .refused(let reason)?, .retry(let reason, _)?:
                self.init(works: false, detail: "The server did not accept a heartbeat: \(reason).")
            case nil: self.init(works: false, detail: "The server did not answer.")
            }
        } catch {
            self.init(works: false, detail: "\(error)".capitalizedFirst + ".")
        }
    }
}
