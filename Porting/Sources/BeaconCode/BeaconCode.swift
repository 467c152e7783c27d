import BeaconPorting
import Foundation

/// The program `beacon-code`, which ports and checks users' sources.
@main
struct BeaconCode {
    static func main() {
        // In debug builds the parser needs a large stack for deeply nested code.
        let thread = Thread { exit(PortingCommand.run(Array(CommandLine.arguments.dropFirst()))) }
        thread.stackSize = 256 << 20
        thread.start()
        while true { sleep(1000) }
    }
}
