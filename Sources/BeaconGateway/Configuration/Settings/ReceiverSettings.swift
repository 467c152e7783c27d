import BeaconConfiguration
import BeaconMonitoring
import BeaconReceivers

/// Bluetooth proxies of ESPHome among the sources.
extension ESPHomeSource {
    /// Reads the devices and how to connect to them.
    static func read(_ section: ConfigurationSection) -> ESPHomeSource {
        var source = ESPHomeSource()
        let hosts = section.texts("hosts", "write names or addresses, as in [hall.local, \"192.168.1.20\"]") ?? []
        source.nodes = hosts.map { Node(text: $0.value) }
        source.key = section.secret("key")
        source.mayTake = section.boolean("take") ?? false
        section.finish()
        for fault in source.mistakes() { section.report(section.origin, "\(section.subject)\(fault)") }
        return source
    }
}

/// Gateways that post what they hear among the sources.
extension PostedSource {
    /// Reads by what gateways are known.
    static func read(_ section: ConfigurationSection, name: String) -> PostedSource {
        var source = PostedSource(name: name)
        source.token = section.secret("token")
        section.finish()
        // What is wrong with a secret is told already.
        if !section.has("token") || source.token != nil {
            for fault in source.mistakes() { section.report(section.origin, "\(section.subject)\(fault)") }
        }
        return source
    }
}

extension ReceiverNetwork.Settings {
    /// The keys of a source that say what is known of its receivers.
    static let keys = ["receivers", "empty-after"]

    /// Reads where things are in messages of another kind.
    mutating func readMapping(_ section: ConfigurationSection) {
        guard section.has("mapping") else {
            _ = section.node("mapping")
            return
        }
        mapping = ReceiverMapping.read(section.section("mapping"))
    }

    /// Reads what is known of the receivers of a source.
    mutating func read(_ section: ConfigurationSection) {
        names = section.textsByKey("receivers", "write names, as in \"c8:25:2d:8e:9c:2c: hall\"")
        let time = section.durationOrOff("empty-after", .seconds(10)...(.seconds(86_400)))
        switch time {
        case nil: break
        case .some(nil): emptyAfter = .max
        case .some(let time?): emptyAfter = Int64(time / .nanoseconds(1))
        }
    }
}
