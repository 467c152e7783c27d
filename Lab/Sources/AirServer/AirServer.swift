import ArgumentParser
import BeaconModel
import LabAir
import VirtualController

/// The air as a process: makes the sockets that a virtual machine connects to, and ends when it has gone.
@main
struct AirServer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "air",
        abstract: "Virtual Bluetooth controllers in simulated air, behind sockets.",
        discussion: """
            In DIRECTORY appear hci0, hci1, … for the controllers (H4) and control for lines as Lab/README.md describes \
            them.
            """)

    @Argument(help: ArgumentHelp("Where the sockets are made.", valueName: "directory"))
    var directory: String

    @Option(help: "How many controllers there are, 1 to 16.")
    var controllers = 2

    @Option(help: "What they can do: legacy or extended.")
    var generation = "legacy"

    @Option(help: "What the duplicate filter takes for a duplicate: device, signal, data or never.")
    var duplicates = "device"

    @Option(help: "The folder of the scenarios that are not the ones that ship with the product.")
    var scenarios = "."

    func run() throws {
        guard 1...16 ~= controllers else { throw ValidationError("--controllers is a number from 1 to 16.") }
        guard let generation = ControllerGeneration(rawValue: generation) else {
            throw ValidationError("--generation is one of legacy and extended.")
        }
        guard let rule = DuplicateRule(rawValue: duplicates) else {
            throw ValidationError("--duplicates is one of device, signal, data and never.")
        }
        // A locally administered address, which no maker's controller has.
        let configurations = (0..<controllers).map { index in
            ControllerConfiguration(
                address: DeviceAddress(bits: 0x02BE_0000_0000 | UInt64(index), kind: .public), generation: generation,
                duplicateRule: rule, seed: UInt64(index + 1))
        }
        let library = ScenarioLibrary(folder: scenarios)
        let laboratory = Laboratory(controllers: configurations) { name in try library.scenario(named: name) }
        var loop = try SocketLoop(laboratory, directory: directory)
        try loop.run()
    }
}
