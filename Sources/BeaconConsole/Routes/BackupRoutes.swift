import BeaconEventStore
import BeaconGateway
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The route of the backup, which is one file with all of beacond's data.
struct BackupRoutes: Sendable {
    let settings: WebSettings
    let current: CurrentConfiguration
    let store: EventStore
    /// True while a backup is being written.
    private let isBackingUp = Locked(false)

    private static let chunk = 256 << 10

    func add(to router: RouterGroup<WebContext>) {
        router.respond(.get, "backup") { _, _ in
            guard !settings.isReadOnly else {
                throw Problem(.forbidden, "the console is read-only, and a backup contains data that it does not show")
            }
            let isFree = isBackingUp.withLock { isBackingUp in
                defer { isBackingUp = true }
                return !isBackingUp
            }
            guard isFree else {
                throw Problem(.tooManyRequests, "another backup is being written; try again in a few seconds")
            }
            defer { isBackingUp.withLock { $0 = false } }
            let folder = URL(fileURLWithPath: current.value.outbox.path).deletingLastPathComponent()
            let file = Backup.temporaryFile(in: folder)
            do {
                try await Backup.write(to: file, configuration: current.value.path, store: store)
                let handle = try FileHandle(forReadingFrom: file)
                // The open file stays readable. The system frees it once it is closed, even after an error.
                try FileManager.default.removeItem(at: file)
                let day = Date.now.formatted(.iso8601.year().month().day())
                return Response(
                    status: .ok,
                    headers: [
                        .contentType: "application/vnd.sqlite3", .cacheControl: "no-store",
                        .contentDisposition: "attachment; filename=\"beacond-\(day).backup\"",
                    ],
                    body: .init { writer in
                        while let chunk = try handle.read(upToCount: Self.chunk), !chunk.isEmpty {
                            try await writer.write(ByteBuffer(bytes: chunk))
                        }
                        try await writer.finish(nil)
                    })
            } catch {
                try? FileManager.default.removeItem(at: file)
                throw error
            }
        }
    }
}
