import ArgumentParser
import BeaconModel
import LabAir
import VirtualController

/// The air as a process: creates the sockets for a virtual machine, and ends when the machine has disconnected.
@main
struct AirServer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "air",
        abstract: "Virtual Bluetooth controllers in simulated air, behind sockets.",
        discussion: """
            Creates in DIRECTORY: hci0, hci1, … for the controllers (H4), and control for the commands in \
            Lab/README.md.
            """)

    @Argument(help: ArgumentHelp("The folder for the sockets.", valueName: "directory"))
    var directory: String

    @Option(help: "The number of controllers, 1 to 16.")
    var controllers = 2

    @Option(help: "The generation of the controllers: legacy or extended.")
    var generation = "legacy"

    @Option(help: "The rule of the duplicate filter: device, signal, data or never.")
    var duplicates = "device"

    @Option(help: "The folder of additional scenarios, besides those that ship with the product.")
    var scenarios = "."

    func run() throws {
        guard 1...16 ~= controllers else { throw ValidationError("--controllers must be a number from 1 to 16.") }
        guard let generation = ControllerGeneration(rawValue: generation) else {
            throw ValidationError("--generation must be legacy or extended.")
        }
        guard let rule = DuplicateRule(rawValue: duplicates) else {
            throw ValidationError("--duplicates must be device, signal, data or never.")
        }
        // A locally administered address, which no manufacturer assigns.
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
