import BeaconTerminal
import Testing

@Suite("Names of commands")
struct CommandNamesTests {
    private let names = CommandNames(program: "beacond", commands: ["run": [], "outbox": ["list", "retry"]])

    @Test(
        "A misspelled command is named, with the nearest one or with where to look",
        arguments: [
            ([], nil), (["run"], nil), (["--config", "x"], nil), (["outbox", "list"], nil), (["help"], nil),
            (["outbox", "help"], nil), (["outbox", "--help"], nil), (["run", "anything"], nil),
            (["rum"], "There is no command rum; was run meant?"),
            (["fly"], "There is no command fly; \"beacond --help\" lists them."),
            (["outbox", "lsit"], "There is no command lsit; was list meant?"),
            (["outbox", "fly"], "There is no command fly; \"beacond outbox --help\" lists them."),
        ] as [([String], String?)])
    func mistakes(arguments: [String], message: String?) { #expect(names.mistake(in: arguments) == message) }

    @Test("A program gives its own remedy for a command that resembles none")
    func remedy() {
        #expect(
            names.mistake(in: ["x.pcap"]) { "to read \($0), write --source \($0)." }
                == "There is no command x.pcap; to read x.pcap, write --source x.pcap.")
    }
}
