import BeaconGateway
import BeaconSupport
import CConsole
import Foundation

/// The console's files and the interface's description, which are linked into the program.
enum ConsoleFiles {
    /// A file.
    struct File: Sendable {
        var name: String
        var content: [UInt8]
        /// The media type.
        var type: String
        /// The entity tag that browsers revalidate their cached copy with.
        var tag: String

        fileprivate init(_ file: beacon_console_file) {
            name = String(cString: file.name)
            content = Array(UnsafeBufferPointer(start: file.content, count: file.size))
            type =
                switch name.split(separator: ".").last {
                case "html": "text/html; charset=utf-8"
                case "css": "text/css; charset=utf-8"
                case "json": "application/json"
                default: "text/javascript; charset=utf-8"
                }
            tag = "\"" + String(StableHash.fnv1a(content), radix: 16) + "\""
        }
    }

    /// Returns true for the files of the page with which apps show messages.
    static func isForApps(_ name: some StringProtocol) -> Bool { name.hasPrefix("in-app.") }

    /// All files: the page, its styles and its scripts, and `v1/openapi.json`. `CConsole.c` lists them.
    static let all: [File] = {
        var count = 0
        let first = beacon_console_files(&count)
        return UnsafeBufferPointer(start: first, count: count).map(File.init)
    }()
}
