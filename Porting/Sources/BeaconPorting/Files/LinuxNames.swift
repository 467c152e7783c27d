internal import DelegateCheck

/// The types that exist on Linux.
///
/// In a file that imports a framework, this decides which unknown types belong to the framework: the many names of the
/// frameworks need no table.
enum LinuxNames {
    /// Returns whether a name is that of a type, or of a constant such as `kCCSuccess`, but of none of Linux.
    static func isMissing(_ name: String) -> Bool {
        guard isOfFramework(name), !types.contains(name) else { return false }
        return !prefixes.contains { name.hasPrefix($0) && name.dropFirst($0.count).first?.isUppercase ?? false }
    }

    /// Returns whether a name has the form of a framework's types and constants.
    static func isOfFramework(_ name: String) -> Bool {
        (name.first == "k" ? name.dropFirst() : name[...]).first?.isUppercase ?? false && name.count > 1
    }

    /// Modules whose types are here. The types of other packages are not known.
    static let modules = LinuxModules.shared.union([
        "Combine", "FoundationNetworking", "Glibc", "KumulosSDK", "Testing", "XCTest",
    ])

    /// Prefixes of the names of Core Location, Core Bluetooth, Core Foundation, Dispatch, and parts of Foundation.
    private static let prefixes = [
        "CB", "CF", "CL", "Dispatch", "ExpressibleBy", "SIMD", "URL", "Unsafe", "kCB", "kCL",
    ]

    /// The types, and names that other rules handle.
    static let types = Set(
        String(decoding: PackageResources.LinuxTypes_txt, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .map(String.init))
}

/// The names that the frameworks declare.
///
/// Each line of the table is a framework with its names. `UI*` is a prefix, and `CM+` is one that counts only in files
/// that import the framework, because apps also use short prefixes.
enum FrameworkNames {
    private static let rows: [(framework: String, words: [String])] = {
        let lines = String(decoding: PackageResources.FrameworkNames_txt, as: UTF8.self).split(separator: "\n")
        let rows = lines.map { $0.split { $0 == ":" || $0 == " " }.map(String.init) }
        return rows.map { ($0[0], Array($0.dropFirst())) }
    }()

    /// Returns the names of a framework.
    static func names(of framework: String) -> Set<String> {
        Set(rows.filter { $0.framework == framework }.flatMap(\.words))
    }

    /// The frameworks that Linux lacks, by their names.
    static let frameworks = Dictionary(
        rows.filter { AppleModule($0.framework) != nil || $0.framework == "CoreFoundation" }
            .flatMap { row in row.words.filter { $0.last?.isLetter ?? false }.map { ($0, row.framework) } },
        uniquingKeysWith: { first, _ in first })

    /// The prefixes of their names.
    static let prefixes = rows.flatMap { row in
        row.words.filter { $0.last == "*" || $0.last == "+" }.map {
            (prefix: String($0.dropLast()), framework: row.framework, needsImport: $0.last == "+")
        }
    }
}
