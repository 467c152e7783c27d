import ArgumentParser
import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconSupport
import BeaconTerminal
import Foundation

/// `beacond replay`: plays the journal again.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Play what was heard again, and print the events.",
        discussion: """
            beacond keeps what its receivers hear of named beacons and of regions, and plays it through the same rules \
            again. With --with it plays it twice, as it was and with other settings, and prints the difference: \
            + comes in addition, - no longer comes, ~ comes at another time. Rules only decide: nothing is started or sent.

              beacond replay --from 22:00 --to 08:00
              beacond replay --from 2h --with place-rules.margin=8
              beacond replay --from 2h --with regions.Hall.exit-timeout=1m
              beacond replay --from yesterday --with rules.Lights.at-most=10m

            The journal of a running beacond ends up to 30 seconds ago.
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "The begin: \(Moment.forms).", discussion: "Default: a day ago.", valueName: "time"))
    var from: String?

    @Option(help: ArgumentHelp("The end. Default: now.", valueName: "time"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "A setting to change, with a key and a value of the file; repeat it for more.", valueName: "key=value"))
    var with: [String] = []

    @Option(help: ArgumentHelp("The journal, instead of the one beside the outbox.", valueName: "folder"))
    var journal: String?

    @Option(
        help: ArgumentHelp(
            "Write this stretch to a file, for a report; --journal plays it.", valueName: "file"))
    var export: String?

    @Flag(help: "Replace identities, addresses and names in the exported file.")
    var anonymous = false

    @Flag(help: "Print the adverts as a sighting log, and no events.")
    var sightings = false

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        if anonymous, export == nil { throw ValidationError("--anonymous needs --export.") }
        if !with.isEmpty, export != nil || sightings {
            throw ValidationError("--with changes events; it cannot be combined with --export or --sightings.")
        }
    }

    func run() throws {
        let checked = try GatewayConfiguration.check(file: file.path, environment: file.environment)
        let settings = checked.configuration
        let folder = journal ?? Journal.folder(besideStore: settings.outbox.path)
        let now = Date()
        let end = try to.map { try seconds($0, "--to", now) } ?? now.timeIntervalSince1970
        var begin = try from.map { try seconds($0, "--from", now) } ?? end - 86_400
        // 22:00 to 08:00 is a night.
        if begin > end, from?.count ?? 0 <= 8 { begin -= 86_400 }
        guard begin < end else { throw ValidationError("--from must be before --to.") }
        let changes: ReplayChanges
        do {
            changes = try ReplayChanges(with)
        } catch {
            throw ValidationError("\(error)")
        }
        let stretch = Replay.Stretch(from: begin, to: end)
        if let export {
            if let target = FileIdentity(path: export),
                JournalFolder.files(in: folder).contains(where: { FileIdentity(path: $0.path) == target })
            {
                throw ValidationError("\(export) is the journal itself. Name another file with --export.")
            }
            return try JournalCase(of: stretch, in: folder).write(to: export, isAnonymous: anonymous)
        }
        if sightings {
            return try Replay(folder: folder).sightings(stretch) { line in
                StandardOutput.write(String(decoding: line.dropLast(), as: UTF8.self))
            }
        }
        let played = try Replay(folder: folder).play(stretch)
        let text = ReplayText(names: settings.beaconNames)
        report(played)
        if changes.isEmpty {
            for event in played.events { StandardOutput.write(json ? line(event) : text.line(event)) }
        } else {
            let other = try Replay(folder: folder, changes: changes).play(stretch)
            let unknown = changes.ruleNames.subtracting(played.rules).sorted()
            if !unknown.isEmpty {
                let known = played.rules.sorted().joined(separator: ", ")
                ErrorOutput.shared.write(
                    "No rule \(unknown.joined(separator: ", ")): the journal of this time has "
                        + (known.isEmpty ? "no rules." : "the rules \(known)."))
            }
            let comparison = ReplayComparison(of: played.events, with: other.events)
            for change in comparison.changes { StandardOutput.write(json ? line(change) : text.line(change)) }
            if comparison.changes.isEmpty {
                ErrorOutput.shared.write("No difference in \(played.events.count) events.")
            }
        }
    }

    private func seconds(_ text: String, _ option: String, _ now: Date) throws -> Double {
        guard let seconds = Moment.seconds(text, now: now) else {
            throw ValidationError("\(option) is not a time: write \(Moment.forms).")
        }
        return seconds
    }

    /// Prints which events may be wrong or missing.
    private func report(_ result: Replay.Result) {
        for stretch in result.unsettled {
            ErrorOutput.shared.write(
                "From \(ReplayText.time(stretch.from)) to \(ReplayText.time(stretch.to)), the events may differ from those that happened: the journal lacks what was before."
            )
        }
        if !result.omitted.isEmpty {
            ErrorOutput.shared.write(
                "Left out, since the journal keeps no adverts of strangers: \(result.omitted.joined(separator: ", ")). \"journal: { strangers: true }\" keeps them from then on."
            )
        }
    }

    private func line(_ event: ReplayedEvent) -> String {
        var bytes: [UInt8] = []
        switch event {
        case .event(let event):
            EventJSON.append(event, to: &bytes)
            bytes.removeLast()
        case .run: bytes = event.json.flatMap { try? Array(JSONEncoder.sorted.encode($0)) } ?? []
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func line(_ change: ReplayComparison.Change) -> String {
        switch change {
        case .added(let event): "{\"change\":\"added\",\"event\":\(line(event))}"
        case .vanished(let event): "{\"change\":\"vanished\",\"event\":\(line(event))}"
        case .shifted(let event, let seconds):
            "{\"change\":\"shifted\",\"seconds\":\((seconds * 1000).rounded() / 1000),\"event\":\(line(event))}"
        }
    }
}
