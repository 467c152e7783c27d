import BeaconModel
import BeaconSupport
import Foundation
import GRDB

/// The states that regions had, and the places that beacons were in, when beacond ran last, so that a restart repeats
/// no enter and misses no exit.
struct Presence: Hashable, Sendable {
    /// A region as it was known last.
    struct Region: Hashable, Sendable {
        /// The beacons that belong to it.
        var constraint: BeaconConstraint
        /// The state that was known last.
        var state: RegionState
        /// The source whose receiver kept the region inside, where one did: its silence alone decides after a restart.
        var source: String?
        /// That receiver, where its source has several.
        var holder: String?
        /// When it changed last, by the wall clock, and the receiver that caused it.
        var since: Timestamp?
        var receiver: String?
    }

    /// The regions by label.
    var regions: [String: Region] = [:]
    /// The places that beacons were in.
    var places: [BeaconIdentity: String] = [:]
}

extension Presence.Region {
    /// A region of a row; nil for one of a newer version.
    ///
    /// - Throws: an error where a value is of another type than this program writes.
    fileprivate init?(_ row: Row) throws {
        guard let constraint = BeaconConstraint(try row.decode(String.self, forColumn: "beacons")),
            let state = RegionState(rawValue: try row.decode(forColumn: "state"))
        else { return nil }
        self.init(
            constraint: constraint, state: state, source: try row.decode(forColumn: "source"),
            holder: try row.decode(forColumn: "holder"),
            since: try row.decode(Int64?.self, forColumn: "since").map { Timestamp(nanoseconds: $0) },
            receiver: try row.decode(forColumn: "receiver"))
    }
}

extension GatewayState {
    /// Returns what was known last.
    ///
    /// - Throws: an error where it cannot be read.
    func presence() async throws -> Presence {
        // On a disk that cannot be written either, nothing is known where there is no file.
        guard FileManager.default.fileExists(atPath: file.file.path) else { return Presence() }
        let presence = try await read { [file] database in
            let regions = file.values(of: try Row.fetchAll(database, sql: "SELECT * FROM region")) { row in
                try Presence.Region(row).map { (label: try row.decode(String.self, forColumn: "label"), region: $0) }
            }
            let places = file.values(of: try Row.fetchAll(database, sql: "SELECT * FROM whereabouts")) { row in
                try BeaconConstraint(row.decode(String.self, forColumn: "beacon"))?.identity
                    .map { (beacon: $0, place: try row.decode(String.self, forColumn: "place")) }
            }
            return Presence(
                regions: Dictionary(regions.map { ($0.label, $0.region) }) { first, _ in first },
                places: Dictionary(places.map { ($0.beacon, $0.place) }) { first, _ in first })
        }
        savedPresence.withLock { $0 = presence }
        return presence
    }

    /// Writes what is known now. It is called after the notifications of a change are durable: a crash in between
    /// repeats the change, and loses none.
    ///
    /// - Throws: an error where it cannot be written.
    func save(_ presence: Presence) async throws {
        let savedPresence = savedPresence
        try await write { database in
            // What the disk has is written again only where that is not known, as with a file that was begun anew.
            let saved = savedPresence.withLock { $0 }
            if saved == nil { try database.execute(sql: "DELETE FROM region; DELETE FROM whereabouts") }
            for (label, region) in presence.regions where saved?.regions[label] != region {
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO region (label, beacons, state, source, holder, since, receiver)
                        VALUES (?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        label, region.constraint.description, region.state.rawValue, region.source, region.holder,
                        region.since?.nanoseconds, region.receiver,
                    ])
            }
            for label in saved?.regions.keys ?? [:].keys where presence.regions[label] == nil {
                try database.execute(sql: "DELETE FROM region WHERE label = ?", arguments: [label])
            }
            for (beacon, place) in presence.places where saved?.places[beacon] != place {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO whereabouts (beacon, place) VALUES (?, ?)",
                    arguments: [beacon.description, place])
            }
            for beacon in saved?.places.keys ?? [:].keys where presence.places[beacon] == nil {
                try database.execute(
                    sql: "DELETE FROM whereabouts WHERE beacon = ?", arguments: [beacon.description])
            }
        }
        savedPresence.withLock { $0 = presence }
    }
}
