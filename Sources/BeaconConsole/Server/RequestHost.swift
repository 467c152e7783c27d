import BeaconGateway
import BeaconSupport
import NIOCore

extension WebSettings {
    /// Returns true for a connection within this machine: over loopback, or between one and the same address.
    ///
    /// - Parameters:
    ///   - remote: the plain address of the other end; nil for sockets without one.
    ///   - local: the plain address that the connection came to.
    static func isLocal(_ remote: String?, to local: String?) -> Bool {
        remote.map { isLoopback($0) || $0 == local } ?? true
    }

    /// Returns true for the address of a trusted proxy, which authenticates its users.
    ///
    /// - Parameter address: the plain address of the other end of a connection, or nil if it is unknown.
    func trusts(_ address: String?) -> Bool { address.map(trustedProxies.contains) ?? false }

    /// Returns true for a host that no foreign page can have bound to this machine.
    ///
    /// Any page can make its own name resolve to this machine (DNS rebinding). The browser then treats the page's
    /// requests as the console's own, and only the name in them is different. The console knows the names of loopback,
    /// the address that the connection came to, the address that it listens on and the configured names. ``anyName``
    /// counts only for a trusted proxy on another machine: that proxy authenticates its users, and no browser connects
    /// from there.
    ///
    /// - Parameters:
    ///   - authority: the host with or without a port, as in the header `Host`. Invalid text is never known.
    ///   - context: the connection of the request.
    func knows(_ authority: String, in context: WebContext) -> Bool {
        guard let host = Self.host(of: authority) else { return false }
        if Self.isLoopback(host) || host == self.host.lowercased() || host == context.localAddress { return true }
        if names.contains(where: { $0.lowercased() == host }) { return true }
        return trusts(context.remoteAddress) && !context.isLocal && names.contains(Self.anyName)
    }

    /// Returns the host part of an authority in lower case, or nil for invalid text. An address has the form of
    /// ``SocketAddress/plainAddress``.
    private static func host(of authority: String) -> String? {
        guard let host = try? HostAndPort(bracketed: authority).host.lowercased() else { return nil }
        return (try? SocketAddress(ipAddress: host, port: 0))?.plainAddress ?? host
    }
}
