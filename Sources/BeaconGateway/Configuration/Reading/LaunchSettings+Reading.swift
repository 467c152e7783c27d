import Yams

extension LaunchSettings {
    /// Reads what is to be started.
    static func read(_ root: ConfigurationSection, regions: Set<String>) -> LaunchSettings {
        let section = root.section("launch")
        var settings = LaunchSettings()
        if section.has("applications") { settings.applications = Applications.read(section) }
        _ = section.node("applications")
        var names: Set<String> = []
        let what = "write a list of rules, each beginning with \"- name:\""
        settings.rules = section.items("rules", what).compactMap { node, path in
            let rule = ConfigurationSection(node, at: path, in: root.reading)
            defer { rule.finish() }
            return LaunchRule.read(rule, names: &names, regions: regions)
        }
        section.finish()
        return settings
    }
}
