import Crypto
import Foundation

/// The files of the console, as they lie in the program.
enum ConsoleFiles {
    /// A file.
    struct File: Sendable {
        var name: String
        /// The media type.
        var type: String
        var content: [UInt8]
        /// The tag by which a browser knows that it has the file already.
        var tag: String

        init(_ name: String, _ type: String, _ content: [UInt8]) {
            self.name = name
            self.type = type
            self.content = content
            tag = "\"" + SHA256.hash(data: content).prefix(12).map { String(format: "%02x", $0) }.joined() + "\""
        }
    }

    private static let script = "text/javascript; charset=utf-8"

    /// All of them.
    static let all = [
        File("index.html", "text/html; charset=utf-8", PackageResources.index_html),
        File("console.css", "text/css; charset=utf-8", PackageResources.console_css),
        File("console.js", script, PackageResources.console_js),
        File("api.js", script, PackageResources.api_js),
        File("dom.js", script, PackageResources.dom_js),
        File("format.js", script, PackageResources.format_js),
        File("page-now.js", script, PackageResources.page_now_js),
        File("page-range.js", script, PackageResources.page_range_js),
        File("page-configure.js", script, PackageResources.page_configure_js),
        File("page-events.js", script, PackageResources.page_events_js),
        File("page-rules.js", script, PackageResources.page_rules_js),
        File("page-receivers.js", script, PackageResources.page_receivers_js),
        File("page-deliveries.js", script, PackageResources.page_deliveries_js),
        File("page-health.js", script, PackageResources.page_health_js),
        File("why.js", script, PackageResources.why_js),
    ]
}
