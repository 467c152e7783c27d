import ArgumentParser
import BeaconEngine
import BeaconMonitoring
import BeaconSupport
import Foundation

/// The options for places and their receivers.
struct PlaceOptions: ParsableArguments {
    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "A place, and the receivers in it; may be given several times.", valueName: "name=receiver,..."),
        transform: PlaceArgument.init)
    var place: [PlaceArgument] = []

    @Option(help: ArgumentHelp("The file of places from 'beacon teach'.", valueName: "file"))
    var taught: String?

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "Treat a receiver as deaf, to see how the others decide without it; may be given several times.",
            valueName: "receiver"))
    var deaf: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The lead, in dB, that another place needs for the hold time.",
            discussion: "Default: \(Int(PlaceRules().margin)).",
            valueName: "dB"))
    var margin: Double?

    @Option(
        name: .customLong("hold-time"), parsing: .unconditional,
        help: ArgumentHelp(
            "How long it must lead by the margin; a larger lead or more receivers shorten the time.",
            discussion: "Default: \(TimeSpan(PlaceRules().holdTime)).", valueName: "seconds"),
        transform: TimeSpan.reader(.seconds(1)...(.seconds(3600))))
    var holdTime: TimeSpan?

    mutating func validate() throws {
        if let margin, !(0...60).contains(margin) {
            throw ValidationError("--margin is \(margin); it has to be from 0 to 60 dB.")
        }
        if !place.isEmpty, let mistake = named.mistake() { throw ValidationError("--place: \(mistake).") }
    }

    /// True if places are given, by name or in a file.
    var areGiven: Bool { !place.isEmpty || taught != nil }

    /// The plan of the places that `--place` names.
    private var named: PlacePlan { PlacePlan(place.map { .init(name: $0.name, receivers: $0.receivers) }) }

    /// Returns the plan, with the taught places.
    ///
    /// - Parameter file: the file of taught places to use if the options give no place; nil for none.
    /// - Throws: `MeasurementFileError`, and `ValidationError` if the plan has a mistake.
    func plan(orElse file: URL? = nil) throws -> PlacePlan {
        var plan = named
        if let taught = taught.map({ URL(fileURLWithPath: $0) }) ?? (place.isEmpty ? file : nil) {
            plan.taught = try TaughtMap(file: taught)
        }
        plan.deafReceivers = Set(deaf)
        if let margin { plan.rules.margin = margin }
        if let holdTime { plan.rules.holdTime = holdTime.duration }
        if let mistake = plan.mistake() { throw ValidationError("\(mistake).") }
        if let other = deaf.first(where: { !plan.receiverNames.contains($0) }) {
            throw ValidationError("--deaf names \(other), but no place has this receiver.")
        }
        return plan
    }
}

/// A place on the command line: `NAME=RECEIVER,...`.
struct PlaceArgument {
    /// The user's name for it.
    var name: String

    /// The names of its receivers.
    var receivers: [String]

    /// Reads a place.
    ///
    /// - Throws: `ValidationError`, with the form of a place.
    init(_ argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let receivers = parts.count == 2 ? parts[1].split(separator: ",", omittingEmptySubsequences: false) : []
        guard let name = parts.first, !name.isEmpty, !receivers.isEmpty, !receivers.contains(where: \.isEmpty) else {
            throw ValidationError("a place is NAME=RECEIVER,..., for instance hall=R1,R2")
        }
        self.name = String(name)
        self.receivers = receivers.map(String.init)
    }
}
