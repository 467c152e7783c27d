import BeaconConfiguration
import BeaconMonitoring
import BeaconRelay
import BeaconSupport
import Foundation
import Yams

/// The devices by which what is heard is passed on, in the file.
extension ProxySettings {
    /// Reads `proxy: true`, or a mapping; nil where nothing is passed on.
    ///
    /// - Parameter sources: what is heard.
    static func read(_ root: ConfigurationSection, sources: [SourceSettings]) -> ProxySettings? {
        guard let node = root.node("proxy") else { return nil }
        var settings = ProxySettings()
        settings.isOfNetwork = sources.contains { $0.specification.hasReceivers }
        guard case .mapping = node else { return root.boolean("proxy") == true ? settings : nil }
        let section = root.section("proxy")
        if let name = section.text("name") { settings.name = name.value }
        if let port = section.integer("port", 1...65_535) { settings.port = UInt16(port.value) }
        settings.isEach = section.boolean("each") ?? false
        settings.key = section.secret("key")
        settings.address = section.text("listen")?.value
        settings.isAnnounced = section.boolean("announce") ?? true
        section.finish()
        for fault in settings.mistakes() { section.report(section.origin, "\(section.subject)\(fault)") }
        return settings
    }
}
