package import BeaconModel
package import BeaconRadio
import BeaconSupport
import CLibrary

/// A member of a shared air, which sends, listens and moves.
///
/// It belongs to one thread and never blocks. Its owner waits for ``descriptor``, and then calls ``update(at:)``.
package final class AirStation {
    /// A received advert without its bytes.
    package struct Heard {
        /// The time at which it was sent and heard, in nanoseconds since the machine was started.
        package var time: Int64
        /// The kind, address and signal strength.
        package var report: AdvertisingReport
    }

    /// The maximum delay of an advert in nanoseconds. Older adverts were missed, because the process did not run. A
    /// monitoring process reads once a second, and a delay below 2 s does not count as a stop (`DriverLoop`).
    private static let longestDelay = 3 * Timestamp.nanosecondsPerSecond

    /// The maximum number of adverts of a sender or a scenario that are skipped one by one. Beyond it, they follow the
    /// schedule only statistically, so that no listener calculates days of adverts.
    private static let maximumSkipped = 10_000

    /// The time between full scans of the folder in nanoseconds, in case a change was not reported.
    private static let lookInterval = 2 * Timestamp.nanosecondsPerSecond

    /// The same if the kernel reports no changes, because too many processes watch files.
    private static let blindLookInterval = Timestamp.nanosecondsPerSecond / 4

    /// The time between the end of a process and the next scan, in nanoseconds: the kernel reports that a file is
    /// closed before it releases the lock.
    private static let endDelay = Timestamp.nanosecondsPerSecond / 50

    /// The id of this member.
    package let id: String

    /// The number of adverts that were missed while this process did not run. It is a lower bound, because long gaps
    /// are not counted to the end.
    package private(set) var missed = 0

    private let folder: AirFolder
    private let program: String
    private let seed: UInt64
    /// Nil for an observer, which the others do not see.
    private let lock: FileLock?
    /// Nil while this member does not listen, and if the kernel reports no changes.
    private var changes: FolderChanges?

    /// The other members, in alphabetical order of their ids.
    private var others: [AirMember] = []
    /// The next advert of each member, by its index in the list.
    private var queue = EventQueue()
    private var medium = Medium(environment: .emptyRoom, walls: [])
    private var isListening = false
    private var adverts: [OutgoingAdvert] = []
    private var rotation = AirPart.usualRotation
    private var walk: Walk
    private var nextLook: Int64 = 0
    private var nextDoubt: Int64?
    /// True if changes were lost, so that the state may be outdated.
    private var isDoubtful = false

    /// Joins an air, without sending or listening.
    ///
    /// - Parameters:
    ///   - location: the air, and the position in it.
    ///   - folder: the folder of the air.
    ///   - program: the program's name; by default that of this process.
    ///   - now: the time, in nanoseconds since the machine was started.
    /// - Throws: an error if the folder is not writable.
    package init(
        _ location: AirLocation, in folder: AirFolder, program: String? = nil, at now: Int64
    ) throws(RadioError) {
        self.folder = folder
        self.program = Self.name(
            program ?? CommandLine.arguments.first.map { String($0.split(separator: "/").last ?? "") } ?? "")
        seed = UInt64.random(in: 0..<1 << 53)
        walk = Walk(start: location.point)
        (id, lock) = try Self.join(folder, as: "\(self.program)-\(getpid())")
        do throws(RadioError) {
            try folder.write(Array(AirWalk(since: now, start: location.point).json.utf8), to: id, .walk)
            try publish(at: now)
        } catch {
            if let lock { folder.remove(id, heldBy: lock) }
            throw error
        }
        nextLook = now + Self.lookInterval
    }

    /// Observes an air without joining it: others do not see this member, and it hears no adverts.
    package init(lookingAt folder: AirFolder, at now: Int64) {
        self.folder = folder
        (id, program, seed, lock) = ("", "", 0, nil)
        walk = Walk(start: .zero)
        changes = FolderChanges(of: folder.path)
        look(at: now)
    }

    deinit { if let lock { folder.remove(id, heldBy: lock) } }

    /// Returns a program's name with only characters that are valid in file names and JSON.
    private static func name(_ program: String) -> String {
        let name = String(program.prefix(40).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "-" })
        return name.isEmpty ? "program" : name
    }

    /// Finds a free id, and locks it.
    private static func join(_ folder: AirFolder, as name: String) throws(RadioError) -> (String, FileLock) {
        // A process may have several members: an app that ranges, and its test.
        for number in 1...10_000 {
            let id = number == 1 ? name : "\(name)-\(number)"
            do throws(StateError) {
                let path = folder.file(id, .lock)
                // Another process may have removed the file in between.
                if let lock = try FileLock(alone: path), lock.isOn(path) { return (id, lock) }
            } catch {
                throw RadioError(.failed, "cannot join the air of \(folder.path): \(error)")
            }
        }
        throw RadioError(.failed, "\(folder.path) has 10000 members named \(name)")
    }

    // MARK: - This member

    /// Sets the adverts, which are sent separately, each ten times a second.
    ///
    /// - Throws: an error if the part cannot be written; the previous adverts then continue.
    package func send(_ adverts: [OutgoingAdvert], at now: Int64) throws(RadioError) {
        // Unchanged adverts keep their schedule.
        guard adverts != self.adverts else { return }
        let before = self.adverts
        self.adverts = adverts
        do throws(RadioError) {
            try publish(at: now)
        } catch {
            self.adverts = before
            throw error
        }
    }

    /// Sets the time after which future adverts change their address, in nanoseconds; nil for the 15 minutes of phones.
    package func rotateAddresses(every rotation: Int64?) { self.rotation = rotation ?? AirPart.usualRotation }

    /// Sets whether this member listens, which others see in the plan.
    package func listen(_ isListening: Bool, at now: Int64) {
        guard isListening != self.isListening else { return }
        self.isListening = isListening
        // It hears adverts even if the file cannot be written.
        try? publish(at: now)
        // A member that only sends does not need to know the others.
        changes = isListening ? FolderChanges(of: folder.path) : nil
        if isListening {
            look(at: id, .walk, now)
            look(at: now)
        } else {
            others = []
            renewQueue()
            renewMedium()
        }
    }

    private func publish(at now: Int64) throws(RadioError) {
        let part = AirPart.device(
            program: program, process: getpid(), since: now, isListening: isListening, seed: seed, rotation: rotation,
            adverts: adverts)
        try folder.write(Array(part.utf8), to: id, .json)
    }

    /// Plays a scenario in the air, with its walls, instead of this member's adverts.
    ///
    /// - Parameter json: the scenario's file, which must be valid.
    /// - Throws: an error if the part cannot be written.
    package func play(scenario json: [UInt8], at now: Int64) throws(RadioError) {
        // A byte order mark is only valid at the beginning of a file.
        let json = json.starts(with: [0xEF, 0xBB, 0xBF]) ? json.dropFirst(3) : json[...]
        let part = AirPart.part(
            program: program, process: getpid(), since: now, isListening: isListening, isPlan: true,
            scenario: String(decoding: json, as: UTF8.self))
        try folder.write(Array(part.utf8), to: id, .json)
    }

    /// Returns the known position of this member. Without listening, a member learns of moves within seconds.
    package func place(at now: Int64) -> Point { walk.position(at: Double(now) / 1_000_000_000).point }

    /// Moves this member to another position at once.
    package func move(to point: Point, at now: Int64) throws(RadioError) {
        try folder.write(Array(AirWalk(since: now, start: point).json.utf8), to: id, .walk)
        walk = Walk(start: point)
    }

    /// Lets another member walk from its current position to another one.
    ///
    /// - Parameters:
    ///   - id: the member.
    ///   - speed: meters per second; nil to move at once.
    /// - Throws: an error if the member cannot be moved.
    package func move(_ id: String, to point: Point, speed: Double?, at now: Int64) throws(RadioError) {
        guard let member = others.first(where: { $0.id == id }) else {
            throw RadioError(.failed, "this air has no member \"\(id)\"")
        }
        guard !member.part.isPlan else {
            throw RadioError(.failed, "\(id) is a scenario, whose people cannot be moved; move another member")
        }
        guard [point.x, point.y, point.z].allSatisfy({ abs($0) <= Point.farthest }),
            speed.map({ AirWalk.speeds.contains($0) }) ?? true
        else {
            throw RadioError(
                .failed, "a place must be within 1000 km of the origin, a speed within 0.01 to 1000 meters per second")
        }
        let walk =
            speed.map { AirWalk(since: now, start: member.place(at: now), end: point, speed: $0) }
            ?? AirWalk(since: now, start: point)
        try folder.write(Array(walk.json.utf8), to: id, .walk)
    }

    // MARK: - The others

    /// The descriptor that becomes readable after a change; -1 if the kernel reports no changes.
    package var descriptor: Int32 { changes?.descriptor ?? -1 }

    /// False once the folder or the files of this member were removed: the others no longer hear it.
    package private(set) var isThere = true

    /// The latest time of the next ``update(at:)``, in nanoseconds.
    package var nextUpdate: Int64 { min(nextLook, nextDoubt ?? .max) }

    /// Reads the changes in the air.
    package func update(at now: Int64) {
        switch changes?.read() {
        case .names(let names)?:
            for name in names {
                guard let (id, kind) = AirFolder.member(ofFile: name) else { continue }
                if kind == .lock { nextDoubt = now + Self.endDelay } else { look(at: id, kind, now) }
            }
        case .lost?:
            isDoubtful = true
            // The folder may have been replaced.
            changes = FolderChanges(of: folder.path)
            nextLook = now
        case nil: break
        }
        if now >= nextUpdate { look(at: now) }
    }

    /// Reads all files in the folder.
    private func look(at now: Int64) {
        nextDoubt = nil
        nextLook = now + (isListening && changes == nil ? Self.blindLookInterval : Self.lookInterval)
        isThere = lock.map { $0.isOn(folder.file(id, .lock)) && access(folder.file(id, .json), F_OK) == 0 } ?? true
        if lock != nil, changes == nil || isDoubtful { look(at: id, .walk, now) }
        guard isListening || lock == nil else { return }
        defer { isDoubtful = false }
        let ids = Set(folder.ids())
        for member in others where !ids.contains(member.id) { remove(member.id) }
        for id in ids where id != self.id {
            if !folder.isAlive(id) {
                folder.sweep(id)
                remove(id)
            } else if changes == nil || isDoubtful || !others.contains(where: { $0.id == id }) {
                look(at: id, .json, now)
            }
        }
    }

    /// Reads one file.
    private func look(at id: String, _ kind: AirFolder.FileKind, _ now: Int64) {
        if id == self.id {
            guard kind == .walk, let json = folder.contents(id, .walk),
                let walk = try? AirWalk.walk(json: json, countedFrom: 0)
            else { return }
            self.walk = walk
            return
        }
        if kind == .json {
            guard folder.isAlive(id), let json = folder.contents(id, .json) else { return remove(id) }
            if others.first(where: { $0.id == id })?.json != json {
                remove(id)
                // A part from an incompatible version of this program is ignored.
                guard var member = AirMember(id: id, json: json, listener: self.id) else { return }
                member.pass(to: now, atMost: Self.maximumSkipped)
                others.insert(member, at: others.firstIndex { $0.id > id } ?? others.endIndex)
                renewQueue()
                if member.part.isPlan { renewMedium() }
            }
        }
        if let index = others.firstIndex(where: { $0.id == id }), let json = folder.contents(id, .walk) {
            others[index].setWalk(json)
        }
    }

    private func remove(_ id: String) {
        guard let index = others.firstIndex(where: { $0.id == id }) else { return }
        let member = others.remove(at: index)
        renewQueue()
        if member.part.isPlan { renewMedium() }
    }

    private func renewQueue() {
        queue = EventQueue()
        for index in others.indices {
            if let time = others[index].nextTime { queue.insert(EventQueue.Event(time: time, sender: index)) }
        }
    }

    /// Updates the walls, from all plans, and the environment, from the oldest plan.
    private func renewMedium() {
        let plans = others.filter(\.part.isPlan).sorted { ($0.part.since, $0.id) < ($1.part.since, $1.id) }
        medium = Medium(
            environment: plans.first?.part.scenario.environment ?? .emptyRoom,
            walls: plans.flatMap(\.part.scenario.walls))
        for index in others.indices { others[index].forgetMedium() }
    }

    /// The time of the next advert of any member, in nanoseconds; nil if nothing is sent.
    package var nextAdvert: Int64? { queue.first?.time }

    /// Calls `deliver` for each heard advert that was due by a time, in the order of time.
    ///
    /// After a stop of this process, it delivers nothing, because a member that ended during the stop never sent its
    /// planned adverts.
    ///
    /// - Throws: the errors of `deliver`.
    package func hear(until now: Int64, _ deliver: (Heard, RawSpan) throws -> Void) throws {
        if let first = queue.first, now - first.time > Self.longestDelay { return miss(until: now) }
        while let event = queue.first, event.time <= now {
            let sender = event.sender
            // The queue advances even if `deliver` throws.
            defer {
                queue.replaceFirst(with: others[sender].nextTime.map { EventQueue.Event(time: $0, sender: sender) })
            }
            let place = walk.position(at: Double(event.time) / 1_000_000_000)
            try others[sender].transmit(through: medium, to: place, deliver)
        }
    }

    /// Skips all adverts that were due by a time, and checks at once which members are left.
    private func miss(until now: Int64) {
        for index in others.indices { missed += others[index].pass(to: now + 1, atMost: Self.maximumSkipped) }
        renewQueue()
        nextDoubt = now
    }

    /// Returns the other members of the air at a time.
    package func members(at now: Int64) -> [AirMemberStatus] {
        others.map { $0.status(at: now) }
    }
}
