import Foundation
import KumulosSDK

/// Shows each event as a line of JSON, where Kumulos' own SDK would send it to its servers.
struct EventPrinter: KumulosEventSink {
    func record(_ event: KumulosEvent) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        print(String(decoding: try encoder.encode(event), as: UTF8.self))
    }
}
