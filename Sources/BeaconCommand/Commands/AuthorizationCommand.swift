import ArgumentParser
import BeaconApplications
import BeaconSupport
import Foundation

/// The command `beacon authorization`, which grants and denies apps the use of beacons.
struct AuthorizationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authorization",
        abstract: "List, grant and deny apps the use of beacons.",
        discussion: """
            Apps that use the module CoreLocation ask for permission, as on iOS. Here it is granted on request, unless \
            it was denied with this command, or an administrator decided otherwise in \
            \(AuthorizationPolicy.administratorFile.path). That file is a JSON object whose keys are apps, or * for \
            all others, and whose values are notDetermined, restricted, denied, whenInUse or always.
            A change takes effect at the next start of the app.

              beacon authorization deny com.example.shop
            """,
        subcommands: [List.self, Grant.self, Deny.self], defaultSubcommand: List.self)

    /// The command `beacon authorization list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the apps that have asked for permission.")

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

    /// The command `beacon authorization grant`.
    struct Grant: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Grant an app the use of beacons.")

        @Argument(
            help: ArgumentHelp(
                "The app's bundle identifier, its executable's path, or its name in the list.", valueName: "app"))
        var app: String

        func run() throws { try AuthorizationCommand.decide(.always, for: app) }
    }

    /// The command `beacon authorization deny`.
    struct Deny: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Deny an app the use of beacons.")

        @Argument(
            help: ArgumentHelp(
                "The app's bundle identifier, its executable's path, or its name in the list.", valueName: "app"))
        var app: String

        func run() throws { try AuthorizationCommand.decide(.denied, for: app) }
    }

    fileprivate static func decide(_ status: AuthorizationStatus, for app: String) throws {
        let policy = try AuthorizationPolicy(directory: .user)
        let application = ApplicationIdentity(app)
        guard policy.decision(for: application) == nil else {
            throw StateError(
                .decidedByAdministrator,
                "an administrator decided for \(app), in \(AuthorizationPolicy.administratorFile.path); change it there"
            )
        }
        try policy.record(status, for: application)
        print("\(application): \(status.rawValue)")
    }
}
