import BeaconSupport
import CLibrary
import CMosquitto

/// An error of libmosquitto, with its original text.
struct MosquittoError: Error, Hashable, CustomStringConvertible {
    /// The code that the call returned.
    var code: Int32

    /// The system's error number, if the code refers to it; otherwise 0.
    var systemError: Int32

    /// The TLS library's message, if any.
    var tlsMessage: String?

    /// The message of the TLS library, of the system, or of libmosquitto.
    var description: String {
        if let tlsMessage { return tlsMessage }
        // libmosquitto 2.1 closes the socket of a failed attempt, so that the system's reason is lost.
        if systemError == EBADF { return "no connection was established" }
        if systemError != 0 { return String(cString: strerror(systemError)) }
        // The library has no text for this error.
        if isTimeout { return "it was silent for too long" }
        var problem: UnsafePointer<CChar>?
        return beacon_mosquitto_load(&problem).map { String(cString: $0.pointee.strerror(code)) } ?? "error \(code)"
    }

    /// Whether the broker was silent for too long.
    var isTimeout: Bool { code == MOSQ_ERR_KEEPALIVE.rawValue }

    /// Returns the user-facing error of a connection that the broker had not accepted.
    ///
    /// - Parameters:
    ///   - options: the broker and the client.
    ///   - terms: the terms of the attempt.
    func connectionError(_ options: MQTTSettings, on terms: ConnectionTerms) -> MQTTError {
        let (address, isSecured) = (options.address, options.tls != nil)
        switch mosq_err_t(code) {
        case MOSQ_ERR_EAI, MOSQ_ERR_LOOKUP:
            var causes = ["the name is misspelled", "the network or its name server is not up"]
            if options.resolvedHost.hasSuffix(".local") {
                causes.append("this machine lacks libnss-mdns for names in .local: use the broker's IP address")
            }
            return MQTTError(
                .hostUnknown, "Cannot resolve the broker's host \(options.resolvedHost).", cause: self,
                possibleCauses: causes)
        case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE, MOSQ_ERR_OCSP,
            _ where isSecured && (tlsMessage != nil || systemError == EPROTO):
            let message = description.lowercased()
            let cause = Self.tlsCauses.first { $0.words.contains { message.contains($0) } }?.cause
            return MQTTError(
                .tlsFailed, "Cannot establish TLS with \(address)\(cause.map { ": \($0)" } ?? "").", cause: self,
                possibleCauses: cause == nil
                    ? [
                        "the broker's certificate is not accepted", "the broker requires a client certificate",
                        "there is no common version of TLS or cipher",
                    ] : [])
        case MOSQ_ERR_ERRNO, MOSQ_ERR_CONN_REFUSED:
            return MQTTError(
                .unreachable, "Cannot connect to \(address).", cause: self,
                possibleCauses: [
                    "the broker is not running", "the host or the port is wrong", "a firewall is in between",
                ])
        case MOSQ_ERR_INVAL, MOSQ_ERR_NOT_SUPPORTED, MOSQ_ERR_MALFORMED_UTF8:
            return MQTTError(
                .invalidSettings, "The settings for \(address) are not valid; correct names and files.", cause: self)
        default: return closedError(options, on: terms)
        }
    }

    /// The causes of failed TLS connections with their remedies, by words of OpenSSL and libmosquitto in lower case.
    private static let tlsCauses: [(words: [String], cause: String)] = [
        (
            ["signed certificate", "issuer certificate", "verify the first certificate"],
            "the broker's certificate is not from an authority that is trusted here; name the certificate of that "
                + "authority (PEM) as ca-file"
        ),
        (["has expired"], "the broker's certificate has expired; renew it, or correct this machine's clock"),
        (["not yet valid"], "the broker's certificate is not valid yet; correct this machine's clock"),
        (
            ["host name verification", "hostname mismatch", "ip address mismatch"],
            "the broker's certificate is not for this host; use a name that is in the certificate"
        ),
        (["load ca certificates"], "ca-file has no certificate in PEM form; name another file"),
        (["load client certificate"], "certificate-file has no certificate in PEM form; name another file"),
        (["load client key", "are inconsistent"], "key-file is not the key of certificate-file; name another file"),
        (["certificate required"], "the broker requires a client certificate; name one as certificate-file"),
        (
            ["alert unknown ca", "alert bad certificate", "alert certificate", "alert unsupported certificate"],
            "the broker does not accept the certificate of certificate-file; name one of its authority"
        ),
        (
            ["protocol version", "unsupported protocol"],
            "there is no common version of TLS; enable TLS 1.2 at the broker"
        ),
        // The alert is lost if libmosquitto writes before it reads (net__handle_ssl).
        (
            ["protocol error"],
            "the broker closed the connection after the handshake, as it does without a client certificate that it "
                + "accepts; name one as certificate-file"
        ),
        // A broker without TLS ends the connection, or its answer is not TLS.
        (["unexpected eof", "wrong version number"], "the port does not speak TLS; use another port, often 8883"),
        (["revoked", "too weak", "purpose", "signature failure"], "the broker's certificate is not valid; replace it"),
    ]

    /// Returns the error of a connection that the broker closed instead of answering CONNECT.
    private func closedError(_ options: MQTTSettings, on terms: ConnectionTerms) -> MQTTError {
        let will = options.availabilityTopic.map {
            ", with the will message at \($0)\(terms.retains ? " (retained)" : "")"
        }
        let answer =
            code == MOSQ_ERR_PROTOCOL.rawValue ? "sent something that is not MQTT" : "closed the connection"
        return MQTTError(
            .connectionLost,
            "\(options.address) \(answer) in answer to CONNECT (MQTT \(terms.version), client id "
                + "\(options.clientID.printable)\(will ?? "")).", cause: self,
            possibleCauses: [
                options.tls == nil ? "the port requires TLS" : "the port does not speak TLS",
                terms.retains && will != nil ? "the broker keeps no retained messages (retain: false sends none)" : nil,
                options.version == .v5 ? "the broker does not speak MQTT 5" : nil,
                options.user == nil
                    ? "the broker requires a user and a password" : "the broker does not accept the user",
                "something other than a broker listens there",
            ].compactMap(\.self))
    }

    /// Returns the user-facing error of a connection that the broker had accepted.
    ///
    /// - Parameter options: the broker and the client.
    func lossError(_ options: MQTTSettings) -> MQTTError {
        MQTTError(
            .connectionLost, "The connection to \(options.address) was lost.", cause: self,
            possibleCauses: isTimeout
                ? []
                : [
                    "the broker or the network has stopped", "the broker does not accept a message",
                    "another client has the client id \(options.clientID.printable)",
                ])
    }
}
