import NIOCore
package import NIOSSL

extension WebSettings {
    /// Returns the TLS configuration for HTTPS; nil without a certificate.
    ///
    /// - Throws: the library's error if a file is invalid, or the key does not belong to the certificate.
    package func tls() throws -> TLSConfiguration? {
        guard let certificate, let key else { return nil }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        tls.minimumTLSVersion = .tlsv12
        // A closed connection keeps its descriptor until the client has confirmed, or for this time.
        tls.shutdownTimeout = .milliseconds(500)
        // Creating a context finds unusable files now, and not with the first browser.
        _ = try NIOSSLContext(configuration: tls)
        return tls
    }
}
