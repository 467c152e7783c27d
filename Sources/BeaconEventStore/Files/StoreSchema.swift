import Foundation
import GRDB

/// The tables of an event store's file.
enum StoreSchema {
    /// The four characters SBES, which identify the file to file(1) and to this module (SQLite, PRAGMA application_id).
    static let applicationID: Int32 = 0x5342_4553

    /// The version of the tables.
    static let version: Int32 = 3

    /// The statement that sets the page size of a new file. A commit writes whole pages, and pages of 2 kB halve the
    /// data written for a single event. Most events and values would not fit into smaller pages.
    static let pageSize = "PRAGMA page_size = 2048"

    /// A table, with the statement that creates it.
    struct Table: Sendable {
        var name: String
        var sql: String
    }

    /// The columns of an event, in `event` and in `refused`, whose rows outlive the event itself.
    private static let eventColumns = """
        id BLOB NOT NULL, time INTEGER NOT NULL, arrival INTEGER NOT NULL, kind TEXT NOT NULL, \
        priority INTEGER NOT NULL, region TEXT, place TEXT, beacon BLOB, receiver TEXT, sender TEXT, install TEXT, \
        audience TEXT, body BLOB NOT NULL, private BLOB NOT NULL
        """

    /// `known` keeps the ids of events longer than `event` keeps the events, so that a sender's repetition is
    /// recognized. `lookup` finds events by an attribute; see ``EventLookup``. `boot` has one row: the boot in which
    /// the newest events arrived, the offset of the wall clock from the boot's clock in milliseconds, and the first
    /// event.
    ///
    /// A row of `refused` is a dead letter (0), or an event that waits out of order because it is retried or was
    /// addressed (1).
    static let tables = [
        Table(name: "event", sql: "CREATE TABLE event (number INTEGER PRIMARY KEY AUTOINCREMENT, \(eventColumns))"),
        Table(name: "known", sql: "CREATE TABLE known (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE)"),
        Table(
            name: "state",
            sql: """
                CREATE TABLE state (namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, sender TEXT, \
                modified INTEGER NOT NULL, PRIMARY KEY (namespace, key)) WITHOUT ROWID
                """),
        Table(name: "consumer", sql: ConsumerStatus.schema),
        Table(
            name: "refused",
            sql: """
                CREATE TABLE refused (consumer TEXT NOT NULL, number INTEGER NOT NULL, state INTEGER NOT NULL, \
                attempts INTEGER NOT NULL, reason TEXT NOT NULL, refusedAt INTEGER NOT NULL, \(eventColumns), \
                PRIMARY KEY (consumer, number)) WITHOUT ROWID
                """),
        Table(
            name: "lookup",
            sql: """
                CREATE TABLE lookup (field INTEGER NOT NULL, value NOT NULL, number INTEGER NOT NULL, \
                PRIMARY KEY (field, value, number)) WITHOUT ROWID
                """),
        Table(
            name: "boot",
            sql: "CREATE TABLE boot (id TEXT NOT NULL, lead INTEGER NOT NULL, firstNumber INTEGER NOT NULL)"),
    ]

    static let indexes = [
        Table(
            name: "stateBySender",
            sql: "CREATE INDEX stateBySender ON state (namespace, sender, modified) WHERE sender IS NOT NULL"),
        // The order in which excess events are dropped.
        Table(
            name: "refusedDue",
            sql: "CREATE INDEX refusedDue ON refused (consumer, priority, number) WHERE state = 1"),
    ]

    /// Creates the tables.
    static func create(in database: Database) throws {
        for table in tables + indexes { try database.execute(sql: table.sql) }
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
        var expected: [String: String] = [:]
        for table in tables + indexes { expected[table.name] = table.sql }
        var found = 0
        let rows = try Row.fetchCursor(database, sql: "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        while let row = try rows.next() {
            let name = try StoreRow(row).text(0, atMost: 1 << 16)
            let sql = try StoreRow(row).text(1, atMost: 1 << 20)
            if tablesOfSQLite.contains(sql) { continue }
            guard expected[name] == sql else { return false }
            found += 1
        }
        return found == expected.count
    }
}
