import BeaconModel
import BeaconSupport
import Foundation

/// The file of the states that regions had when the daemon ran last, so that a restart repeats no enter and misses no
/// exit.
///
/// It is replaced as a whole after the notifications of a change are durable: a crash in between repeats the change,
/// and loses none.
struct PresenceFile: Sendable {
    /// A region as it was known last.
    struct Region: Hashable, Sendable {
        /// The beacons that belong to it.
        var constraint: BeaconConstraint
        /// The state that was known last.
        var state: RegionState
        /// The source whose receiver kept the region inside, where one did: its silence alone decides after a restart.
        var source: String?
    }

    private struct Entry: Codable, Equatable {
        var region: String
        var state: UInt8
        var source: String?
    }

    private struct Content: Codable {
        var regions: [String: Entry]
    }

    private let file: URL

    /// Creates the file beside an outbox.
    init(besideOutbox path: String) { file = URL(fileURLWithPath: path).appendingPathExtension("presence.json") }

    /// Returns the regions by label.
    ///
    /// - Throws: an error where the file cannot be read, or holds something else.
    func load() throws -> [String: Region] {
        guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
        let content = try JSONDecoder().decode(Content.self, from: Data(contentsOf: file))
        return content.regions.compactMapValues { entry in
            guard let constraint = BeaconConstraint(entry.region), let state = RegionState(rawValue: entry.state) else {
                return nil
            }
            return Region(constraint: constraint, state: state, source: entry.source)
        }
    }

    /// Replaces the regions that were written.
    ///
    /// - Parameter regions: the regions as they were known last, by label.
    /// - Throws: an error where they cannot be written.
    func save(_ regions: [String: Region]) throws {
        let content = Content(
            regions: regions.mapValues {
                Entry(region: $0.constraint.description, state: $0.state.rawValue, source: $0.source)
            })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try AtomicFile.replace(file.path, with: encoder.encode(content))
    }
}
