import CLibrary
import CMosquitto

/// An error of libmosquitto, in its own words.
struct MosquittoError: Error, Hashable, CustomStringConvertible {
    /// The code that the call returned.
    var code: Int32

    /// The system's error number, where the code refers to it; 0 where it does not.
    var systemError: Int32

    /// The TLS library's message, where it has one.
    var tlsMessage: String?

    /// The message of the TLS library, of the system, or of libmosquitto.
    var description: String {
        if let tlsMessage { return tlsMessage }
        if systemError != 0 { return String(cString: strerror(systemError)) }
        // It has no words for this one.
        if code == MOSQ_ERR_KEEPALIVE.rawValue { return "nothing came from it for too long" }
        var problem: UnsafePointer<CChar>?
        return beacon_mosquitto_load(&problem).map { String(cString: $0.pointee.strerror(code)) } ?? "error \(code)"
    }

    /// Returns the error for a user.
    ///
    /// - Parameters:
    ///   - address: the broker's host and port.
    ///   - isSecured: true for a connection with TLS.
    ///   - isAccepted: true where the broker had accepted the connection.
    func connectionError(to address: String, isSecured: Bool, isAccepted: Bool) -> MQTTError {
        guard !isAccepted else {
            return MQTTError(.connectionLost, "The connection to \(address) was lost.", cause: self)
        }
        switch mosq_err_t(code) {
        case MOSQ_ERR_EAI, MOSQ_ERR_LOOKUP:
            return MQTTError(
                .hostUnknown,
                "Cannot resolve the broker's host in \(address); check its name and the network.", cause: self
            )
        case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE, MOSQ_ERR_OCSP,
            _ where isSecured && tlsMessage != nil:
            return MQTTError(
                .tlsFailed,
                "Cannot establish TLS with \(address): the broker's certificate or this client's was not accepted; check "
                    + "the authority's file, the host's name, and that the port is the one for TLS.", cause: self)
        case MOSQ_ERR_ERRNO, MOSQ_ERR_CONN_REFUSED:
            return MQTTError(
                .unreachable,
                "Cannot connect to \(address): nothing answers; check that the broker runs, and host and port.",
                cause: self
            )
        case MOSQ_ERR_INVAL, MOSQ_ERR_NOT_SUPPORTED, MOSQ_ERR_MALFORMED_UTF8:
            return MQTTError(
                .invalidOptions, "The options for \(address) are not valid; check names and files.", cause: self)
        default:
            let hint = isSecured ? "" : "; check whether it requires TLS"
            return MQTTError(
                .connectionLost, "\(address) closed the connection before accepting it\(hint).", cause: self)
        }
    }
}
