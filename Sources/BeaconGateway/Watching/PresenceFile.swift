import BeaconEngine
import BeaconModel
import BeaconService
import Foundation

/// Where regions stood when the daemon ran last, so that a restart tells no enter again and misses no exit.
///
/// It is replaced as a whole after the notifications of a change are durable: a crash in between tells the change again,
/// and none is lost.
struct PresenceFile: Sendable {
    private struct Entry: Codable, Equatable {
        var region: String
        var state: UInt8
    }

    private struct Content: Codable {
        var regions: [String: Entry]
    }

    private let file: URL

    /// The file beside an outbox.
    init(besideOutbox path: String) { file = URL(fileURLWithPath: path).appendingPathExtension("presence.json") }

    /// The states by label, of regions that are still the same.
    ///
    /// - Throws: what is wrong with the file.
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

    /// Replaces what was written. What applications know of their regions is theirs to keep.
    ///
    /// - Throws: why it cannot be written.
    func save(_ regions: some Collection<RegionBoard.Entry>) throws {
        var content = Content(regions: [:])
        for region in regions {
            if case .application = region.watched { continue }
            content.regions[region.watched.label] = Entry(
                region: region.constraint.description, state: region.state.rawValue)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try encoder.encode(content).write(to: file, options: .atomic)
    }
}
