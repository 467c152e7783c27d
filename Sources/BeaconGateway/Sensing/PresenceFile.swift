import BeaconModel
import BeaconSupport
import Foundation

/// The file of the states that regions had when the daemon ran last, so that a restart repeats no enter and misses no
/// exit.
///
/// It is replaced as a whole after the notifications of a change are durable: a crash in between repeats the change,
/// and loses none.
struct PresenceFile: Sendable {
    private struct Entry: Codable, Equatable {
        var region: String
        var state: UInt8
    }

    private struct Content: Codable {
        var regions: [String: Entry]
    }

    private let file: URL

    /// Creates the file beside an outbox.
    init(besideOutbox path: String) { file = URL(fileURLWithPath: path).appendingPathExtension("presence.json") }

    /// Returns the states by label.
    ///
    /// - Throws: an error where the file cannot be read, or holds something else.
    func load() throws -> [String: (constraint: BeaconConstraint, state: RegionState)] {
        guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
        let content = try JSONDecoder().decode(Content.self, from: Data(contentsOf: file))
        return content.regions.compactMapValues { entry in
            guard let constraint = BeaconConstraint(entry.region), let state = RegionState(rawValue: entry.state) else {
                return nil
            }
            return (constraint, state)
        }
    }

    /// Replaces the states that were written.
    ///
    /// - Parameter states: the states that were known last, by label.
    /// - Throws: an error where they cannot be written.
    func save(_ states: [String: (constraint: BeaconConstraint, state: RegionState)]) throws {
        let content = Content(
            regions: states.mapValues { Entry(region: $0.constraint.description, state: $0.state.rawValue) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try AtomicFile.replace(file.path, with: encoder.encode(content))
    }
}
