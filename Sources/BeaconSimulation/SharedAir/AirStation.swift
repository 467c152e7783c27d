package import BeaconModel
package import BeaconRadio
import BeaconSupport
import CLibrary

/// A member of a shared air: it sends, listens and moves.
///
/// It belongs to one thread. Nothing in it blocks: its reader waits for ``descriptor``, and calls ``update(at:)`` then.
package final class AirStation {
    /// An advert that was heard, without its bytes.
    package struct Heard {
        /// When it was sent and heard, by the machine's clock since its start, in nanoseconds.
        package var time: Int64
        /// Kind, address and signal strength.
        package var report: AdvertisingReport
    }

    /// The longest time that an advert waits to be heard, in nanoseconds: behind it, everything was missed, since the
    /// process did not run. Who only monitors reads once a second, and less than 2 s late is no stop (`DriverLoop`).
    private static let longestDelay = 3 * Timestamp.nanosecondsPerSecond

    /// The most adverts of a sender or a scenario that are passed over one by one. Behind more, its adverts are those
    /// of its schedule by chance alone, and no listener works out days.
    private static let longestCourse = 10_000

    /// The time from one look at everything to the next, in nanoseconds, in case that a change was not reported.
    private static let lookInterval = 2 * Timestamp.nanosecondsPerSecond

    /// The same where the kernel reports no changes, since too many processes ask it to.
    private static let blindLookInterval = Timestamp.nanosecondsPerSecond / 4

    /// The time between the end of a process and the next look at it, in nanoseconds: the kernel reports that a file is
    /// closed before it releases the lock.
    private static let endDelay = Timestamp.nanosecondsPerSecond / 50

    /// The id of this member.
    package let id: String

    /// The number of adverts that were sent while this process did not run, and were missed; at least so many, since a
    /// long course is not counted to its end.
    package private(set) var missed = 0

    private let folder: AirFolder
    private let program: String
    private let seed: UInt64
    /// Nil for one that only looks, which the others do not see.
    private let lock: FileLock?
    /// Nil while this member does not listen, and where the kernel reports no changes.
    private var changes: FolderChanges?

    /// The other members, in alphabetical order of their ids.
    private var others: [AirMember] = []
    /// The next advert of each of them, by its place in the list.
    private var queue = EventQueue()
    private var medium = Medium(environment: Environment(), walls: [])
    private var isListening = false
    private var adverts: [OutgoingAdvert] = []
    private var rotation = AirPart.usualRotation
    private var walk: Walk
    private var nextLook: Int64 = 0
    private var nextDoubt: Int64?
    /// True where changes were lost, so that what is known may be another.
    private var isDoubtful = false

    /// Joins an air, silent and without listening.
    ///
    /// - Parameters:
    ///   - location: the air, and the place in it.
    ///   - folder: the folder of the air.
    ///   - program: the program's name; by default that of this process.
    ///   - now: the time, by the machine's clock since its start, in nanoseconds.
    /// - Throws: an error where nothing can be written in the folder.
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

    /// Looks at an air without joining it: nobody sees this member, and it hears nothing.
    package init(lookingAt folder: AirFolder, at now: Int64) {
        self.folder = folder
        (id, program, seed, lock) = ("", "", 0, nil)
        walk = Walk(start: .zero)
        changes = FolderChanges(of: folder.path)
        look(at: now)
    }

    deinit { if let lock { folder.remove(id, heldBy: lock) } }

    /// Returns a program's name with the characters that a file's name and JSON may have.
    private static func name(_ program: String) -> String {
        let name = String(program.prefix(40).map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "-" })
        return name.isEmpty ? "program" : name
    }

    /// Finds an id that no other member has, and locks it.
    private static func join(_ folder: AirFolder, as name: String) throws(RadioError) -> (String, FileLock) {
        // A process may be there several times: an app that ranges, and its test.
        for number in 1...10_000 {
            let id = number == 1 ? name : "\(name)-\(number)"
            do throws(StateError) {
                let path = folder.file(id, .lock)
                // Another may have swept the file in the moment between.
                if let lock = try FileLock(alone: path), lock.isOn(path) { return (id, lock) }
            } catch {
                throw RadioError(.failed, "cannot join the air of \(folder.path): \(error)")
            }
        }
        throw RadioError(.failed, "\(folder.path) has 10000 members of the name \(name)")
    }

    // MARK: - This member

    /// Sets the adverts to send, each by an advert of its own ten times a second.
    ///
    /// - Throws: an error where that cannot be written; then what was sent before goes on.
    package func send(_ adverts: [OutgoingAdvert], at now: Int64) throws(RadioError) {
        // What is on the air goes on as it was.
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

    /// Has the adverts that are set from now on change their address after so many nanoseconds; nil for the 15 minutes
    /// of phones.
    package func rotateAddresses(every rotation: Int64?) { self.rotation = rotation ?? AirPart.usualRotation }

    /// Sets whether this member listens, which others see in the plan.
    package func listen(_ isListening: Bool, at now: Int64) {
        guard isListening != self.isListening else { return }
        self.isListening = isListening
        // It hears all the same where that cannot be written.
        try? publish(at: now)
        // Who only sends need not know who else is there.
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

    /// Plays a scenario in the air, with its walls, in place of this member's own adverts.
    ///
    /// - Parameter json: the scenario's file, which was read before.
    /// - Throws: an error where that cannot be written.
    package func play(scenario json: [UInt8], at now: Int64) throws(RadioError) {
        // A byte order mark is allowed at the beginning of a file, and nowhere else.
        let json = json.starts(with: [0xEF, 0xBB, 0xBF]) ? json.dropFirst(3) : json[...]
        let part = AirPart.part(
            program: program, process: getpid(), since: now, isListening: isListening, isPlan: true,
            scenario: String(decoding: json, as: UTF8.self))
        try folder.write(Array(part.utf8), to: id, .json)
    }

    /// The place of this member, as far as it is known: who does not listen learns of moves within seconds.
    package func place(at now: Int64) -> Point { walk.position(at: Double(now) / 1_000_000_000).point }

    /// Moves this member to another place, at once.
    package func move(to point: Point, at now: Int64) throws(RadioError) {
        try folder.write(Array(AirWalk(since: now, start: point).json.utf8), to: id, .walk)
        walk = Walk(start: point)
    }

    /// Has another member walk to a place, from where it is now.
    ///
    /// - Parameters:
    ///   - id: the member.
    ///   - speed: metres a second; nil to be there at once.
    /// - Throws: an error where it cannot be moved.
    package func move(_ id: String, to point: Point, speed: Double?, at now: Int64) throws(RadioError) {
        guard let member = others.first(where: { $0.id == id }) else {
            throw RadioError(.failed, "there is no \(id) in this air")
        }
        guard !member.part.isPlan else {
            throw RadioError(.failed, "\(id) is a scenario, whose people walk as it says; move another")
        }
        guard [point.x, point.y, point.z].allSatisfy({ abs($0) <= Point.farthest }),
            speed.map({ AirWalk.speeds.contains($0) }) ?? true
        else {
            throw RadioError(
                .failed, "a place is at most 1000 km from the origin, and a speed 0.01 to 1000 metres a second")
        }
        let walk =
            speed.map { AirWalk(since: now, start: member.place(at: now), end: point, speed: $0) }
            ?? AirWalk(since: now, start: point)
        try folder.write(Array(walk.json.utf8), to: id, .walk)
    }

    // MARK: - The others

    /// The descriptor that can be read when something has changed; -1 where the kernel reports no changes.
    package var descriptor: Int32 { changes?.descriptor ?? -1 }

    /// False once somebody has removed the folder, or the files of this member: nobody hears it any more.
    package private(set) var isThere = true

    /// The time of the next ``update(at:)`` at the latest, in nanoseconds.
    package var nextUpdate: Int64 { min(nextLook, nextDoubt ?? .max) }

    /// Reads what has changed in the air.
    package func update(at now: Int64) {
        switch changes?.read() {
        case .names(let names)?:
            for name in names {
                guard let (id, kind) = AirFolder.member(ofFile: name) else { continue }
                if kind == .lock { nextDoubt = now + Self.endDelay } else { look(at: id, kind, now) }
            }
        case .lost?:
            isDoubtful = true
            // The folder may be another one by now.
            changes = FolderChanges(of: folder.path)
            nextLook = now
        case nil: break
        }
        if now >= nextUpdate { look(at: now) }
    }

    /// Looks at everything that is in the folder.
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

    /// Looks at one file.
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
                // What another version of this program wrote is not understood, and nobody hears it.
                guard var member = AirMember(id: id, json: json, listener: self.id) else { return }
                member.pass(to: now, atMost: Self.longestCourse)
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

    /// The walls are those of all plans; the environment is that of the oldest one.
    private func renewMedium() {
        let plans = others.filter(\.part.isPlan).sorted { ($0.part.since, $0.id) < ($1.part.since, $1.id) }
        medium = Medium(
            environment: plans.first?.part.scenario.environment ?? Environment(),
            walls: plans.flatMap(\.part.scenario.walls))
        for index in others.indices { others[index].forgetWalls() }
    }

    /// The time of the next advert of anybody, in nanoseconds; nil where nothing is sent.
    package var nextAdvert: Int64? { queue.first?.time }

    /// Hands each advert that was due by a moment and is heard to `deliver`, in the order of time.
    ///
    /// After a stop of this process it hands over nothing: a member that ended during the stop never sent its plan.
    ///
    /// - Throws: what `deliver` throws.
    package func hear(until now: Int64, _ deliver: (Heard, RawSpan) throws -> Void) throws {
        if let first = queue.first, now - first.time > Self.longestDelay { return miss(until: now) }
        while let event = queue.first, event.time <= now {
            let sender = event.sender
            // Also where `deliver` throws, the next one is another.
            defer {
                queue.replaceFirst(with: others[sender].nextTime.map { EventQueue.Event(time: $0, sender: sender) })
            }
            let place = walk.position(at: Double(event.time) / 1_000_000_000)
            try others[sender].transmit(through: medium, to: place, deliver)
        }
    }

    /// Passes over everything that was due by a moment, and looks at once who is still there.
    private func miss(until now: Int64) {
        for index in others.indices { missed += others[index].pass(to: now + 1, atMost: Self.longestCourse) }
        renewQueue()
        nextDoubt = now
    }

    /// What is in the air at a moment, this member left out.
    package func members(at now: Int64) -> [AirMemberStatus] {
        others.map { $0.status(at: now) }
    }
}
