import BeaconGateway
import BeaconSupport
import NIOCore

extension WebSettings {
    /// Returns true for a connection within this machine: of loopback, or to the machine's own network address, where
    /// it comes from the same address.
    ///
    /// - Parameters:
    ///   - remote: the plain address of the other end; nil for sockets without one.
    ///   - local: the plain address that the connection came to.
    static func isLocal(_ remote: String?, to local: String?) -> Bool {
        remote.map { isLoopback($0) || $0 == local } ?? true
    }

    /// Returns true for the address of a proxy that has signed its users in.
    ///
    /// - Parameter address: the plain address of the other end of a connection; nil where it is unknown.
    func trusts(_ address: String?) -> Bool { address.map(trustedProxies.contains) ?? false }

    /// Returns true for a host that no page can have bound to this machine.
    ///
    /// Any page can have its own name resolve to this machine (DNS rebinding). The browser then takes the page's
    /// requests for the console's own, and only the name in them tells. The console knows the names of loopback, the
    /// address that the connection came to, the address that it listens on and the configured names. ``anyName`` counts
    /// for a trusted proxy on another machine alone: it asks its users who they are, and no browser connects from
    /// there.
    ///
    /// - Parameters:
    ///   - authority: the host with or without a port, as in the header `Host`. No invalid one is known.
    ///   - context: the connection that the request came by.
    func knows(_ authority: String, in context: WebContext) -> Bool {
        guard let host = Self.host(of: authority) else { return false }
        if Self.isLoopback(host) || host == self.host.lowercased() || host == context.localAddress { return true }
        if names.contains(where: { $0.lowercased() == host }) { return true }
        return trusts(context.remoteAddress) && !context.isLocal && names.contains(Self.anyName)
    }

    /// Returns the host of a host and a port: in small letters, an address in the form of
    /// ``SocketAddress/plainAddress``. It is nil for invalid text.
    private static func host(of authority: String) -> String? {
        guard let host = try? HostAndPort(bracketed: authority).host.lowercased() else { return nil }
        return (try? SocketAddress(ipAddress: host, port: 0))?.plainAddress ?? host
    }
}
