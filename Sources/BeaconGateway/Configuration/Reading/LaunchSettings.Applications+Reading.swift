import BeaconPrograms
import Yams

extension LaunchSettings.Applications {
    /// `applications: true`, or a mapping.
    static func read(_ section: ConfigurationSection) -> Self? {
        if case .mapping? = section.node("applications") {
            let inside = section.section("applications")
            var settings = Self()
            settings.users = inside.texts("users", "write names of users")?.map { user in
                if UserAccount(name: user.value) == nil {
                    inside.reading.report(
                        user.origin, "this machine has no user \"\(user.value)\"", severity: .warning)
                }
                return user.value
            }
            if let limit = inside.durationOrOff("time-limit", .seconds(1)...(.seconds(7 * 86_400))) {
                settings.timeLimit = limit
            }
            if let interval = inside.duration("interval", .seconds(1)...(.seconds(86_400))) {
                settings.interval = interval
            }
            inside.finish()
            return settings
        }
        return section.boolean("applications") == true ? Self() : nil
    }
}
