import Foundation
import NIOSSL
import Subprocess
import SystemPackage
import Testing

/// A certificate authority for one test, which issues servers' certificates with openssl(1).
struct TestAuthority {
    let folder: TemporaryFolder

    /// The authority's certificate.
    var certificate: URL { folder.file("ca.pem") }

    init() async throws {
        folder = try TemporaryFolder()
        try await openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj",
            "/CN=Test authority", "-keyout", folder.file("ca.key").path, "-out", certificate.path)
    }

    /// Returns the TLS configuration of a server for a host.
    func server(_ host: String, name: String = "DNS") async throws -> TLSConfiguration {
        let (key, request, certificate) = (
            folder.file("\(host).key"), folder.file("\(host).csr"), folder.file("\(host).pem")
        )
        let extensions = folder.file("\(host).ext")
        try Data("subjectAltName=\(name):\(host)\n".utf8).write(to: extensions)
        try await openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(host)",
            "-keyout",
            key.path, "-out", request.path)
        try await openssl(
            "x509", "-req", "-in", request.path, "-CA", self.certificate.path, "-CAkey", folder.file("ca.key").path,
            "-CAcreateserial", "-days", "2", "-extfile", extensions.path, "-out", certificate.path)
        return TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate.path).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key.path, format: .pem)))
    }

    private func openssl(_ arguments: String...) async throws {
        // Use the path: a search for a name relies on errors of posix_spawn that qemu-user does not return.
        let result = try await Subprocess.run(
            .path("/usr/bin/env"), arguments: Arguments(["openssl"] + arguments), output: .discarded,
            error: .string(limit: 1 << 16))
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
    }
}
