internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring

/// The course of a situation: events, the app's callbacks and the app's actions, in the order of time.
struct Transcript: Sendable {
    /// The kinds of entries.
    enum Content: Sendable {
        /// The world changed.
        case world(String)
        /// The system called the app back.
        case saw(Sight)
        /// The app was launched, by an event or by its user.
        case launched(byEvent: Bool)
        /// The app's requests changed.
        case requested(CenterRequests)
        /// The app notified its user or its server.
        case note(String)
        /// The app changed its screen.
        case show(String)
    }

    /// A callback to the app.
    enum Sight: Sendable {
        case entered(String)
        case exited(String)
        case state(String, RegionState)
        case condition(String)
        /// A report with the proximity of each beacon, nearest first.
        case ranged([Proximity])
        case limitExceeded(String)
        case other(String)
    }

    struct Entry: Sendable {
        /// The seconds since the situation began.
        var time: Double
        var content: Content
    }

    private(set) var entries: [Entry] = []
    private(set) var marks: [String: Double] = [:]
    /// The present requests of the app.
    private(set) var requests = CenterRequests()
    /// True if the app set `allowsBackgroundLocationUpdates`.
    var wantsBackgroundUpdates = false
    /// The app's authorization at the end.
    var authorization = AuthorizationStatus.notDetermined

    mutating func add(_ content: Content, at time: Double) {
        if case .requested(let new) = content {
            guard new != requests else { return }
            requests = new
        }
        entries.append(Entry(time: time, content: content))
    }

    /// Names a time of the situation.
    mutating func mark(_ name: String, at time: Double) { marks[name] = time }

    /// The time with a name. A script sets all names that its judgement uses.
    func time(_ mark: String) -> Double { marks[mark] ?? .infinity }

    // MARK: - Notes

    struct Note: Sendable {
        var time: Double
        var text: String
    }

    /// The notes in a span of time.
    func notes(from: Double = 0, to: Double = .infinity) -> [Note] {
        entries.compactMap { entry in
            guard case .note(let text) = entry.content, entry.time >= from, entry.time < to else { return nil }
            return Note(time: entry.time, text: text)
        }
    }

    /// The notes between two marks.
    func notes(from: String, to: String? = nil) -> [Note] {
        notes(from: time(from), to: to.map { time($0) } ?? .infinity)
    }

    /// A Boolean value indicating whether the app noted or showed anything in a span of time.
    func hasOutput(from: Double, to: Double = .infinity) -> Bool {
        entries.contains { entry in
            guard entry.time >= from, entry.time < to else { return false }
            return switch entry.content {
            case .note, .show: true
            default: false
            }
        }
    }

    // MARK: - Callbacks and requests

    /// The times of the callbacks that satisfy a condition.
    func sights(from: Double = 0, to: Double = .infinity, where isWanted: (Sight) -> Bool) -> [Double] {
        entries.compactMap { entry in
            guard case .saw(let sight) = entry.content, entry.time >= from, entry.time < to, isWanted(sight) else {
                return nil
            }
            return entry.time
        }
    }

    /// The callbacks about the visitor's presence.
    func presenceSights(from: Double = 0, to: Double = .infinity) -> [Double] {
        sights(from: from, to: to) { sight in
            switch sight {
            case .entered, .exited, .ranged: true
            case .condition(let state): state == "satisfied"
            case .state(_, let state): state == .inside
            case .limitExceeded, .other: false
            }
        }
    }

    /// The app's requests at a time.
    func requests(at time: Double) -> CenterRequests {
        entries.last { entry in
            if case .requested = entry.content { entry.time <= time } else { false }
        }.flatMap { entry in
            if case .requested(let requests) = entry.content { requests } else { nil }
        } ?? CenterRequests()
    }

    /// The proximities of the newest report at a time; nil before the first.
    func report(at time: Double) -> [Proximity]? {
        for entry in entries.reversed() where entry.time <= time {
            if case .saw(.ranged(let proximities)) = entry.content { return proximities }
        }
        return nil
    }
}

extension AuthorizationStatus {
    /// The status as a user knows it.
    var text: String {
        switch self {
        case .notDetermined: "undecided"
        case .restricted: "restricted"
        case .denied: "denied"
        case .whenInUse: "while using the app"
        case .always: "always"
        }
    }
}

extension Transcript.Sight {
    /// The sight of an event; nil for events that say nothing about the visitor.
    init?(_ event: ClientEvent) {
        switch event {
        case .entered(let region): self = .entered(region.identifier)
        case .exited(let region): self = .exited(region.identifier)
        case .determined(let region), .answered(let region): self = .state(region.identifier, region.state)
        case .monitoringFailed(let region, .limitExceeded): self = .limitExceeded(region.identifier)
        case .ranged(_, let beacons, _): self = .ranged(beacons.map(\.proximity))
        case .authorization(let status, _): self = .other("authorization \(status.text)")
        case .rangingFailed: self = .other("ranging failed")
        case .monitoringFailed(_, let failure): self = .other("monitoring failed: \(failure)")
        default: return nil
        }
    }
}
