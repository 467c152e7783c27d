import ArgumentParser
import BeaconService
import Foundation

/// `beacon authorization`: which apps on Core Location may know of beacons.
struct Authorization: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say which apps may know of beacons.",
        discussion: """
            Apps that use the module CoreLocation ask for permission, as on iOS. Here it is granted on request, unless an \
            administrator decided otherwise in \(AuthorizationPolicy.administratorFile.path), which is JSON: an object \
            from an app's name, or * for all others, to notDetermined, restricted, denied, whenInUse or always.
            A change takes effect when the app is started the next time.
            """,
        subcommands: [List.self, Grant.self, Deny.self], defaultSubcommand: List.self)

    /// `beacon authorization list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the apps that have asked.")

        func run() throws {
            let applications = try AuthorizationPolicy(directory: .user).applications()
            guard !applications.isEmpty else {
                return StandardError.write("No app has asked yet.")
            }
            let width = applications.map(\.name.count).max() ?? 0
            for application in applications {
                var line = application.name + String(repeating: " ", count: width - application.name.count)
                line += "  \(application.status.rawValue)"
                if application.isDecidedByAdministrator { line += "  (by the administrator)" }
                if let reason = application.reason { line += "  \"\(reason)\"" }
                print(line)
            }
        }
    }

    /// `beacon authorization grant`.
    struct Grant: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let an app know of beacons.")

        @Argument(help: ArgumentHelp("The app's bundle identifier, or the name of its executable.", valueName: "app"))
        var app: String

        func run() throws { try Authorization.decide(.always, for: app) }
    }

    /// `beacon authorization deny`.
    struct Deny: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let an app not know of beacons.")

        @Argument(help: ArgumentHelp("The app's bundle identifier, or the name of its executable.", valueName: "app"))
        var app: String

        func run() throws { try Authorization.decide(.denied, for: app) }
    }

    fileprivate static func decide(_ status: AuthorizationStatus, for app: String) throws {
        let policy = try AuthorizationPolicy(directory: .user)
        let application = ApplicationIdentity(app)
        guard policy.decision(for: application) == nil else {
            throw ServiceError(
                .decidedByAdministrator,
                "an administrator decided for \(app), in \(AuthorizationPolicy.administratorFile.path); change it there"
            )
        }
        try policy.record(status, for: application)
        print("\(application): \(status.rawValue)")
    }
}
