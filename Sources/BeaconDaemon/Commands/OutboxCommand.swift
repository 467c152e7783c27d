import ArgumentParser
import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconSupport
import BeaconTerminal
import CLibrary
import Foundation

/// `beacond outbox`: shows and changes the queues of notifications.
struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List waiting and refused notifications, and retry or drop them.",
        discussion: """
            It also works while beacond runs, which notices a change within two seconds.

            A destination can refuse a notification for good, for instance with HTTP 400. The notification becomes a \
            dead letter, and the next ones are sent. It stays until you retry or drop it.
            """,
        subcommands: [List.self, Retry.self, Drop.self], defaultSubcommand: List.self)

    /// The options that name the outbox and the queue.
    struct Options: ParsableArguments {
        @OptionGroup var file: ConfigurationFile

        @Option(
            help: ArgumentHelp("The outbox, instead of the one in the configuration.", valueName: "file"))
        var outbox: String?

        @Option(help: ArgumentHelp("The destination; without one, all of them.", valueName: "name"))
        var destination: String?

        /// Opens the outbox.
        func open() throws -> EventStoreInspector {
            let path: String
            if let outbox {
                path = outbox
            } else {
                // Faults elsewhere in the file do not matter here.
                path = try GatewayConfiguration.check(
                    file: file.path, environment: file.environment
                ).configuration.outbox.path
            }
            if access(path, F_OK) != 0, errno == ENOENT {
                throw EventStoreError(
                    .cannotOpen,
                    "there is no outbox at \(path). Check the path; the gateway creates it when it starts")
            }
            return try EventStoreInspector(file: URL(fileURLWithPath: path))
        }

        /// Returns the chosen destinations.
        func destinations(of outbox: EventStoreInspector) throws -> [String] {
            let all = try outbox.consumers().map(\.name)
            guard let destination else { return all }
            guard all.contains(destination) else {
                throw ValidationError(
                    "The outbox has no destination \(destination); it has \(all.joined(separator: ", ")).")
            }
            return [destination]
        }
    }

    /// `beacond outbox list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List each destination's queue and its refused notifications.",
            discussion: "With --waiting, waiting ones as well. With --json, each queue and notification is a line.")

        @OptionGroup var options: Options

        @Flag(help: "List waiting notifications too, not only refused ones.")
        var waiting = false

        @Option(help: ArgumentHelp("The most notifications to list for each destination.", valueName: "count"))
        var limit = 100

        @Flag(help: "Print one JSON object a line.")
        var json = false

        mutating func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit is \(limit); write 0 or more.") }
        }

        func run() throws {
            let outbox = try options.open()
            let names = try options.destinations(of: outbox)
            for status in try outbox.consumers() where names.contains(status.name) {
                let deadLetters = try outbox.deadLetters(of: status.name, limit: limit)
                let entries = try deadLetters + (waiting ? outbox.queue(of: status.name, limit: limit) : [])
                if json {
                    try OutboxText.json(status, entries).forEach { StandardOutput.write(json: $0) }
                } else {
                    OutboxText.lines(status, entries).forEach { StandardOutput.write($0) }
                }
            }
        }
    }

    /// `beacond outbox retry`.
    struct Retry: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send refused notifications again, and end the pause of a failing destination.",
            discussion: "Each notification returns to its old position. Without ids, all refused ones are sent again.")

        @OptionGroup var options: Options

        @Argument(
            help: ArgumentHelp("Ids of notifications from \"beacond outbox list\".", valueName: "id"),
            transform: notificationID)
        var ids: [EventID] = []

        func run() throws {
            let outbox = try options.open()
            let names = try options.destinations(of: outbox)
            let failing = try outbox.consumers().filter {
                names.contains($0.name) && $0.failingSince != nil && $0.waiting > 0
            }
            let count = try OutboxCommand.change(ids, names) { id, destination in
                try outbox.retry(id, for: destination)
            }
            if count > 0 { StandardOutput.write("\(count.counted("notification")) will be sent again.") }
            if count == 0, failing.isEmpty {
                StandardOutput.write("No notification was refused, and no destination fails.")
            }
            for one in failing {
                StandardOutput.write("\(one.name) is tried again now; waiting: \(one.waiting.counted("notification")).")
            }
        }
    }

    /// `beacond outbox drop`.
    struct Drop: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Drop refused notifications; with --waiting, waiting ones as well.",
            discussion: "To drop all of them, pass --all instead of ids.")

        @OptionGroup var options: Options

        @Flag(help: "Drop waiting notifications too, not only refused ones.")
        var waiting = false

        @Flag(help: "Drop all refused notifications; with --waiting, waiting ones too.")
        var all = false

        @Argument(
            help: ArgumentHelp("Ids of notifications from \"beacond outbox list\".", valueName: "id"),
            transform: notificationID)
        var ids: [EventID] = []

        mutating func validate() throws {
            guard !ids.isEmpty || all else {
                throw ValidationError(
                    "Name the notifications to drop, or pass --all to drop all refused ones.")
            }
            guard ids.isEmpty || !all else { throw ValidationError("Pass either ids or --all.") }
        }

        func run() throws {
            let outbox = try options.open()
            let count = try OutboxCommand.change(ids, try options.destinations(of: outbox)) { id, destination in
                try outbox.drop(id, for: destination, deadLettersOnly: !waiting)
            }
            StandardOutput.write("\(count.counted("notification")) dropped.")
        }
    }

    /// Applies a change to the notifications with these ids, or to all, in each queue.
    ///
    /// - Returns: the number of changed notifications.
    /// - Throws: the error of `body`; `ExitCode` 1 if no queue has any of the ids, after each was reported.
    fileprivate static func change(
        _ ids: [EventID], _ destinations: [String], _ body: (EventID?, String) throws -> Int
    ) throws -> Int {
        guard !ids.isEmpty else { return try destinations.reduce(0) { try $0 + body(nil, $1) } }
        var count = 0
        var isMissing = false
        for id in ids {
            let found = try destinations.reduce(0) { try $0 + body(id, $1) }
            if found == 0 {
                isMissing = true
                ErrorOutput.shared.write("There is nothing to do for \(id).")
            }
            count += found
        }
        if isMissing, count == 0 { throw ExitCode(1) }
        return count
    }
}

/// Reads the id of a notification.
private func notificationID(_ text: String) throws -> EventID {
    guard let id = EventID(text) else {
        throw ValidationError("\(text) is not the id of a notification; \"beacond outbox list\" shows the ids.")
    }
    return id
}
