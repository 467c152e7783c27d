import CMosquitto
import Glibc

/// What libmosquitto says of a call, in its own words.
struct MosquittoError: Error, Hashable, CustomStringConvertible {
    /// The code that the call returned.
    var code: Int32

    /// The system's number for what went wrong, where the code refers to it; 0 where it does not.
    var systemError: Int32

    /// What the TLS library complained of, where it did.
    var complaint: String?

    /// The library's sentence.
    var description: String {
        if let complaint { return complaint }
        if systemError != 0 { return String(cString: strerror(systemError)) }
        return String(cString: mosquitto_strerror(code))
    }

    /// The error that a user is told.
    ///
    /// - Parameters:
    ///   - place: the broker's host and port.
    ///   - isSecured: whether TLS was wanted.
    ///   - isAccepted: whether there was a connection before.
    func connectionError(to place: String, isSecured: Bool, isAccepted: Bool) -> MQTTError {
        guard !isAccepted else {
            return MQTTError(.connectionLost, "The connection to \(place) was lost.", cause: self)
        }
        switch mosq_err_t(code) {
        case MOSQ_ERR_EAI, MOSQ_ERR_LOOKUP:
            return MQTTError(
                .hostUnknown, "The broker's host in \(place) is not known; check its name and the network.", cause: self
            )
        case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE, MOSQ_ERR_OCSP,
            _ where isSecured && complaint != nil:
            return MQTTError(
                .tlsFailed,
                "No secure connection to \(place): the broker's certificate or ours was not accepted; check the "
                    + "authority's file, the host's name, and that the port is the one for TLS.", cause: self)
        case MOSQ_ERR_ERRNO, MOSQ_ERR_CONN_REFUSED:
            return MQTTError(
                .unreachable, "Nothing answers at \(place); check that the broker runs, and host and port.", cause: self
            )
        case MOSQ_ERR_INVAL, MOSQ_ERR_NOT_SUPPORTED, MOSQ_ERR_MALFORMED_UTF8:
            return MQTTError(
                .invalidOptions, "The options for \(place) are not taken; check names and files.", cause: self)
        default:
            let hint = isSecured ? "" : "; a broker that wants TLS does that"
            return MQTTError(.connectionLost, "\(place) ended the connection before it began\(hint).", cause: self)
        }
    }
}
