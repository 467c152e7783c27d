import ArgumentParser
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSimulation
import BeaconSupport
import BeaconTerminal
import CLibrary

/// The command `beacon air`, which shows the simulated air that a user's programs share and plays scenarios in it.
struct AirCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "air",
        abstract: "Show the simulated air that programs share, or play a scenario in it.",
        discussion: """
            Each program with the source air[:NAME][@X,Y[,Z]] has a position in the air, in meters. All programs hear \
            each other by the rules of scenarios: weaker with each meter and each wall. You need no radio and no server.

              beacon advertise --uuid new --source air@2,0
              beacon range --source air
              beacon air museum --loop
              beacon air move beacon-4711 --to 10,0 --speed 1.4
            """,
        subcommands: [Show.self, List.self, Move.self], defaultSubcommand: Show.self)

    /// The option that names the air.
    struct Options: ParsableArguments {
        @Option(
            name: .customLong("name"),
            help: ArgumentHelp(
                "The name of the air; programs in different airs do not hear each other.", valueName: "name"))
        var air = AirLocation.defaultName

        /// Returns the folder of the air.
        func folder() throws -> AirFolder { try AirFolder(name: AirLocation(":" + air).name) }

        /// The air, in the form of a source.
        var source: String { air == AirLocation.defaultName ? "air" : "air:\(air)" }
    }

    fileprivate static var now: Int64 { RadioClock.sinceStart(RadioClock.now()) }
}

extension AirCommand {
    /// `beacon air [SCENARIO]`: shows the air, and plays a scenario in it.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the air until Ctrl-C or, with a scenario, until it ends.",
            discussion: """
                A terminal shows a plan with walls, senders and listeners. Any other output gets a line for each \
                device that appears, changes, has moved or disappears.
                """)

        @Argument(
            help: ArgumentHelp(
                "A scenario to play in the air: \(Scenario.names.joined(separator: ", ")), or a file.",
                valueName: "scenario"))
        var scenario: String?

        @Flag(help: "Repeat the scenario.")
        var loop = false

        @OptionGroup var options: Options

        /// The time between drawings, in milliseconds.
        private static let drawingInterval: Int32 = 200

        func run() throws {
            Interruption.listen()
            let waker = Waker()
            Interruption.wake(waker)
            let folder = try options.folder()
            let player = try scenario.map { try ScenarioPlayer($0, in: folder, isRepeated: loop, at: AirCommand.now) }
            let station = AirStation(lookingAt: folder, at: AirCommand.now)
            let isLive = Terminal.output.isInteractive
            var screen = LiveScreen()
            var log = AirLog()
            var output = try FileOutput(path: "-")
            while !Interruption.isRequested {
                let now = AirCommand.now
                guard try player?.update(at: now) ?? true else { break }
                station.update(at: now)
                let members = station.members(at: now)
                try output.append { buffer in
                    if isLive {
                        screen.append(AirPlan(members).lines(title: options.source), to: &buffer)
                    } else {
                        for line in log.changes(to: members) { buffer.append(contentsOf: (line + "\n").utf8) }
                    }
                }
                try output.flush()
                waker.wait(atMost: Self.drawingInterval)
            }
            try output.finish()
            if Interruption.isRequested { throw ExitCode(Interruption.exitStatus) }
            ErrorOutput.shared.write("The scenario \(scenario ?? "") has ended; its beacons have stopped.")
        }
    }

    /// `beacon air list`: lists the members of the air.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the members of the air, with their ids for 'beacon air move'.")

        @OptionGroup var options: Options

        func run() throws {
            let station = AirStation(lookingAt: try options.folder(), at: AirCommand.now)
            for line in AirPlan(station.members(at: AirCommand.now), style: .plain).lines(title: options.source) {
                StandardOutput.write(line)
            }
        }
    }

    /// `beacon air move`: moves a program to another position.
    struct Move: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "move", abstract: "Move a program to another position in the air.",
            discussion: """
                  beacon air move beacon-4711 --to 10,0
                  beacon air move 4711 --to -3,2 --speed 1.4
                """)

        @Argument(help: ArgumentHelp("The id of the program, as 'beacon air list' shows it, or the process's number."))
        var id: String

        @Option(
            name: .customLong("to"), parsing: .unconditional,
            help: ArgumentHelp("The new position, in meters.", valueName: "x,y[,z]"))
        var target: String

        @Option(
            help: ArgumentHelp(
                "The speed of the move, in meters per second.", discussion: "Default: it moves at once.",
                valueName: "m/s"))
        var speed: Double?

        @OptionGroup var options: Options

        func validate() throws {
            guard Point(target) != nil else {
                throw ValidationError("--to is \(target); write X,Y in meters, such as 10,0")
            }
            if let speed, !(0.01...1000 ~= speed) {
                throw ValidationError("--speed is \(speed); write 0.01 to 1000 meters per second")
            }
        }

        func run() throws {
            let station = AirStation(lookingAt: try options.folder(), at: AirCommand.now)
            let members = station.members(at: AirCommand.now).filter { $0.place != nil }
            let meant = members.filter { $0.id == id || String($0.process) == id }
            let found = meant.isEmpty ? members.filter { $0.program == id } : meant
            guard let member = found.first, found.count == 1, let point = Point(target) else {
                let ids = (found.isEmpty ? members : found).map(\.id).joined(separator: ", ")
                throw RadioError(
                    .failed,
                    ids.isEmpty
                        ? "the air \(options.air) has no member to move"
                        : "\"\(id)\" is \(found.isEmpty ? "not" : "not unique") in the air \(options.air); "
                            + "choose one of \(ids)")
            }
            try station.move(member.id, to: point, speed: speed, at: AirCommand.now)
        }
    }
}

/// A player of a scenario in a shared air.
private final class ScenarioPlayer {
    private let json: [UInt8]
    private let folder: AirFolder
    private let title: String
    private var station: AirStation
    private let duration: Int64
    private let isRepeated: Bool
    private var began: Int64

    init(_ name: String, in folder: AirFolder, isRepeated: Bool, at now: Int64) throws {
        json = try SourceSpecification.scenario(name)
        duration = Int64(try Scenario(json: json).duration * 1e9)
        title = String(name.split(separator: "/").last.map { $0.split(separator: ".").first ?? $0 } ?? "scenario")
        self.folder = folder
        station = try AirStation(AirLocation(), in: folder, program: title, at: now)
        self.isRepeated = isRepeated
        began = now
        try station.play(scenario: json, at: began)
    }

    /// Continues the scenario, and restarts it at its end if it repeats.
    ///
    /// - Returns: false if it is over.
    func update(at now: Int64) throws -> Bool {
        station.update(at: now)
        // The folder was removed. If it can be created again, the scenario continues from its current time.
        if !station.isThere, let folder = try? AirFolder(at: folder),
            let new = try? AirStation(AirLocation(), in: folder, program: title, at: now)
        {
            station = new
            try station.play(scenario: json, at: began)
        }
        guard now - began >= duration else { return true }
        guard isRepeated else { return false }
        began += duration * ((now - began) / duration)
        try station.play(scenario: json, at: began)
        return true
    }
}
