import Foundation
import KumulosSDK

/// Prints each event as a line of JSON. Kumulos' own SDK sends it to its servers.
struct EventPrinter: KumulosEventSink {
    func record(_ event: KumulosEvent) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        print(String(decoding: try encoder.encode(event), as: UTF8.self))
    }
}
