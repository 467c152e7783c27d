import BeaconDelivery
import Foundation
import Yams

extension WebhookSettings {
    static func read(_ section: ConfigurationSection) -> WebhookSettings? {
        let url = section.url("url")
        let secret = section.secret("secret")
        let headers = section.section("headers").headers()
        let batch = section.integer("batch", 1...1000)
        let connectTimeout = section.duration("connect-timeout", .milliseconds(100)...(.seconds(600)))
        let timeout = section.duration("timeout", .milliseconds(100)...(.seconds(3600)))
        let proxy = section.url("proxy")
        let authorityFile = section.existingFile("ca-file")
        guard section.has("url") else {
            section.reportMissing("url", "write the address that takes the notifications")
            return nil
        }
        guard let url else { return nil }
        var settings = WebhookSettings(url: url)
        settings.signingSecret = secret
        settings.headers = headers
        settings.proxy = proxy
        settings.authorityFile = authorityFile
        if let batch { settings.batch = batch.value }
        if let connectTimeout { settings.connectTimeout = connectTimeout }
        if let timeout { settings.timeout = timeout }
        return settings
    }
}
