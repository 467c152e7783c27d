import BeaconConfiguration
import BeaconMonitoring
import BeaconRelay

/// The devices that forward adverts, in the file.
extension ProxySettings {
    /// The keys of the proxy.
    static let grammar = Grammar<Self>(
        ProxySettings(),
        [
            Setting("name", \.name, .text(), default: "`beacon-` and the machine's name", "The device's name."),
            Setting(
                "port", \.port, .integer(1...65_535),
                "The port of the API; with `each`, the port of the first receiver."),
            Setting(
                "each", \.isEach, .boolean,
                "Creates a device for each receiver, instead of one with the adverts of all."),
            Setting("key", \.key, .secret, "The key of the API, 32 bytes as base64; without it, nothing is encrypted."),
            Setting("listen", \.address, .text(), default: "all", "The address to listen on."),
            Setting("announce", \.isAnnounced, .boolean, "Announces the devices in the local network (mDNS)."),
        ]
    ) { section, settings, isWhole in
        for fault in settings.mistakes() { section.report(fault) }
        return isWhole
    }

    /// Reads `proxy: true`, or a mapping; nil if nothing is forwarded.
    ///
    /// - Parameter sources: the sources of the configuration.
    static func read(_ root: ConfigurationSection, sources: [SourceSettings]) -> ProxySettings? {
        var settings = root.read("proxy", .switch(grammar))
        settings?.isOfNetwork = sources.contains { $0.specification.hasReceivers }
        return settings
    }
}
