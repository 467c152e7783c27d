import BeaconSupport
import CLibrary
import Configuration
package import Foundation

/// One reading of a configuration: the sources of values, and their faults.
///
/// Values of the environment come before those of the file. They are looked up by swift-configuration's provider; the
/// file is read beside it, since its YAML provider knows neither places nor lists of mappings.
package final class ConfigurationReading {
    /// The prefix of the variables of the environment that configure the daemon.
    package static let prefix = "BEACOND"

    private let provider: KeyMappingProvider<EnvironmentVariablesProvider>
    private let variables: [String: String]
    /// The one that names the file is used before there is anything to read.
    private var usedVariables: Set<String> = ["BEACOND_CONFIG"]
    private var knownVariables: Set<String> = []

    /// The folder that relative paths are resolved against.
    package let folder: URL

    /// What parts of the configuration know of each other.
    package var context: ConfigurationContext

    /// The faults so far.
    package private(set) var diagnostics: [Diagnostic] = []

    /// The names of those that are not of the file of secrets.
    private let given: Set<String>

    /// The file of secrets beside the configuration, whose variables come after those of the environment.
    private let secrets: EnvironmentFile?

    package init(
        environment: [String: String], secrets: EnvironmentFile? = nil, folder: URL,
        context: ConfigurationContext = ConfigurationContext()
    ) {
        self.context = context
        given = Set(environment.keys)
        let environment = environment.merging(secrets?.variables ?? [:]) { given, _ in given }
        variables = environment
        self.secrets = secrets
        self.folder = folder
        provider = EnvironmentVariablesProvider(environmentVariables: environment)
            .prefixKeys(with: ConfigKey([Self.prefix.lowercased()]))
    }

    /// Returns the value of the variable that overrides the file, if there is one.
    package func override(of path: [String]) -> Located<String>? {
        guard let result = try? provider.value(forKey: AbsoluteConfigKey(path), type: .string) else { return nil }
        knownVariables.insert(result.encodedKey)
        guard case .string(let text)? = result.value?.content else { return nil }
        usedVariables.insert(result.encodedKey)
        return Located(text, .environment(result.encodedKey))
    }

    /// Returns a variable that the configuration names itself, as the place of a secret.
    package func variable(_ name: String) -> String? {
        usedVariables.insert(name)
        return variables[name]
    }

    /// Returns where the value of a variable came from, for people.
    package func place(of variable: String) -> String {
        guard let secrets, !given.contains(variable), let line = secrets.lines[variable] else {
            return "\(variable) in the environment"
        }
        return "\(variable) in line \(line) of \(secrets.path)"
    }

    /// Returns where a variable can be written that the environment does not have, as the end of a sentence.
    package func remedy(for variable: String) -> String {
        guard let secrets else { return "" }
        if let near = SpellingSuggestion.to(variable, among: secrets.variables.keys.sorted()),
            let line = secrets.lines[near]
        {
            return "; \(secrets.path) has \(near) in line \(line): write the same name in both"
        }
        // systemd.exec(5): the process of a service has its own number there, and got what the file has as it started.
        if variables["SYSTEMD_EXEC_PID"] == "\(getpid())" {
            return "; write \(variable)=… into \(secrets.path), and restart the service, which reads it only then"
        }
        if let obstacle = secrets.obstacle { return ", and \(obstacle); try it with sudo" }
        return "; write \(variable)=… into \(secrets.path), as a line that only its owner may read"
    }

    /// Reports the lines of the file of secrets that are none.
    package func reportSecretsFaults() {
        guard let secrets else { return }
        for line in secrets.faults {
            report(
                .secrets(path: secrets.path, line: line),
                "this is no line of NAME=value, without a blank before or behind the name, and is passed over",
                severity: .warning)
        }
    }

    /// Returns whether any variable gives a value for this path or something in it.
    package func hasOverrides(within path: [String]) -> Bool {
        guard let key = try? provider.value(forKey: AbsoluteConfigKey(path), type: .string).encodedKey else {
            return false
        }
        return variables.keys.contains { $0.hasPrefix(key + "_") }
    }

    /// The diagnostics, in the order of the file, then of the environment, then of the secrets, then of the machine.
    package var sortedDiagnostics: [Diagnostic] {
        // Sorting does not promise to keep what is equal in order, so its place decides.
        diagnostics.enumerated().sorted { left, right in
            let (one, other) = (Self.order(of: left.element.origin), Self.order(of: right.element.origin))
            return one == other ? left.offset < right.offset : one < other
        }.map(\.element)
    }

    private static func order(of origin: Diagnostic.Origin) -> (Int, Int, Int, String) {
        switch origin {
        case .file(let place): (0, place.line, place.column, "")
        case .environment(let name): (1, 0, 0, name)
        case .secrets(_, let line): (2, line, 0, "")
        case .machine: (3, 0, 0, "")
        }
    }

    /// Reports what other users of this machine can read or change, and should not.
    ///
    /// - Parameters:
    ///   - configuration: the path of the configuration's file.
    ///   - programs: the paths of the programs that it names.
    package func reportExposure(of configuration: String, programs: Set<String>) {
        let exposure = FileExposure()
        var warnings = exposure.warnings(of: configuration, as: .configuration)
        if let secrets { warnings += exposure.warnings(of: secrets.path, as: .secrets) }
        for program in programs.sorted() { warnings += exposure.warnings(of: program, as: .program) }
        // A folder is above several files, and is repaired once.
        var places: Set<String> = []
        for warning in warnings where places.insert(warning.place).inserted {
            report(.machine, warning.message, severity: .warning)
        }
    }

    /// Reports a time zone of this machine that the C library does not know.
    ///
    /// - Parameter isNeeded: true where a rule's days and hours are those of the machine.
    package func reportTimeZone(isNeeded: Bool) {
        let zone = ZoneVariable()
        if let text = variables["TZ"] {
            guard let fault = zone.fault(text) else { return }
            report(.environment("TZ"), fault, severity: .warning)
        } else if isNeeded, !zone.hasDefault {
            report(
                .machine,
                "this machine has no time zone (/etc/localtime), so that the rules' days and hours are in UTC; "
                    + "write \"time-zone\" into each rule, or set TZ",
                severity: .warning)
        }
    }

    package func report(_ origin: Diagnostic.Origin, _ message: String, severity: Diagnostic.Severity = .error) {
        diagnostics.append(Diagnostic(origin, message, severity: severity))
    }

    package func report(_ others: [Diagnostic]) { diagnostics += others }

    /// Reports variables that look like ours and that no setting has.
    package func reportUnknownVariables() {
        for name in variables.keys.sorted()
        where name.hasPrefix(Self.prefix + "_") && !usedVariables.contains(name) {
            var message = "there is no such setting"
            if let nearest = SpellingSuggestion.to(name, among: knownVariables.sorted()) {
                message += "; was \(nearest) meant?"
            } else {
                message += ". The name of a variable is BEACOND and the keys on the way, as in BEACOND_OUTBOX_PATH"
            }
            let line = given.contains(name) ? nil : secrets?.lines[name]
            report(line.map { .secrets(path: secrets?.path ?? "", line: $0) } ?? .environment(name), message)
        }
    }
}

/// A value and its origin.
package struct Located<Value: Sendable>: Sendable {
    package var value: Value
    package var origin: Diagnostic.Origin

    package init(_ value: Value, _ origin: Diagnostic.Origin) {
        self.value = value
        self.origin = origin
    }
}
