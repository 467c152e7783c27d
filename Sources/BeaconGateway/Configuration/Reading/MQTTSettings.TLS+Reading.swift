import Yams

extension MQTTSettings.TLS {
    /// `tls: true`, or a mapping of files.
    static func read(_ section: ConfigurationSection) -> MQTTSettings.TLS? {
        if case .scalar? = section.node("tls") {
            return section.boolean("tls") == true ? MQTTSettings.TLS() : nil
        }
        guard section.has("tls") else { return nil }
        let inside = section.section("tls")
        var tls = MQTTSettings.TLS()
        tls.authorityFile = inside.existingFile("ca-file")
        tls.certificateFile = inside.existingFile("certificate-file")
        tls.keyFile = inside.existingFile("key-file")
        inside.finish()
        return tls
    }
}
