import BeaconMonitoring
import BeaconSupport
import Foundation
package import Logging

/// The journal of a core's inputs, in files beside the event store.
///
/// It is written at most every 30 seconds. Each run of beacond begins a segment with the start of its core. Other
/// segments begin with a checkpoint, so that old ones can be deleted.
package actor Journal {
    /// The folder beside a store.
    package static func folder(besideStore path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("journal").path
    }

    /// The bytes and the time after which a new segment begins.
    static let segmentSize = 8 << 20
    static let segmentTime = 6 * 3600.0

    private let executor = SerialQueueExecutor(label: "beacond.journal")
    nonisolated package var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let folder: String
    private var settings: JournalSettings
    private let run: String
    private let logger: Logger
    private var segment: (path: String, place: Int, size: Int, begin: Double)?
    private var nextPlace = 0
    /// Why the disk does not accept it; nil if it does. Health reads it while a slow disk holds the actor.
    nonisolated let failure = Locked<String?>(nil)

    /// Creates the journal of a run.
    ///
    /// - Parameter folder: the folder of its files, which it creates.
    package init(folder: String, settings: JournalSettings, logger: Logger) {
        (self.folder, self.settings, self.logger) = (folder, settings, logger)
        run = "\(UUID())"
    }

    /// The recorded inputs since the last stretch, and the calls that begin a new segment.
    struct Stretch: Sendable {
        var parts: [CoreRecording.Part]
        /// True if it continues the last one.
        var isContinued: Bool
        var calibrations: CalibrationSet
        /// The calls that begin again **after** the parts.
        var checkpoint: [CoreInput]
        /// The rules at that time.
        var rules: RecordedRules?
        /// The time of its end, by the wall clock or by that of a simulation.
        var end: Double
    }

    /// Appends a stretch. If the disk does not accept it, it is lost, with a warning, and the next stretch begins a
    /// segment with a checkpoint.
    func append(_ stretch: Stretch) {
        let time = stretch.end
        do {
            if nextPlace == 0 {
                try begin(JournalHead(run: run, place: 0, calibrations: stretch.calibrations), at: time)
            }
            if stretch.isContinued, let segment {
                let parts: [JournalSegment.Part] = stretch.parts.map {
                    switch $0 {
                    case .input(let input): .input(input)
                    case .traffic(let traffic): .traffic(traffic.bytes)
                    }
                }
                try append(parts, to: segment.path, at: time)
            }
            let isFull = segment.map { $0.size >= Self.segmentSize || time - $0.begin >= Self.segmentTime } ?? true
            if isFull || !stretch.isContinued {
                // A replay must notice the gap.
                if !stretch.isContinued { nextPlace += 1 }
                try begin(
                    JournalHead(
                        run: run, place: nextPlace, calibrations: stretch.calibrations,
                        checkpoint: stretch.checkpoint + (try stretch.rules.map { [try $0.input] } ?? [])), at: time)
            }
            if failure.withLock({ failure in
                defer { failure = nil }
                return failure != nil
            }) {
                logger.notice("the journal is written again; what happened before cannot be replayed")
            }
        } catch {
            segment = nil
            nextPlace += 1
            if failure.withLock({ failure in
                defer { failure = "\(error)" }
                return failure == nil
            }) {
                logger.warning(
                    "cannot write the journal: \(error); what happens until it can be written cannot be replayed")
            }
        }
    }

    private func begin(_ head: JournalHead, at time: Double) throws {
        let path = "\(folder)/\(JournalFolder.name(of: (JournalFolder.files(in: folder).last?.number ?? 0) + 1))"
        try AtomicFile.makeFolder(folder)
        // A full disk gets room first.
        expire()
        do {
            try AppendedFile.append(JournalSegment.mark, to: path, isSynced: false)
            segment = (path, head.place, JournalSegment.mark.count, time)
            nextPlace = head.place + 1
            try append([.head(head)], to: path, at: time)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    private func append(_ parts: [JournalSegment.Part], to path: String, at time: Double) throws {
        guard !parts.isEmpty else { return }
        let block = try JournalSegment.block(parts, end: time)
        // A power failure may lose the last half minute, so that no disk has to sync twice a minute.
        try AppendedFile.append(block, to: path, isSynced: false)
        segment?.size += block.count
    }

    /// Deletes the oldest segments beyond the limits.
    private func expire() {
        var files = JournalFolder.files(in: folder)
        // The new segment needs room as well.
        var size = files.reduce(Self.segmentSize) { $0 + $1.size }
        let oldest = Date().timeIntervalSince1970 - Double(settings.age.components.seconds)
        while files.count > 1, let file = files.first, size > settings.size || file.changed < oldest {
            try? FileManager.default.removeItem(atPath: file.path)
            size -= file.size
            files.removeFirst()
        }
    }

    /// Uses other limits.
    package func use(_ settings: JournalSettings) {
        self.settings = settings
        expire()
    }
}

/// The files of a journal.
package enum JournalFolder {
    /// A file of a segment.
    package struct File: Hashable, Sendable {
        package var number: Int
        package var path: String
        package var size: Int
        /// The wall time of its last change.
        package var changed: Double
    }

    static func name(of number: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits + ".journal"
    }

    /// The segments in a folder, oldest first; none if there is no folder. An exported file is one segment.
    package static func files(in folder: String) -> [File] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            return file(folder, number: 1).map { [$0] } ?? []
        }
        return names.compactMap { name in
            guard name.hasSuffix(".journal"), let number = Int(name.dropLast(".journal".count)) else { return nil }
            return file(folder + "/" + name, number: number)
        }.sorted { $0.number < $1.number }
    }

    private static func file(_ path: String, number: Int) -> File? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        return File(
            number: number, path: path, size: (attributes[.size] as? NSNumber)?.intValue ?? 0,
            changed: (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0)
    }

    /// Deletes all segments.
    package static func clear(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }
}
