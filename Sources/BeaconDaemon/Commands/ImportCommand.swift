import ArgumentParser
import BeaconGateway
import BeaconSupport
import BeaconTerminal
import Foundation

extension ImportKind: ExpressibleByArgument {}

/// `beacond import`: converts the configuration of another program.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Convert the configuration of another program.",
        discussion: """
            It reads what ESPresense and its companion, Bermuda, Home Assistant's private_ble_device, ibeacon and \
            mqtt_room, room-assistant, Theengs Gateway or monitor know about a house: receivers, rooms, beacons, phones \
            and the broker. It prints a configuration for beacond. Comments in it name everything that was not taken over, \
            with the reason and what to do instead. It changes nothing of the other program.

              beacond import config.yaml --output beacond.yaml   ESPresense-companion
              beacond import /config/.storage                    Bermuda's folder
              beacond import config.yaml topics                  both of one house

            The topics are those of ESPresense's boards:

              mosquitto_sub -v -t 'espresense/#' --retained-only -W 3 > topics

            With --output, keys and passwords go into a file beside the configuration, such as beacond.env, which only \
            its owner can read; calibrations and the plan become files, too. Existing files stay as they are.
            """)

    @Argument(
        help: ArgumentHelp(
            "The files or folders, of one house. - is standard input.", valueName: "file"),
        completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "The program.",
            discussion: "Default: recognized by the content.", valueName: "program"))
    var from: ImportKind?

    @Option(help: ArgumentHelp("The configuration to write. Default: it is printed.", valueName: "file"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The MQTT broker, if the files do not name it, or another one.",
            discussion: "Its name or address, or mqtt://HOST:PORT, or mqtts:// for TLS.", valueName: "broker"))
    var broker: String?

    func run() throws {
        let named: GuidedStart.Choice.Broker?
        do {
            named = try broker.map { try GuidedStart.Choice.Broker($0) }
        } catch {
            throw ValidationError("--broker \(error).")
        }
        let start = output.map { GuidedStart(path: $0) }
        let names = output.map { ImportedHouse.Names(beside: $0) }
        if let output { try checkAbsent(output, names) }
        let inputs = try files.map { file in
            guard file != "-" else {
                let text = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
                return ImportInput(path: "standard input", text: text)
            }
            return try ImportInput(path: file)
        }
        let result = try ImportedHouse(inputs, as: from, broker: named).files(names, beside: output)
        if let start, let output, let names {
            let folder = URL(fileURLWithPath: output).deletingLastPathComponent().path
            for (name, content) in [(names.calibration, result.calibration), (names.plan, result.plan)] {
                guard let content else { continue }
                try AtomicFile.replace("\(folder)/\(name)", with: content.utf8, access: .configuration, isNew: true)
            }
            try start.write(result.configuration, secrets: result.secrets)
        } else {
            StandardOutput.write(result.configuration, terminator: "")
        }
        report(result, start, names)
    }

    /// Fails before anything is written if a file exists.
    private func checkAbsent(_ output: String, _ names: ImportedHouse.Names?) throws {
        let folder = URL(fileURLWithPath: output).deletingLastPathComponent().path
        var existing = [names?.calibration, names?.plan].compactMap(\.self).map { "\(folder)/\($0)" }
            .filter { FileManager.default.fileExists(atPath: $0) }
        // The file of the package configures nothing, and is replaced and kept.
        if !GuidedStart.mayWrite(output) { existing.insert(output, at: 0) }
        guard let first = existing.first else { return }
        throw ValidationError(
            "\(first) exists, and is not overwritten. Choose another file with --output, or move it away.")
    }

    /// Prints to standard error the kinds of things that were taken over, and those that were not.
    private func report(_ result: ImportedFiles, _ start: GuidedStart?, _ names: ImportedHouse.Names?) {
        func write(_ line: String) { ErrorOutput.shared.write(line) }
        write("Taken over: \(result.taken.isEmpty ? "nothing" : result.taken.joined(separator: ", ")).")
        if !result.lost.isEmpty {
            write(
                "Not taken over: \(result.lost.joined(separator: ", ")). "
                    + "The comments in the configuration say why, and what to do instead.")
        }
        guard let start, let names else {
            if !result.secrets.isEmpty {
                let names = result.secrets.keys.sorted().joined(separator: ", ")
                write(
                    "The secrets \(names) are not printed. With --output beacond.yaml, they go into beacond.env, which only its "
                        + "owner can read.")
            }
            return
        }
        var written = [start.path]
        if result.calibration != nil { written.append(names.calibration) }
        if result.plan != nil { written.append(names.plan) }
        write(
            "Wrote \(written.joined(separator: ", "))."
                + (result.secrets.isEmpty ? "" : " Secrets: \(start.secretsPath)."))
        write("Read the comments, then check it: beacond check \(start.path)")
    }
}
