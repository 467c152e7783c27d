internal import Foundation

/// A package, as SwiftPM describes it.
struct SwiftPackage: Decodable {
    /// A target, with the products that it is part of.
    struct Target: Decodable {
        let name, c99name, path, moduleType: String
        let sources: [String]
        let targetDependencies, productDependencies, productMemberships: [String]?

        var isSwift: Bool { moduleType == "SwiftTarget" }
    }

    struct Product: Decodable {
        let name: String
        let targets: [String]
    }

    let name, path, toolsVersion: String
    let swiftLanguagesVersions: [String]?
    let targets: [Target]
    let products: [Product]

    /// A package, and the packages that it depends on.
    private struct Node: Decodable {
        let path: String
        let dependencies: [Node]

        var all: Set<String> { dependencies.reduce([path]) { $0.union($1.all) } }
    }

    /// Reads the description of the package in a directory.
    static func described(at path: String) throws -> SwiftPackage {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Self.self, from: try swift("package", "describe", "--type", "json", at: path))
    }

    /// Reads the descriptions of all packages that this one depends on.
    func dependencies() throws -> [SwiftPackage] {
        let tree = try Self.swift("package", "show-dependencies", "--format", "json", at: path)
        let paths = try JSONDecoder().decode(Node.self, from: tree).all.subtracting([path])
        return try paths.sorted().map(Self.described)
    }

    /// Returns the files of each target and of the targets that it depends on, and the modules that it may import. A
    /// module comes after those that it imports.
    func modules(of names: [String], with dependencies: [SwiftPackage]) throws -> [Module] {
        let byName = Dictionary(targets.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        if let unknown = names.first(where: { byName[$0] == nil }) {
            throw OptionsError("the package '\(name)' has no target '\(unknown)'")
        }
        func below(_ target: Target) -> [Target] {
            var found: Set<String> = []
            var next = target.targetDependencies ?? []
            while let name = next.popLast() {
                if found.insert(name).inserted { next += byName[name]?.targetDependencies ?? [] }
            }
            return found.sorted().compactMap { byName[$0] }
        }
        func paths(_ target: Target) -> [String] { target.sources.sorted().map { "\(path)/\(target.path)/\($0)" } }
        let all = targets.filter { $0.isSwift && (names.isEmpty || names.contains($0.name)) }
            .map { (target: $0, below: below($0)) }.sorted { $0.below.count < $1.below.count }
        return all.map { target, below in
            let products = Set(([target] + below).flatMap { $0.productDependencies ?? [] })
            let others = dependencies.flatMap(\.targets)
                .filter { !products.isDisjoint(with: $0.productMemberships ?? []) }
            return Module(
                name: target.c99name, dependencies: Set((below + others).map(\.c99name)),
                sources: paths(target), context: below.filter(\.isSwift).flatMap(paths))
        }
    }

    /// Builds the modules of other packages that the targets use, and returns the compiler's flags to find them.
    func build(with dependencies: [SwiftPackage]) throws -> [String] {
        let used = Set(targets.flatMap { $0.productDependencies ?? [] })
        for package in dependencies {
            let swift = Set(package.targets.filter(\.isSwift).map(\.name))
            let modules = package.products.filter { used.contains($0.name) }.flatMap(\.targets)
            for module in Set(modules).intersection(swift).sorted() {
                FileHandle.standardError.write(
                    Data("Building \(module) for the check. The first time takes minutes.\n".utf8))
                _ = try Self.swift("build", "--target", module, at: path)
            }
        }
        let folder = String(decoding: try Self.swift("build", "--show-bin-path", at: path), as: UTF8.self)
        let build = URL(filePath: folder.trimmingCharacters(in: .whitespacesAndNewlines))
        // The descriptions of C modules, those that SwiftPM has written and those in the sources.
        let places = ([self] + dependencies).flatMap { package in
            package.targets.filter { !$0.isSwift }.flatMap { target in
                let sources = URL(filePath: "\(package.path)/\(target.path)")
                return [build.appending(path: target.name + ".build"), sources, sources.appending(path: "include")]
            }
        }
        let maps = places.map { $0.appending(path: "module.modulemap").path(percentEncoded: false) }
        return ["-I", build.appending(path: "Modules").path(percentEncoded: false)]
            + ["-swift-version", swiftLanguagesVersions?.last ?? (toolsVersion.hasPrefix("5") ? "5" : "6")]
            + maps.filter(FileManager.default.fileExists).flatMap { ["-Xcc", "-fmodule-map-file=" + $0] }
    }

    /// Writes a package that depends on this checkout, for the check of sources that are in no package.
    static func forSources(importing isImported: (String) -> Bool) throws -> SwiftPackage {
        let porting = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
        let folder = porting.appending(path: ".build/app")
        var products = ["CoreLocation", "CoreBluetooth"]
        var traits: [String] = []
        for (product, trait) in [("Combine", "Combine"), ("KumulosSDK", "Delivery")] where isImported(product) {
            products.append(product)
            traits.append(trait)
        }
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "app",
                dependencies: [.package(name: "swift-beacon", path: "../../..", traits: \(traits))],
                targets: [
                    .target(name: "App", dependencies: \(products).map { .product(name: $0, package: "swift-beacon") })
                ],
                swiftLanguageModes: [.v5])
            """
        let sources = folder.appending(path: "Sources/App")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        try Data(manifest.utf8).write(to: folder.appending(path: "Package.swift"))
        try Data().write(to: sources.appending(path: "App.swift"))
        return try described(at: folder.path(percentEncoded: false))
    }

    /// Runs SwiftPM for the package in a directory, and returns its output.
    private static func swift(_ command: String, _ arguments: String..., at path: String) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swift", command, "--package-path", path] + arguments
        let (output, errors) = (Pipe(), FileManager.default.temporaryDirectory.appending(path: "\(UUID())"))
        try Data().write(to: errors)
        defer { try? FileManager.default.removeItem(at: errors) }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let texts = [data, try Data(contentsOf: errors)].map { String(decoding: $0, as: UTF8.self) }
            throw OptionsError(
                "'swift \(([command] + arguments).joined(separator: " "))' failed in '\(path)':\n" + texts.joined())
        }
        return data
    }
}
