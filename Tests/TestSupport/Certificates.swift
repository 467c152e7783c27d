import Foundation

/// Two authorities, and certificates for brokers and clients, made by openssl.
public struct Certificates: Sendable {
    /// The folder of the files, which is deleted with its last user.
    public let folder: TemporaryFolder

    /// Creates both authorities, and certificates of the first one: `broker` for `localhost`, and `client`.
    public init() throws {
        folder = try TemporaryFolder()
        try issueSelfSigned("authority")
        try issueSelfSigned("other-authority")
        try issue("broker")
        try issue("client")
    }

    /// Creates a certificate that is its own authority.
    public func issueSelfSigned(_ name: String, for host: String = "localhost") throws {
        try ChildProcess.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(host)", "-keyout",
            path("\(name).key"), "-out", path("\(name).pem"))
        try makeReadable(name)
    }

    /// Creates a certificate that an authority signs.
    ///
    /// - Parameter days: the days until it expires; negative if it has expired.
    public func issue(
        _ name: String, for host: String = "localhost", days: Int = 2, by authority: String = "authority"
    ) throws {
        try "subjectAltName=DNS:\(host)\n".write(toFile: path("names"), atomically: true, encoding: .utf8)
        try ChildProcess.run(
            "openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            "/CN=\(name)", "-keyout", path("\(name).key"), "-out", path("\(name).csr"))
        try ChildProcess.run(
            "openssl", "x509", "-req", "-days", "\(days)", "-in", path("\(name).csr"), "-CA", path("\(authority).pem"),
            "-CAkey", path("\(authority).key"), "-CAcreateserial", "-extfile", path("names"), "-out",
            path("\(name).pem"))
        try makeReadable(name)
    }

    /// The broker reads its key after it gave up its root privileges.
    private func makeReadable(_ name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path("\(name).key"))
    }

    /// Returns the path of a file, such as `authority.pem`.
    public func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    /// Returns the lines of a broker's configuration for TLS.
    public func settings(of certificate: String) -> String {
        """
        cafile \(path("authority.pem"))
        certfile \(path("\(certificate).pem"))
        keyfile \(path("\(certificate).key"))
        """
    }

    /// The lines of the configuration of a broker named `localhost`, without users.
    public var brokerSettings: String { "allow_anonymous true\n" + settings(of: "broker") }
}
