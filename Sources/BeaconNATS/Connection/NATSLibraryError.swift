import BeaconSupport
import CNATS

/// An error of libnats, with its original text.
struct NATSLibraryError: Error, Hashable, CustomStringConvertible {
    /// The status that the call returned.
    let status: natsStatus

    /// The library's or the server's description of the error.
    let description: String

    /// Creates the error of a status.
    ///
    /// - Parameter text: the text of the server or the library; nil for the library's name of the status.
    init(_ status: natsStatus, _ text: String?) {
        self.status = status
        if let text, !text.isEmpty {
            description = text.printable
        } else {
            var problem: UnsafePointer<CChar>?
            let functions = beacon_nats_load(&problem)
            description = functions.map { String(cString: $0.pointee.natsStatus_GetText(status)) } ?? "unknown"
        }
    }

    static func == (one: Self, other: Self) -> Bool {
        one.status.rawValue == other.status.rawValue && one.description == other.description
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(status.rawValue)
        hasher.combine(description)
    }

    /// Returns the user-facing error of an attempt to connect.
    func connectionError(to address: NATSAddress) -> NATSError {
        switch status {
        case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED:
            return NATSError(
                .notAuthorized,
                "The server at \(address.title) did not accept the credentials: user and password, token or file of "
                    + "credentials.", cause: self)
        case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_WANTED, NATS_SECURE_CONNECTION_REQUIRED:
            return NATSError(
                .tlsFailed,
                "Cannot establish TLS with \(address.title). "
                    + [
                        "the server's certificate is from an untrusted authority, or for another name",
                        "the server does not accept this client's certificate, or asks for one",
                        "one side does not use TLS: write tls:// or nats://",
                    ].asPossibleCauses, cause: self)
        case NATS_TIMEOUT:
            return NATSError(
                .unreachable,
                "The server at \(address.title) did not answer in time. "
                    + [
                        "the network is slow or has stopped", "something other than a NATS server listens there",
                    ].asPossibleCauses, cause: self)
        default:
            return NATSError(
                .unreachable,
                "Cannot connect to \(address.title). "
                    + [
                        "the server is not running", "the host or the port is wrong", "a firewall is in between",
                    ].asPossibleCauses, cause: self)
        }
    }

    /// Returns the error of a connection that ended.
    func endError(of address: NATSAddress) -> NATSError {
        switch status {
        case NATS_CONNECTION_AUTH_FAILED:
            NATSError(
                .notAuthorized,
                "The server at \(address.title) ended the connection: the credentials are no longer accepted; renew "
                    + "them.",
                cause: self)
        case NATS_STALE_CONNECTION:
            NATSError(.notConnected, "The server at \(address.title) was silent for too long.", cause: self)
        default:
            NATSError(.notConnected, "The connection to \(address.title) was lost.", cause: self)
        }
    }
}
