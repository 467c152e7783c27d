import Foundation
import Testing

/// The table in docs/core-location.md of members that compile without an effect.
@Suite("The table of inert members")
struct InertMemberTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The members of the modules by type, each with its documentation.
    private static func members() throws -> [String: String] {
        var result: [String: String] = [:]
        for module in ["CoreLocation", "CoreBluetooth", "KumulosSDK"] {
            let folder = root.appendingPathComponent("Sources/\(module)")
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                var type = ""
                var comment = ""
                for line in try String(contentsOf: file, encoding: .utf8).split(
                    separator: "\n", omittingEmptySubsequences: false)
                {
                    if let match = line.firstMatch(of: /^(?:open |public )*(?:class|struct|protocol|extension) (\w+)/) {
                        type = String(match.1)
                    }
                    if line.firstMatch(of: /^ *\/\/\/ ?/) != nil {
                        comment += line + "\n"
                    } else if let match = line.firstMatch(
                        of: /^    (?:open |public )?(?:static |class |weak |internal\(set\) )*(?:func|var|let) (\w+)/)
                    {
                        result["\(type).\(match.1)", default: ""] += comment
                        comment = ""
                    } else if !line.contains("@") {
                        comment = ""
                    }
                }
            }
        }
        return result
    }

    private static func table() throws -> Set<String> {
        let page = try String(contentsOf: root.appendingPathComponent("docs/core-location.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "### Present and inert").last)
        let rows = section.split(separator: "\n").drop { !$0.hasPrefix("| ") }.prefix { $0.hasPrefix("|") }.dropFirst(2)
        return Set(
            rows.flatMap { row in
                row.split(separator: "|")[0].matches(of: /`(\w+\.\w+)`/).map { String($0.1) }
            })
    }

    @Test("Each member of the table exists, and each member that does nothing is in the table")
    func table() throws {
        let members = try Self.members()
        let table = try Self.table()
        #expect(table.count > 50)
        #expect(table.filter { members[$0] == nil } == [])
        // Except delegates' defaults, which apps implement, and old forms that have a replacement.
        let silent = members.filter { name, comment in
            comment.contains("Does nothing")
                && !name.contains("Delegate") && !name.contains("Extension")
        }
        #expect(Set(silent.keys).subtracting(table) == [])
    }
}
