import BeaconSupport
import Foundation
import GRDB
import Logging

/// A SQLite file of beacond's own, which is opened when it is needed, and set aside and begun anew where it is damaged.
///
/// It is in write-ahead mode, so that an end of the process at any moment leaves whole transactions.
final class StateFile: Sendable {
    /// What a file is for, and what is in it.
    struct Kind: Sendable {
        /// What it is, in messages: "the history".
        var title: String
        /// The number that identifies the file (SQLite, PRAGMA application_id).
        var applicationID: Int32
        /// True where each transaction waits for the disk, so that a loss of power loses none either.
        var isSynced: Bool
        /// Returns what brings the tables of any earlier version to this one's.
        var migrator: @Sendable () -> DatabaseMigrator
    }

    /// A file that is not ours, and is left alone.
    private struct ForeignFile: Error, CustomStringConvertible {
        var description: String { "it is a database of another program; move it away, or give the outbox another path" }
    }

    /// The time for which somebody else who looks at the file delays us. What cannot be written then is tried again.
    private static let patience = 0.25

    let file: URL
    private let kind: Kind
    private let logger: Logger
    private let database = Locked<DatabasePool?>(nil)
    private let hasReportedRows = Locked(false)

    /// A file, which is opened, and created where there is none, with its first use.
    ///
    /// - Parameters:
    ///   - file: the path.
    ///   - kind: what it is for.
    ///   - logger: the log.
    init(_ file: URL, _ kind: Kind, logger: Logger) {
        self.file = file
        self.kind = kind
        self.logger = logger
    }

    /// Returns the open database.
    ///
    /// - Throws: SQLite's error where it cannot be opened. The next call tries again.
    func opened() throws -> DatabasePool {
        try database.withLock { database in
            if let database { return database }
            do {
                database = try open()
            } catch let error as DatabaseError where error.resultCode.isDamage {
                database = try begin(anewBecauseOf: error)
            }
            return try database ?? open()
        }
    }

    /// Sets the file aside where it is damaged, and begins another one.
    ///
    /// - Parameters:
    ///   - failed: the database that gave the error. Where another one was begun meanwhile, that stays.
    ///   - error: the error.
    /// - Returns: false where the error was another one.
    /// - Throws: an error where no other can be begun.
    func replace(_ failed: DatabasePool, ifDamagedBy error: any Error) throws -> Bool {
        guard let error = error as? DatabaseError, error.resultCode.isDamage else { return false }
        try database.withLock { database in
            guard database === failed else { return }
            try? database?.close()
            database = nil
            database = try begin(anewBecauseOf: error)
        }
        return true
    }

    /// Returns the values of rows. Rows that cannot be read, since another program or a damage spoilt them, are passed
    /// over, and the first of them is logged.
    func values<Value>(of rows: [Row], _ value: (Row) throws -> Value?) -> [Value] {
        rows.compactMap { row in
            do {
                return try value(row)
            } catch {
                let isFirst = hasReportedRows.withLock { hasReported in
                    defer { hasReported = true }
                    return !hasReported
                }
                if isFirst {
                    logger.error(
                        "rows of \(kind.title) in \(file.path) cannot be read, and are passed over: \(error); check the disk"
                    )
                }
                return nil
            }
        }
    }

    /// Closes the file. The next use opens it again.
    func close() {
        database.withLock { database in
            try? database?.close()
            database = nil
        }
    }

    /// Adds the rows of another file of this kind, of the tables and columns that this program knows. Triggers, views
    /// and other tables of a crafted file stay behind.
    ///
    /// - Throws: SQLite's error where it is another file, is damaged, or has values of other types.
    func copyRows(from other: URL, leavingOut left: Set<String>) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        }
        let pool = try opened()
        try pool.close()
        database.withLock { $0 = nil }
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        defer { try? queue.close() }
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH DATABASE ? AS given", arguments: [other.path])
            let check = try String.fetchOne(database, sql: "PRAGMA given.quick_check")
            guard check == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: check) }
            let application = try Int32.fetchOne(database, sql: "PRAGMA given.application_id")
            guard application == kind.applicationID else {
                throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "a part of it is another file")
            }
            try database.inTransaction {
                let tables = try String.fetchAll(
                    database,
                    sql: """
                        SELECT name FROM main.sqlite_master WHERE type = 'table'
                        AND name NOT LIKE 'sqlite^_%' ESCAPE '^' AND name NOT LIKE 'grdb^_%' ESCAPE '^'
                        """)
                for table in tables where !left.contains(table) {
                    let definition = try String.fetchOne(
                        database, sql: "SELECT sql FROM given.sqlite_master WHERE type = 'table' AND name = ?",
                        arguments: [table])
                    guard definition?.uppercased().hasPrefix("CREATE TABLE") ?? false else {
                        throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "it has no table \"\(table)\"")
                    }
                    let columns = try database.columns(in: table, in: "main").map { $0.name.quotedDatabaseIdentifier }
                        .joined(separator: ", ")
                    try database.execute(
                        sql: "INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM given.\(table)")
                }
                return .commit
            }
            try database.execute(sql: "DETACH DATABASE given")
            _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
        }
    }

    private func open() throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = kind.title
        configuration.busyMode = .timeout(Self.patience)
        configuration.maximumReaderCount = 3
        let synchronous = kind.isSynced ? "FULL" : "NORMAL"
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = \(synchronous)")
            try database.execute(sql: "PRAGMA cache_size = -1000")
            try database.execute(sql: "PRAGMA journal_size_limit = 4194304")
        }
        // A beacond without destinations has no outbox that would have made the folder.
        try AtomicFile.makeFolder(file.deletingLastPathComponent().path)
        // Where it cannot be made, SQLite says why.
        try? AtomicFile.make(file.path)
        let pool = try DatabasePool(path: file.path, configuration: configuration)
        do {
            try prepare(pool)
        } catch {
            try? pool.close()
            throw error
        }
        return pool
    }

    /// Makes the tables as this version has them. Where they are, nothing is written: what a file knows has to be read
    /// though the disk is full.
    private func prepare(_ pool: DatabasePool) throws {
        let migrator = kind.migrator()
        let isPrepared = try pool.read { database in
            let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            guard application == kind.applicationID || application == 0 else { throw ForeignFile() }
            if try migrator.hasBeenSuperseded(database) {
                throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "it is of another version of beacond")
            }
            return try application != 0 && migrator.hasCompletedMigrations(database)
        }
        guard !isPrepared else { return }
        try pool.write { try $0.execute(sql: "PRAGMA application_id = \(kind.applicationID)") }
        try migrator.migrate(pool)
    }

    private func begin(anewBecauseOf error: DatabaseError) throws -> DatabasePool {
        let aside = file.appendingPathExtension("damaged")
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: aside.path + suffix)
            if FileManager.default.fileExists(atPath: file.path + suffix) {
                try FileManager.default.moveItem(atPath: file.path + suffix, toPath: aside.path + suffix)
            }
        }
        logger.error(
            "\(kind.title) in \(file.path) is damaged (\(error.message ?? "\(error.resultCode)")); it lies in \(aside.path) now, and another one begins"
        )
        return try open()
    }
}

extension ResultCode {
    /// True where the file itself is the fault.
    fileprivate var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(primaryResultCode) }
}
