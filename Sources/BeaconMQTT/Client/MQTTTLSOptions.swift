/// How a connection to a broker is secured. The broker's certificate is always verified, with its name.
public struct MQTTTLSOptions: Hashable, Sendable {
    /// The default folder of certificate authorities, where Debian's package ca-certificates puts them.
    public static let systemAuthorityFolder = "/etc/ssl/certs"

    /// A PEM file with the certificates of the authorities to trust; nil for those of ``authorityFolder``.
    public var authorityFile: String?

    /// A folder of authorities' certificates, prepared by `openssl rehash`. It is used where there is no
    /// ``authorityFile``.
    public var authorityFolder: String

    /// A PEM file with the certificate by which the broker knows this client, where it wants one.
    public var certificateFile: String?

    /// A PEM file with the key to ``certificateFile``, not encrypted.
    public var keyFile: String?

    /// TLS with the system's authorities, unless told otherwise.
    public init(
        authorityFile: String? = nil, authorityFolder: String = MQTTTLSOptions.systemAuthorityFolder,
        certificateFile: String? = nil, keyFile: String? = nil
    ) {
        self.authorityFile = authorityFile
        self.authorityFolder = authorityFolder
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}
