import Foundation

#if Porting || Gateway
    import BeaconPorting
#endif

/// The program of `swift package check-beacon-delegates` and `swift package port-beacon-code`.
@main
struct BeaconPortingCommand {
    static func main() {
        #if Porting || Gateway
            // In debug builds the parser needs a large stack for deeply nested code.
            let thread = Thread { exit(PortingCommand.run(Array(CommandLine.arguments.dropFirst()))) }
            thread.stackSize = 256 << 20
            thread.start()
            while true { sleep(1000) }
        #else
            let message = "error: this command needs a trait of swift-beacon: .package(…, traits: [\"Porting\"])\n"
            FileHandle.standardError.write(Data(message.utf8))
            exit(2)
        #endif
    }
}
