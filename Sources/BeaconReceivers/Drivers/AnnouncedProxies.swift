package import BeaconModel
import BeaconSupport

/// The ESPHome devices that announce themselves in the local network.
package final class AnnouncedProxies {
    /// A device.
    package struct Device: Hashable, Sendable {
        /// Its name in the network, without the domain.
        package var name: String
        /// Its host, with the port if it is not the default.
        package var host: String
        /// Its address; nil before it is known.
        package var address: String?
        /// True if it needs a key.
        package var isEncrypted: Bool
    }

    private let browser: ServiceBrowser

    /// Starts to look for devices.
    package init(at time: Timestamp) { browser = ServiceBrowser(all: true, hosts: [], at: time) }

    /// Reads the answers, sends the questions that are due, and returns the devices by name.
    package func devices(at time: Timestamp) -> [Device] {
        browser.process(at: time)
        return browser.services.map { name, service in
            Device(
                name: String(name.prefix { $0 != "." }).printable,
                host: service.port == ESPHomeSource.port
                    ? service.host : HostAndPort(host: service.host, port: service.port).description,
                address: browser.address(of: service.host).map { $0.map(String.init).joined(separator: ".") },
                isEncrypted: browser.encrypted.contains(name))
        }.sorted { $0.name < $1.name }
    }
}
