import BeaconSupport

extension MQTTSettings {
    /// The broker's host and port, for messages.
    var address: String { HostAndPort(host: resolvedHost, port: effectivePort).description }

    /// The host as the system resolves it.
    var resolvedHost: String { (try? HostAndPort(host).host) ?? host }

    /// The mistake in the host, with its remedy; nil for a valid host.
    var hostMistake: String? {
        hostRemedy.map { "host is \(host.isEmpty ? "empty" : "\"\(host.shownAddress)\""); \($0)" }
    }

    /// The remedy if the host is not a name or an address; nil for a valid host.
    private var hostRemedy: String? {
        let name = "write the broker's name or address"
        if let scheme = host.firstRange(of: "://") {
            return name + " alone" + (host[..<scheme.lowerBound].hasSuffix("s") ? ", and \"tls: true\"" : "")
        }
        do throws(AddressError) {
            guard try HostAndPort(host).port == nil else { return name + " alone, and its port as port" }
            return host.hasPrefix("[") ? name + " alone" : nil
        } catch {
            switch error.code {
            case .emptyHost: return name
            case .invalidPort: return name + " alone, and its port as port"
            default: return name + " alone"
            }
        }
    }
}
