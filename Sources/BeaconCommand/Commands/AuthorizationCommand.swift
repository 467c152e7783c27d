import ArgumentParser
import BeaconApplications
import BeaconSupport
import BeaconTerminal
import Foundation

/// The command `beacon authorization`, which lets apps use beacons or denies it.
struct AuthorizationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authorization",
        abstract: "List apps, and grant or deny them the use of beacons.",
        discussion: """
            Apps that use the module CoreLocation ask for permission, as on iOS. In a terminal they ask their user; \
            elsewhere they get what they ask for. \(AuthorizationPolicy.variable)=grant, deny or ask in an app's \
            environment overrides this, and so does the administrator's file, \
            \(AuthorizationPolicy.administratorFile.path). An app that asks waits for an answer in its terminal or \
            from this command. An answer takes effect at once.

              beacon authorization pending
              beacon authorization grant com.example.museum
              beacon authorization deny com.example.shop

            The administrator's file is a JSON object whose keys are apps, or * for all others. A value is grant, deny \
            or ask, which answers requests; notDetermined, restricted, denied, whenInUse or always, which fixes the \
            status; or an object with "requests", "status" and "strict". With "strict", the app's Info.plist must be \
            as on iOS:

              { "*": { "requests": "ask", "strict": true }, "com.example.museum": "always" }
            """,
        subcommands: [List.self, Pending.self, Grant.self, Deny.self], defaultSubcommand: List.self)

    /// The command `beacon authorization list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the apps that have asked for permission.")

        func run() throws {
            let applications = try AuthorizationPolicy(directory: .user, environment: [:]).applications()
            guard !applications.isEmpty else {
                return ErrorOutput.shared.write("No app has asked yet.")
            }
            AuthorizationCommand.print(applications) { application in
                application.status.rawValue
                    + (application.isDecidedByAdministrator ? "  (by the administrator)" : "")
                    + (application.isStarted ? "  (beacond starts it)" : "")
                    + (application.asksFor == nil ? "" : "  (waits for an answer)")
            }
        }
    }

    /// The command `beacon authorization pending`.
    struct Pending: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the apps that wait for an answer.")

        func run() throws {
            let policy = try AuthorizationPolicy(directory: .user, environment: [:])
            let applications = try policy.applications().filter { $0.asksFor != nil }
            guard !applications.isEmpty else {
                return ErrorOutput.shared.write("No app waits for an answer.")
            }
            AuthorizationCommand.print(applications) { "asks for \($0.asksFor?.rawValue ?? "")" }
        }
    }

    /// The command `beacon authorization grant`.
    struct Grant: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Grant an app the use of beacons.",
            discussion: "A waiting app gets what it asks for; any other app gets \"always\".")

        @Flag(help: "Grant it only while the app is in use.")
        var whenInUse = false

        @OptionGroup var choice: ApplicationChoice

        func run() throws {
            try AuthorizationCommand.decide(for: choice.app) { asked in
                let status = asked?.asksFor == .whenInUse || whenInUse ? AuthorizationStatus.whenInUse : .always
                return AuthorizationPolicy.Permission(
                    status: status, isAlwaysRefused: whenInUse || asked?.asksFor == .always && status == .whenInUse)
            }
        }
    }

    /// The command `beacon authorization deny`.
    struct Deny: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deny an app the use of beacons.",
            discussion: "A waiting app that asks for more keeps its permission; any other app loses it.")

        @OptionGroup var choice: ApplicationChoice

        func run() throws {
            try AuthorizationCommand.decide(for: choice.app) { asked in
                if asked?.asksFor == .always, asked?.status == .whenInUse {
                    return AuthorizationPolicy.Permission(status: .whenInUse, isAlwaysRefused: true)
                }
                return AuthorizationPolicy.Permission(status: .denied)
            }
        }
    }

    /// The application that a command is about.
    struct ApplicationChoice: ParsableArguments {
        @Argument(
            help: ArgumentHelp(
                """
                The app's bundle identifier, its executable's path, or its name in the list; optional if only one app \
                waits for an answer.
                """, valueName: "app"))
        var app: String?
    }

    /// Prints a line for each application: its name, its text and its reason.
    private static func print(
        _ applications: [AuthorizationPolicy.Application], _ text: (AuthorizationPolicy.Application) -> String
    ) {
        let width = applications.map(\.name.count).max() ?? 0
        for application in applications {
            let name = application.name + String(repeating: " ", count: width - application.name.count)
            let reason = application.reason.map { "  \"\($0.printable)\"" } ?? ""
            StandardOutput.write("\(name)  \(text(application))\(reason)")
        }
    }

    private static func decide(
        for app: String?,
        _ decision: (AuthorizationPolicy.Application?) -> AuthorizationPolicy.Permission
    ) throws {
        let policy = try AuthorizationPolicy(directory: .user, environment: [:])
        let known = try policy.applications()
        let application: ApplicationIdentity
        if let app {
            application = ApplicationIdentity(named: app)
        } else {
            let waiting = known.filter { $0.asksFor != nil }
            guard waiting.count == 1 else {
                throw ValidationError(
                    waiting.isEmpty
                        ? "No app waits for an answer. Name an app from \"beacon authorization list\"."
                        : "Several apps wait: \(waiting.map(\.name).joined(separator: ", ")). Name one.")
            }
            application = ApplicationIdentity(waiting[0].name)
        }
        guard policy.decision(for: application) == nil else {
            throw StateError(
                .decidedByAdministrator,
                """
                an administrator decided for \(application), in \(AuthorizationPolicy.administratorFile.path); change \
                it there
                """)
        }
        let asked = known.first { $0.name == application.name }
        var permission = decision(asked)
        permission.reason = asked?.reason
        try policy.record(permission, for: application)
        StandardOutput.write("\(application): \(permission.status.rawValue)")
    }
}
