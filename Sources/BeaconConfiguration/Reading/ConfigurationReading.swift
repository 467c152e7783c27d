package import BeaconSupport
import CLibrary
import Configuration
package import Foundation

/// One reading of a configuration: the sources of values, and their faults.
///
/// Values of the environment override those of the file. swift-configuration's provider looks them up. The file is read
/// separately, since the YAML provider there supports neither locations nor lists of mappings.
package final class ConfigurationReading {
    /// The prefix of the variables of the environment that configure the daemon.
    package static let prefix = "BEACOND"

    private let provider: KeyMappingProvider<EnvironmentVariablesProvider>
    private let variables: [String: String]
    /// `BEACOND_CONFIG` names the file, and is used before there is anything to read.
    private var usedVariables: Set<String> = ["BEACOND_CONFIG"]
    private var knownVariables: Set<String> = []

    /// The folder that relative paths are resolved against.
    package let folder: URL

    /// The names that the parts of the configuration share.
    package var context: ConfigurationContext

    /// The reported faults.
    package private(set) var diagnostics: [Diagnostic] = []

    /// The names of the variables that are not from the secrets file.
    private let given: Set<String>

    /// The secrets file beside the configuration. The environment overrides its variables.
    private let secrets: EnvironmentFile?

    /// The secrets that were set in the console.
    private let stored: StoredSecrets?

    /// The keys of values that are such secrets, by the secrets' names.
    package private(set) var usedSecrets: [String: [String]] = [:]

    /// The file; nil for values that are not from one.
    private let document: YAMLDocument?

    /// Creates a reading.
    ///
    /// - Parameters:
    ///   - document: the file; nil for values that are not from one.
    ///   - sources: the origins of secrets, and of variables.
    ///   - isOverridden: true if the variables override the values.
    ///   - folder: the folder that relative paths are resolved against.
    ///   - context: the names of other parts.
    package init(
        _ document: YAMLDocument? = nil, sources: SecretSources = SecretSources(), isOverridden: Bool = true,
        folder: URL = URL(fileURLWithPath: "/"), context: ConfigurationContext = ConfigurationContext()
    ) {
        self.context = context
        self.document = document
        given = Set(sources.environment.keys)
        secrets = sources.file
        stored = sources.stored
        variables = sources.environment.merging(secrets?.variables ?? [:]) { given, _ in given }
        self.folder = folder
        provider = EnvironmentVariablesProvider(environmentVariables: isOverridden ? variables : [:])
            .prefixKeys(with: ConfigKey([Self.prefix.lowercased()]))
    }

    /// Returns the location of a value in the file, or of its key.
    func location(of steps: [YAMLDocument.Step], isKey: Bool = false) -> SourceLocation {
        document?.location(of: steps, isKey: isKey) ?? SourceLocation(line: 1, column: 1)
    }

    /// Returns the value of the variable that overrides the file, if there is one.
    package func override(of path: [String]) -> Located<String>? {
        guard !variables.isEmpty, let result = try? provider.value(forKey: AbsoluteConfigKey(path), type: .string)
        else { return nil }
        knownVariables.insert(result.encodedKey)
        guard case .string(let text)? = result.value?.content else { return nil }
        usedVariables.insert(result.encodedKey)
        return Located(text, .environment(result.encodedKey))
    }

    /// Returns a variable that the configuration names as the source of a secret.
    package func variable(_ name: String) -> String? {
        usedVariables.insert(name)
        return variables[name]
    }

    /// Returns a secret that was set in the console.
    ///
    /// - Parameter key: the path of the key whose value it is.
    /// - Throws: ``StateError`` with the remedy if it is missing.
    package func storedSecret(_ name: String, for key: String) throws(StateError) -> Secret {
        usedSecrets[name, default: []].append(key)
        guard StoredSecrets.isName(name) else {
            throw StateError(.cannotRead, "\"\(name)\", which is no name of a secret; use \(StoredSecrets.nameForm)")
        }
        let text = "the secret \"\(name)\", which is not set here; set it in the console (Settings, Secrets)"
        guard let stored else { throw StateError(.cannotRead, text) }
        guard stored.has(name) || access(stored.folder, F_OK) == 0 && access(stored.folder, X_OK) != 0 else {
            throw StateError(.cannotRead, "\(text), or write it into \(stored.path(of: name))")
        }
        do throws(StateError) {
            return try stored.value(of: name)
        } catch {
            throw StateError(.cannotRead, "the secret \"\(name)\"; \(error.message). Try it with sudo", cause: error)
        }
    }

    /// Returns the source of a variable's value, for people.
    package func place(of variable: String) -> String {
        guard let secrets, !given.contains(variable), let line = secrets.lines[variable] else {
            return "\(variable) in the environment"
        }
        return "\(variable) in line \(line) of \(secrets.path)"
    }

    /// Returns where to define a missing variable, as the end of a sentence.
    package func remedy(for variable: String) -> String {
        guard let secrets else { return "" }
        if let near = SpellingSuggestion.to(variable, among: secrets.variables.keys.sorted()),
            let line = secrets.lines[near]
        {
            return "; \(secrets.path) has \(near) in line \(line): write the same name in both"
        }
        // systemd.exec(5): the variable has the number of the service's process, which got the file's content at its
        // start.
        if variables["SYSTEMD_EXEC_PID"] == "\(getpid())" {
            return "; write \(variable)=… into \(secrets.path), and restart the service, which reads it only then"
        }
        if let obstacle = secrets.obstacle { return ", and \(obstacle); try it with sudo" }
        return "; add \(variable)=… to \(secrets.path), and let only its owner read that file"
    }

    /// Reports the invalid lines of the secrets file.
    package func reportSecretsFaults() {
        guard let secrets else { return }
        for line in secrets.faults {
            report(
                .secrets(path: secrets.path, line: line),
                "this line is not NAME=value without blanks around the name, and is ignored",
                severity: .warning)
        }
    }

    /// The diagnostics, in the order of the file, then of the environment, then of the secrets, then of the machine.
    package var sortedDiagnostics: [Diagnostic] {
        // Sorting may reorder equal elements, so the offset decides.
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

    /// Reports a configuration that other users of this machine can change, and secrets that they can read or change.
    package func reportExposure(of configuration: String) {
        let files: [(path: String?, rights: UInt32, danger: String)] = [
            (configuration, S_IWOTH, "decides what programs beacond starts"),
            (secrets?.path, S_IROTH | S_IWOTH, "holds secrets"),
        ]
        for (path, unwanted, danger) in files {
            guard let path = path.map({ URL(fileURLWithPath: $0).standardizedFileURL.path }),
                // A shell's pipe with a command's output is for this user alone.
                let rights = FileRights(path, followsLinks: true), rights.isFile, rights.mode & unwanted != 0
            else { continue }
            let deeds = [(S_IROTH, "read"), (S_IWOTH, "write")].filter { rights.mode & unwanted & $0.0 != 0 }
            // Removes the group's write permission too, which the owner does not need.
            let mode = String(rights.mode & 0o7777 & ~(unwanted | S_IWGRP), radix: 8)
            let sudo = rights.owner == geteuid() && rights.owner != 0 ? "" : "sudo "
            report(
                .machine,
                "other users can \(deeds.map(\.1).joined(separator: " and ")) \(path), which \(danger); "
                    + "repair it with: \(sudo)chmod \(mode) \(path)", severity: .warning)
        }
    }

    /// Reports a time zone of this machine that the C library does not know.
    ///
    /// - Parameter isNeeded: true if a rule uses the machine's days and hours.
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

    /// Reports variables with this prefix that belong to no setting.
    package func reportUnknownVariables() {
        for name in variables.keys.sorted()
        where name.hasPrefix(Self.prefix + "_") && !usedVariables.contains(name) {
            var message = "there is no such setting"
            if let nearest = SpellingSuggestion.to(name, among: knownVariables.sorted()) {
                message += "; was \(nearest) meant?"
            } else {
                message += ". A variable's name is BEACOND and the path of keys, as in BEACOND_OUTBOX_PATH"
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
