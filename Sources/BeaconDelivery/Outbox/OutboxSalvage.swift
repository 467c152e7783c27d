import Foundation

/// Finds notifications in a damaged outbox by their own marks and checks, whatever became of the tables.
///
/// A record that lies in one page and is unharmed is found. One longer than a page, which only a long heartbeat is, is not.
enum OutboxSalvage {
    /// All notifications in a file and its log, oldest first.
    static func records(of file: URL) -> [BeaconNotification] {
        let log = log(of: file)
        var newest: [Int: Data] = [:]
        for frame in log?.intact ?? [] { newest[frame.page] = frame.content }
        var found: [NotificationID: BeaconNotification] = [:]
        if let data = try? Data(contentsOf: file, options: .mappedIfSafe) {
            let pageSize = log?.intact.first?.content.count ?? 4096
            for (index, offset) in stride(from: 0, to: data.count, by: pageSize).enumerated() {
                // SQLite counts pages from 1.
                let page = newest.removeValue(forKey: index + 1) ?? data.dropFirst(offset).prefix(pageSize)
                collect(page, into: &found)
            }
        }
        for page in newest.values { collect(page, into: &found) }
        for frame in log?.hidden ?? [] { collect(frame.content, into: &found) }
        return sorted(found)
    }

    /// The notifications in that part of a file's log which SQLite will not read, since something before it is damaged.
    ///
    /// After a crash that is the transaction that was being written, which nobody was told is safe. To keep what of it is
    /// whole does no harm.
    static func recordsBehindDamage(inLogOf file: URL) -> [BeaconNotification] {
        var found: [NotificationID: BeaconNotification] = [:]
        for frame in log(of: file)?.hidden ?? [] { collect(frame.content, into: &found) }
        return sorted(found)
    }

    private static func log(of file: URL) -> WriteAheadLog? {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: file.path + "-wal")) else { return nil }
        return WriteAheadLog(data)
    }

    private static func collect(_ page: Data, into found: inout [NotificationID: BeaconNotification]) {
        let starts: [Int] = page.withUnsafeBytes { bytes in
            let mark = OutboxRecord.mark
            guard bytes.count > mark.count else { return [] }
            return (0..<bytes.count - mark.count).filter { offset in
                bytes[offset] == mark[0] && mark.indices.allSatisfy { bytes[offset + $0] == mark[$0] }
            }
        }
        for start in starts {
            guard let notification = OutboxRecord.find(in: page, at: start) else { continue }
            found[notification.id] = notification
        }
    }

    /// In the order in which they happened; the names of one moment count up.
    private static func sorted(_ found: [NotificationID: BeaconNotification]) -> [BeaconNotification] {
        found.values.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }
}
