import ArgumentParser
import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconTerminal
import CLibrary
import Foundation

/// `beacond outbox`: what waits for its delivery.
struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Look at what waits to be delivered, and send again or drop what was refused.",
        discussion: """
            It works beside a running beacond too, which sees the change within ten seconds.

            A destination can refuse a notification for good (HTTP 400, for instance). It becomes a dead letter then, and those \
            behind it are sent, until somebody sends it again or drops it.
            """,
        subcommands: [List.self, Retry.self, Drop.self], defaultSubcommand: List.self)

    /// The options that name the outbox and the queue.
    struct Options: ParsableArguments {
        @OptionGroup var file: ConfigurationFile

        @Option(
            help: ArgumentHelp(
                "The outbox itself, where it is not to be looked up in the configuration.", valueName: "file"))
        var outbox: String?

        @Option(help: ArgumentHelp("The destination; without one, all of them.", valueName: "name"))
        var destination: String?

        /// Opens the outbox.
        func open() throws -> EventStoreInspector {
            let path: String
            if let outbox {
                path = outbox
            } else {
                // A mistake elsewhere in the file is no reason not to look.
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

        /// The destinations that are meant.
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
            abstract: "List each destination's queue, and what was refused.",
            discussion: "With --waiting, what waits as well. With --json, each queue and notification is a line.")

        @OptionGroup var options: Options

        @Flag(help: "List what waits too, not only what was refused.")
        var waiting = false

        @Option(help: ArgumentHelp("The most notifications that are listed of each.", valueName: "count"))
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
                    try OutboxText.json(status, entries).forEach { print($0) }
                } else {
                    OutboxText.lines(status, entries).forEach { print($0) }
                }
            }
        }
    }

    /// `beacond outbox retry`.
    struct Retry: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have what was refused sent again, and end the waiting of a destination that failed.",
            discussion: "Each notification goes to its old place in the order. Without ids, all that were refused.")

        @OptionGroup var options: Options

        @Argument(
            help: ArgumentHelp("Ids of notifications, as list shows them.", valueName: "id"),
            transform: notificationID)
        var ids: [EventID] = []

        func run() throws {
            let outbox = try options.open()
            let count = try OutboxCommand.change(ids, try options.destinations(of: outbox)) { id, destination in
                try outbox.retry(id, for: destination)
            }
            print("\(StatisticsText.count(count, "notification")) will be sent again.")
        }
    }

    /// `beacond outbox drop`.
    struct Drop: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Drop what was refused; with --waiting, what waits as well.",
            discussion: "Without ids, all of it, which needs --all.")

        @OptionGroup var options: Options

        @Flag(help: "Drop what waits too, not only what was refused.")
        var waiting = false

        @Flag(help: "Drop everything, where no ids are given.")
        var all = false

        @Argument(
            help: ArgumentHelp("Ids of notifications, as list shows them.", valueName: "id"),
            transform: notificationID)
        var ids: [EventID] = []

        mutating func validate() throws {
            guard !ids.isEmpty || all else {
                throw ValidationError(
                    "Name the notifications to drop, or give --all to drop everything that was refused.")
            }
            guard ids.isEmpty || !all else { throw ValidationError("Give either ids or --all.") }
        }

        func run() throws {
            let outbox = try options.open()
            let count = try OutboxCommand.change(ids, try options.destinations(of: outbox)) { id, destination in
                try outbox.drop(id, for: destination, deadLettersOnly: !waiting)
            }
            print("\(StatisticsText.count(count, "notification")) dropped.")
        }
    }

    /// Does something to the notifications of these ids, or to all, in each queue.
    ///
    /// - Returns: to how many.
    /// - Throws: what `body` throws; `ExitCode` 1, after it was told, where an id is nowhere.
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
        throw ValidationError("\(text) is not the id of a notification; beacond outbox list shows them.")
    }
    return id
}
