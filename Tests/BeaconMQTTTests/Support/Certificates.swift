import Foundation
import TestSupport

/// Two authorities, and certificates of the first one for a broker named `localhost` and for a client, made by openssl.
struct Certificates {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["authority", "other-authority"] {
            try ChildProcess.run(
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days", "2", "-subj", "/CN=\(name)", "-keyout", path("\(name).key"), "-out", path("\(name).pem"))
        }
        try "subjectAltName=DNS:localhost\n".write(toFile: path("names"), atomically: true, encoding: .utf8)
        for (name, subject) in [("broker", "localhost"), ("client", "gateway")] {
            try ChildProcess.run(
                "openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                "/CN=\(subject)", "-keyout", path("\(name).key"), "-out", path("\(name).csr"))
            try ChildProcess.run(
                "openssl", "x509", "-req", "-days", "2", "-in", path("\(name).csr"), "-CA", path("authority.pem"),
                "-CAkey", path("authority.key"), "-CAcreateserial", "-extfile", path("names"), "-out",
                path("\(name).pem"))
        }
        // The broker reads its key after it gave up its root privileges.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path("broker.key"))
    }

    func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    /// The lines of a broker's configuration for TLS.
    var brokerSettings: String {
        """
        allow_anonymous true
        cafile \(path("authority.pem"))
        certfile \(path("broker.pem"))
        keyfile \(path("broker.key"))
        """
    }
}
