import BeaconService
public import Foundation

extension GatewayConfiguration {
    /// Where the daemon keeps its state where nothing else is said: the folder that systemd made for it (`StateDirectory=`
    /// in systemd.exec(5)), else one in the user's own state directory.
    public static func stateFolder(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        // systemd gives several with colons between them.
        if let folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(folder) }
        return StateDirectory.user.url.appendingPathComponent("beacond").path
    }

    /// The outbox in a folder of state.
    static func outboxPath(in folder: String) -> String { folder + "/outbox.sqlite" }
}
