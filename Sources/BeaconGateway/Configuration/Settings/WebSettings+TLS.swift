import NIOCore
package import NIOSSL

extension WebSettings {
    /// Returns what HTTPS needs; nil where there is no certificate.
    ///
    /// - Throws: the library's error where a file is none, or the key is another certificate's.
    package func tls() throws -> TLSConfiguration? {
        guard let certificate, let key else { return nil }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        tls.minimumTLSVersion = .tlsv12
        // A closed connection keeps its descriptor until the client has confirmed, or for this time.
        tls.shutdownTimeout = .milliseconds(500)
        // What cannot be used is found now, and not with the first browser.
        _ = try NIOSSLContext(configuration: tls)
        return tls
    }
}
