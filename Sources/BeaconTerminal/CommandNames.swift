import BeaconSupport

/// The names of a program's commands, which find a misspelled command before its arguments are parsed.
package struct CommandNames {
    private let path: String
    private let commands: [String: [String]]

    /// - Parameters:
    ///   - program: the program's name.
    ///   - commands: its commands, each with its own subcommands.
    package init(program: String, commands: [String: [String]]) {
        path = program
        self.commands = commands.merging(["help": []]) { own, _ in own }
    }

    /// Returns the message for a first argument that is neither an option nor a command, or for a second one that is no
    /// subcommand; nil if they are valid.
    ///
    /// - Parameters:
    ///   - arguments: the program's arguments.
    ///   - remedy: what to do about an unknown command to which no name is similar; nil for the list of commands.
    package func mistake(in arguments: some Collection<String>, remedy: (String) -> String? = { _ in nil }) -> String? {
        guard let first = arguments.first, !first.hasPrefix("-") else { return nil }
        guard let subcommands = commands[first] else {
            return Self.message(path, first, commands.keys.sorted(), remedy)
        }
        guard !subcommands.isEmpty, let second = arguments.dropFirst().first, !second.hasPrefix("-") else { return nil }
        let names = subcommands + ["help"]
        guard !names.contains(second) else { return nil }
        return Self.message("\(path) \(first)", second, names, { _ in nil })
    }

    private static func message(
        _ path: String, _ argument: String, _ names: [String], _ remedy: (String) -> String?
    ) -> String {
        if let nearest = SpellingSuggestion.to(argument, among: names) {
            return "There is no command \(argument); was \(nearest) meant?"
        }
        return "There is no command \(argument); \(remedy(argument) ?? "\"\(path) --help\" lists them.")"
    }
}
