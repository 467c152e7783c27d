import BeaconDelivery
import Foundation
import Glibc
import Logging

/// The program that the fault tests kill, and whose disk they fill.
///
///     DeliveryWorker deliver FOLDER PORT COUNT    stores COUNT notifications while it delivers them to two
///                                                 webhooks; ends when all are delivered
///     DeliveryWorker fill FOLDER BYTES            stores notifications while its files may not grow beyond
///                                                 BYTES each, then lifts the limit, continues, and prints the results
@main
struct DeliveryWorker {
    static func main() async throws {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .error
            return handler
        }
        let arguments = CommandLine.arguments
        switch arguments.dropFirst().first {
        case "deliver" where arguments.count == 5:
            guard let port = Int(arguments[3]), let count = Int(arguments[4]) else { usage() }
            try await Deliverer(folder: URL(fileURLWithPath: arguments[2]), port: port, count: count).run()
        case "fill" where arguments.count == 4:
            guard let bytes = UInt(arguments[3]) else { usage() }
            try await Filler(folder: URL(fileURLWithPath: arguments[2]), bytes: bytes).run()
        default: usage()
        }
    }

    private static func usage() -> Never {
        FileHandle.standardError.write(
            Data("usage: DeliveryWorker deliver FOLDER PORT COUNT | fill FOLDER BYTES\n".utf8))
        exit(2)
    }
}
