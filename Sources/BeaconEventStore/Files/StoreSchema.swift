import Foundation
import GRDB

/// The tables of an event store's file.
enum StoreSchema {
    /// The four characters SBES, which identify the file to file(1) and to this module (SQLite, PRAGMA application_id).
    static let applicationID: Int32 = 0x5342_4553

    /// The version of the tables.
    static let version: Int32 = 5

    /// The statement that sets the page size of a new file. A commit writes whole pages, and pages of 2 kB halve the
    /// data written for a single event. Most events and values would not fit into smaller pages.
    static let pageSize = "PRAGMA page_size = 2048"

    /// The statements that create the tables. There is no index beside the keys that changes with most events, because
    /// it would write another page for each. The index of destinations keeps their names on a second page, so that
    /// mailboxes survive damage to the first.
    ///
    /// `known` keeps the ids of events longer than `event` keeps the events, so that a sender's repetition is
    /// recognized. `boot` has one row: the boot in which the newest events arrived, the offset of the wall clock from
    /// the boot's clock in milliseconds, the first event, and the time since boot until which the wall clock is not
    /// trusted. A row of `delivery` is an event that a set of destinations has yet to handle, or that one has refused
    /// (``MailState``): one row for all destinations, because each event and each delivery writes the page. The set is
    /// the bits of ``ConsumerStatus/slot``. `since` is the time of the last change, null for the arrival of the event,
    /// and the body is null unless it differs from the event's.
    static let tables = [
        "event": """
        CREATE TABLE event (number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL, time INTEGER NOT NULL, \
        arrival INTEGER NOT NULL, kind TEXT NOT NULL, priority INTEGER NOT NULL, region TEXT, place TEXT, beacon BLOB, \
        receiver TEXT, sender TEXT, install TEXT, audience TEXT, body BLOB NOT NULL, \
        private BLOB NOT NULL)
        """,
        "known": "CREATE TABLE known (id BLOB PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
        "state": """
        CREATE TABLE state (namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, sender TEXT, \
        modified INTEGER NOT NULL, PRIMARY KEY (namespace, key)) WITHOUT ROWID
        """,
        "stateBySender":
            "CREATE INDEX stateBySender ON state (namespace, sender, modified) WHERE sender IS NOT NULL",
        "destination": ConsumerStatus.schema,
        "destinationBySlot": "CREATE UNIQUE INDEX destinationBySlot ON destination (slot)",
        "delivery": """
        CREATE TABLE delivery (state INTEGER NOT NULL, number INTEGER NOT NULL, bank INTEGER NOT NULL, \
        destinations INTEGER NOT NULL, priority INTEGER NOT NULL, bytes INTEGER NOT NULL, since INTEGER, \
        attempts INTEGER NOT NULL, reason TEXT, body BLOB, PRIMARY KEY (state, number, bank, destinations)) \
        WITHOUT ROWID
        """,
        "boot": """
        CREATE TABLE boot (id TEXT NOT NULL, lead INTEGER NOT NULL, firstNumber INTEGER NOT NULL, \
        trusted INTEGER NOT NULL)
        """,
    ]

    /// Checks that a file is an event store whose tables this version can read.
    ///
    /// - Throws: ``EventStoreError``: `notOurs` or `newer`.
    static func check(_ database: Database, _ file: URL) throws {
        guard try Int32.fetchOne(database, sql: "PRAGMA application_id") == applicationID else {
            throw EventStoreError(
                .notOurs, "\(file.path) is not an event store. Give the store another path, or move the file")
        }
        let found = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= version else {
            throw EventStoreError(
                .newer,
                "a later version of this program wrote \(file.path) (format \(found); this one reads \(version)). "
                    + "Install that version again, or restore a backup from before the update")
        }
        guard found == version else {
            throw EventStoreError(
                .notOurs,
                "\(file.path) is from before version 0.1.0 (format \(found); this program reads \(version)). "
                    + "Move it aside")
        }
    }

    /// Creates the tables.
    static func create(in database: Database) throws {
        // An index comes after its table.
        for (_, sql) in tables.sorted(by: { $0.key < $1.key }) { try database.execute(sql: sql) }
        try database.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }

    /// Rewrites a page of the file without changing its content.
    static func touch(_ database: Database) throws {
        try database.execute(sql: "PRAGMA user_version = \(version)")
    }

    /// SQLite's own tables: the sequence, and the statistics of ANALYZE.
    private static let tablesOfSQLite: Set = [
        "CREATE TABLE sqlite_sequence(name,seq)", "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
        "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    ]

    /// Returns whether a file has exactly these tables. Triggers, views and changed tables are foreign, and could do
    /// anything.
    static func isWhole(_ database: Database) throws -> Bool {
        var found = 0
        let rows = try Row.fetchCursor(database, sql: "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        while let row = try rows.next() {
            let name = try StoreRow(row).text(0, atMost: 1 << 16)
            let sql = try StoreRow(row).text(1, atMost: 1 << 20)
            if tablesOfSQLite.contains(sql) { continue }
            guard tables[name] == sql else { return false }
            found += 1
        }
        return found == tables.count
    }
}
