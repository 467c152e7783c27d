extension OutboxSettings {
    mutating func read(_ section: ConfigurationSection) {
        if let path = section.filePath("path") { self.path = path.value }
        if let age = section.duration("maximum-age", .seconds(60)...(.seconds(366 * 86_400))) { maximumAge = age }
        if let count = section.integer("maximum-entries", 1...100_000_000) { maximumEntries = count.value }
        if let bytes = section.bytes("maximum-size", 65_536...(1 << 40)) { maximumBytes = bytes }
        section.finish()
    }
}
