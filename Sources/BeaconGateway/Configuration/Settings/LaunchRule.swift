import BeaconModel
package import BeaconMonitoring

/// A rule for starting a program when a region is entered or left, when a beacon comes into another place, or when it comes
/// near, stays or is gone.
public struct LaunchRule: Hashable, Sendable {
    /// A program or a systemd unit.
    public enum Target: Hashable, Sendable {
        /// A program and its arguments, without a shell. It gets the event as JSON on its standard input.
        case program([String])
        /// A systemd unit, by `systemctl start`.
        case unit(String)
    }

    /// The name in messages.
    public var name: String

    /// The regions whose events count; nil for all.
    public var regions: Set<String>?

    /// The beacons whose proximity and place count; nil for all of the regions.
    package var beacons: Set<BeaconIdentity>?

    /// The places into which a beacon has to come; nil for all, and for none.
    package var places: Set<String>?

    /// The events that count.
    package var events: Set<RuleEvent>

    /// The program or unit to start.
    public var target: Target

    /// The program's working directory; nil for the daemon's own.
    public var folder: String?

    /// The names of the daemon's environment variables that it gets, besides those of the user's session.
    public var environment: [String]

    /// The time that it may run.
    public var timeLimit: Duration

    /// The least time from one start to the next. An event that comes earlier waits.
    public var interval: Duration

    /// Creates a rule.
    package init(
        name: String, regions: Set<String>? = nil, beacons: Set<BeaconIdentity>? = nil,
        events: Set<RuleEvent> = [.enter], target: Target, folder: String? = nil, environment: [String] = [],
        timeLimit: Duration = .seconds(30),
        interval: Duration = .seconds(1)
    ) {
        self.name = name
        self.regions = regions
        self.beacons = beacons
        self.events = events
        self.target = target
        self.folder = folder
        self.environment = environment
        self.timeLimit = timeLimit
        self.interval = interval
    }
}

extension LaunchRule {
    /// Returns true where a beacon's change of place is an event of the rule.
    ///
    /// - Parameters:
    ///   - event: the change.
    ///   - names: the regions that the beacon belongs to.
    func concerns(_ event: PlaceEvent, of names: [String]) -> Bool {
        events.contains(.place) && (beacons?.contains(event.identity) ?? true)
            && (regions.map { !$0.isDisjoint(with: names) } ?? true)
            && (places.map { rooms in event.place.map(rooms.contains) ?? false } ?? true)
    }

    static func read(
        _ section: ConfigurationSection, names: inout Set<String>, regions: Set<String>, beacons: [BeaconSettings],
        places: [String]?
    ) -> LaunchRule? {
        let name = section.name("rule", known: &names)
        let allowed = section.regionNames("regions", defined: regions)
        let named = section.beaconNames("beacons", defined: beacons)
        let rooms = section.placeNames("places", defined: Set(places ?? []))
        let events = section.texts("events", "write a list of events, as [enter, near]")?.compactMap { text in
            do throws(RuleEvent.Failure) {
                return try RuleEvent(text.value)
            } catch {
                section.report(text.origin, "\"events\": \(error)")
                return nil
            }
        }
        let program = section.words("program")
        let unit = section.text("unit", "write the name of a systemd unit, as lights.service")
        let folder = section.filePath("folder")
        let environment = section.texts("environment", "write names of environment variables, as [LIGHTS_KEY]")
        let limit = section.duration("time-limit", .seconds(1)...(.seconds(86_400)))
        let interval = section.duration("interval", .zero...(.seconds(86_400)))
        let target: Target
        switch (program, unit) {
        case (let words?, nil): target = .program(words)
        case (nil, let unit?):
            // systemd.unit(5): what a name may have; a leading hyphen would be an option.
            let isName = unit.value.unicodeScalars.allSatisfy {
                ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
                    || ":-_.\\@".unicodeScalars.contains($0)
            }
            guard isName, !unit.value.isEmpty, !unit.value.hasPrefix("-") else {
                section.report(unit.origin, "\"unit\" is \"\(unit.value)\"; write a unit's name, as lights.service")
                return nil
            }
            target = .unit(unit.value)
        case (_?, _?):
            section.report(section.origin, "a rule starts either a \"program\" or a \"unit\"; keep one of them")
            return nil
        case (nil, nil):
            if !section.has("program"), !section.has("unit") {
                section.reportMissing("program", "write the program to start and its arguments, or a systemd \"unit\"")
            }
            return nil
        }
        guard let name else { return nil }
        var rule = LaunchRule(name: name, regions: allowed, target: target, folder: folder?.value)
        if let events { rule.events = Set(events) }
        rule.beacons = named
        rule.places = rooms
        let hasPlaces = rule.events.contains(.place)
        if named != nil, !hasPlaces, !rule.events.contains(where: \.needsRanging) {
            section.report(
                section.origin,
                "\(section.subject)\"beacons\" is for events of beacons, and there are none; add near, or remove it")
        }
        if rooms != nil, !hasPlaces {
            section.report(
                section.origin,
                "\(section.subject)\"places\" is for the event place, which is not there; add it, or remove \"places\"")
        }
        if hasPlaces, places == nil {
            section.report(
                section.origin,
                "\(section.subject)the event place needs places; say which receivers are where with the key \"places\" of the file"
            )
        }
        if let environment { rule.environment = environment.map(\.value) }
        if let limit { rule.timeLimit = limit }
        if let interval { rule.interval = interval }
        return rule
    }
}
