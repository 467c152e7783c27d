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
        /// When it changed last, by the wall clock, and the receiver that caused it.
        var since: Timestamp?
        var receiver: String?
    }

    /// What was known last.
    struct Content: Hashable, Sendable {
        /// The regions by label.
        var regions: [String: Region] = [:]
        /// The places that beacons were in.
        var places: [BeaconIdentity: String] = [:]
    }

    private struct Entry: Codable, Equatable {
        var region: String
        var state: UInt8
        var source: String?
        /// Seconds since 1970.
        var since: Double?
        var receiver: String?
    }

    private struct Form: Codable {
        var regions: [String: Entry]
        /// The places by the beacons' identities.
        var places: [String: String]?
    }

    private let file: URL

    /// Creates the file beside an outbox.
    init(besideOutbox path: String) { file = URL(fileURLWithPath: path).appendingPathExtension("presence.json") }

    /// Returns what was known last.
    ///
    /// - Throws: an error where the file cannot be read, or holds something else.
    func load() throws -> Content {
        guard FileManager.default.fileExists(atPath: file.path) else { return Content() }
        let form = try JSONDecoder().decode(Form.self, from: Data(contentsOf: file))
        var content = Content()
        for (beacon, place) in form.places ?? [:] {
            if let identity = BeaconConstraint(beacon)?.identity { content.places[identity] = place }
        }
        content.regions = form.regions.compactMapValues { entry in
            guard let constraint = BeaconConstraint(entry.region), let state = RegionState(rawValue: entry.state) else {
                return nil
            }
            return Region(
                constraint: constraint, state: state, source: entry.source,
                since: entry.since.flatMap { Timestamp(seconds: $0) }, receiver: entry.receiver)
        }
        return content
    }

    /// Replaces what was written.
    ///
    /// - Throws: an error where it cannot be written.
    func save(_ content: Content) throws {
        let form = Form(
            regions: content.regions.mapValues {
                Entry(
                    region: $0.constraint.description, state: $0.state.rawValue, source: $0.source,
                    since: $0.since?.seconds, receiver: $0.receiver)
            },
            places: content.places.isEmpty
                ? nil : Dictionary(uniqueKeysWithValues: content.places.map { ($0.key.description, $0.value) }))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try AtomicFile.replace(file.path, with: encoder.encode(form))
    }
}
