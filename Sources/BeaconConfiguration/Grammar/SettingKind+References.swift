package import BeaconDelivery
import BeaconPrograms
import BeaconSupport
package import Foundation

// MARK: - Names of other things

extension SettingKind {
    /// Names of things of a kind, all of which must be defined.
    package static func names(of what: String) -> SettingKind where Value == Set<String> {
        SettingKind(.list(.text())) { section, key in
            guard let names = section.texts(key, "write names of \(what)s") else { return nil }
            let defined = section.reading.context.defined(what)
            for name in names where !defined.contains(name.value) {
                var message = "\"\(key)\" has \"\(name.value)\", and there is no \(what) of this name"
                if let nearest = SpellingSuggestion.to(name.value, among: defined.sorted()) {
                    message += "; was \"\(nearest)\" meant?"
                } else if !defined.isEmpty {
                    let names = defined.sorted()
                    message += "; there are \(names.prefix(20).joined(separator: ", "))\(names.count > 20 ? ", …" : "")"
                }
                section.report(name.origin, message)
            }
            return Set(names.map(\.value))
        }
    }

    /// Names of things of a kind, all of which must be defined, in alphabetical order.
    package static func sortedNames(of what: String) -> SettingKind where Value == [String] {
        let names = SettingKind<Set<String>>.names(of: what)
        return SettingKind(names.shape) { names.read($0, $1)?.sorted() }
    }
}

// MARK: - Files and addresses

extension SettingKind where Value == String {
    /// The path of a file: a relative one is resolved against the configuration's folder, and `~` against home.
    package static var path: SettingKind {
        SettingKind(.path) { section, key in
            section.text(key, "write the path of a file").map { text in
                let expanded = NSString(string: text).expandingTildeInPath
                guard !expanded.hasPrefix("/") else { return expanded }
                return section.reading.folder.appendingPathComponent(expanded).standardizedFileURL.path
            }
        }
    }

    /// The path of a file that can be read here.
    package static var existingFile: SettingKind {
        SettingKind(.path) { section, key in
            guard let path = Self.path.read(section, key) else { return nil }
            if !FileManager.default.isReadableFile(atPath: path) {
                section.report(section.origin(of: key), "\"\(key)\": \(path) cannot be read here")
            }
            return path
        }
    }
}

extension SettingKind {
    /// A file, and the value that a function loads from it.
    package static func file(_ load: @escaping @Sendable (URL) throws -> Value) -> SettingKind {
        SettingKind(.path) { section, key in
            guard let path = SettingKind<String>.path.read(section, key) else { return nil }
            do {
                return try load(URL(fileURLWithPath: path))
            } catch {
                section.report(section.origin(of: key), "\"\(key)\": \(error)")
                return nil
            }
        }
    }
}

extension SettingKind where Value == URL {
    /// An `http` or `https` address with a host. An address that is secret is given like other secrets.
    package static var url: SettingKind {
        SettingKind(.url, show: { $0.absoluteString }) { section, key in
            let what = "write an address such as https://example.com/beacons"
            if case .object? = section.value(key), !section.isOverridden(key) {
                guard let secret = section.read(key, .secret), !secret.isEmpty else { return nil }
                guard let url = webAddress(secret.reveal()) else {
                    section.report(
                        section.place(of: key), "the secret of \"\(key)\" is not an address; \(what)")
                    return nil
                }
                return url
            }
            guard let text = section.text(key, what) else { return nil }
            let origin = section.origin(of: key)
            guard let url = webAddress(text) else {
                section.report(origin, "\"\(key)\" is \"\(text.shownAddress)\"; \(what)")
                return nil
            }
            if url.password != nil, case .file = origin {
                section.report(
                    origin,
                    "\"\(key)\" has a password in it; use { env: NAME } or { file: PATH } instead"
                )
                return nil
            }
            return url
        }
    }

    private static func webAddress(_ text: String) -> URL? {
        guard let url = URL(string: text), let host = url.host, !host.isEmpty,
            ["http", "https"].contains(url.scheme?.lowercased())
        else { return nil }
        return url
    }
}

extension SettingKind where Value == [String] {
    /// A program and its arguments: a list, or one line whose words are separated by spaces.
    package static var commandWords: SettingKind {
        SettingKind(.list(.text(), shortest: 1)) { section, key in
            guard section.value(key)?.scalarText != nil else {
                let words = section.texts(key, "write the program and its arguments")?.map(\.value)
                if words?.isEmpty == true {
                    section.report(section.origin, "\"\(key)\" is empty; write the program and its arguments")
                }
                return words?.isEmpty == true ? nil : words
            }
            guard let line = section.text(key) else { return nil }
            do throws(CommandLineSplitter.Failure) {
                return try CommandLineSplitter.split(line)
            } catch {
                section.report(
                    section.origin(of: key),
                    error == .empty ? "\"\(key)\" is empty" : "in \"\(key)\", a quote is not closed")
                return nil
            }
        }
    }
}

// MARK: - Secrets

extension SettingKind where Value == Secret {
    /// A secret from the environment, a file or the console: `{ env: NAME }`, `{ file: PATH }` or `{ secret: NAME }`.
    ///
    /// A secret that is missing here may exist on the machine that the configuration is for. The daemon does not start
    /// without it.
    package static var secret: SettingKind<Secret> {
        SettingKind(.secret) { section, key in
            let value = section.value(key)
            if let override = section.override(of: key) {
                return filled(Secret(override), section, key, section.origin(of: key), "the environment")
            }
            guard let value else { return nil }
            guard case .object = value else {
                let variable = (section.path + [key]).joined(separator: "_").uppercased().replacing("-", with: "_")
                section.report(
                    section.place(of: key),
                    "\"\(key)\" is in plain text here; use { env: NAME } or { file: PATH } instead, or set "
                        + "\(ConfigurationReading.prefix)_\(variable) in the environment")
                return nil
            }
            return place(of: key, section, inside: section.section(key))
        }
    }

    /// Reads the source of a secret, and the secret from it.
    fileprivate static func place(
        of key: String, _ section: ConfigurationSection, inside: ConfigurationSection
    ) -> Secret? {
        let name = inside.text("env", "write the name of a variable of the environment")
        let file = inside.read("file", .path)
        let stored = inside.text("secret", "write the name of a secret of the console")
        inside.finish()
        switch (name, file, stored) {
        case (let name?, nil, nil):
            let origin = inside.origin(of: "env")
            if let text = section.reading.variable(name) {
                return filled(Secret(text), section, key, origin, section.reading.place(of: name))
            }
            section.report(
                origin,
                "\"\(key)\" needs \(name), which the environment does not have here"
                    + section.reading.remedy(for: name))
        case (nil, let file?, nil):
            let origin = inside.origin(of: "file")
            if let text = try? String(contentsOfFile: file, encoding: .utf8) {
                // Editors end a file with a newline, which is not part of the secret.
                return filled(Secret(text.trimmingCharacters(in: .newlines)), section, key, origin, file)
            }
            section.report(origin, "\"\(key)\" needs \(file), which cannot be read here")
        case (nil, nil, let stored?):
            let origin = inside.origin(of: "secret")
            do throws(StateError) {
                let path = (section.path + [key]).joined(separator: ".")
                let secret = try section.reading.storedSecret(stored, for: path)
                return filled(secret, section, key, origin, "the secret \"\(stored)\"")
            } catch {
                section.report(origin, "\"\(key)\" needs \(error.message)")
            }
        default:
            section.report(section.place(of: key), "\"\(key)\" needs one of \"env\", \"file\" and \"secret\"")
        }
        return nil
    }

    /// Returns a secret, and reports an empty one.
    ///
    /// - Parameter place: the source of the secret, for people.
    private static func filled(
        _ secret: Secret, _ section: ConfigurationSection, _ key: String, _ origin: Diagnostic.Origin, _ place: String
    ) -> Secret? {
        guard secret.isEmpty else { return secret }
        section.report(origin, "\"\(key)\" comes from \(place), where it is empty; write the secret there")
        return nil
    }
}

extension SettingKind where Value == [Secret] {
    /// A secret, or a list of secrets.
    package static var secrets: SettingKind {
        SettingKind(.list(.secret, shortest: 1)) { section, key in
            guard case .array(let items)? = section.value(key), !section.isOverridden(key) else {
                return section.read(key, .secret).map { [$0] }
            }
            let secrets = items.enumerated().compactMap { number, item -> Secret? in
                guard case .object = item else {
                    section.report(
                        section.place(of: key, .item(number)),
                        "\"\(key)\" is in plain text here; use { env: NAME } or { file: PATH } instead")
                    return nil
                }
                return SettingKind<Secret>.place(
                    of: key, section, inside: section.section(key, item: number, item))
            }
            if items.isEmpty { section.report(section.place(of: key), "\"\(key)\" is empty; write a secret") }
            return secrets.count == items.count && !items.isEmpty ? secrets : nil
        }
    }
}

// MARK: - Mappings and lists of them

extension SettingKind {
    /// A mapping.
    package static func mapping(_ grammar: Grammar<Value>) -> SettingKind {
        SettingKind(grammar.shape) { section, key in grammar.read(section.section(key)) }
    }

    /// An optional mapping.
    package static func mappingIfGiven(_ grammar: Grammar<Value>) -> SettingKind {
        SettingKind(grammar.shape) { section, key in
            guard section.has(key) else {
                _ = section.value(key)
                return nil
            }
            return grammar.read(section.section(key))
        }
    }

    /// A mapping, `true` for a mapping without keys, or `false`.
    package static func `switch`(_ grammar: Grammar<Value>) -> SettingKind {
        SettingKind(.either([.boolean, grammar.shape])) { section, key in
            if case .object? = section.value(key) { return grammar.read(section.section(key)) }
            return section.read(key, .boolean) == true ? grammar.blank : nil
        }
    }

    /// A list of mappings that have names. Items with a fault are left out.
    package static func items<Item>(_ what: String, _ item: Grammar<Item>) -> SettingKind where Value == [Item] {
        SettingKind(.items(item.shape)) { section, key in
            section.value(key) == nil ? nil : section.items(key, what, read: { item.read($0) })
        }
    }
}
