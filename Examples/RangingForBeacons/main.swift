// What two screens and their buttons are on iOS, are two words and their arguments here.
@preconcurrency import Foundation

// Each line at once, where the output is a pipe too.
setvbuf(stdout, nil, Int32(_IOLBF), 0)

/// The UUID that both roles begin with, so that they find each other.
let defaultUUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

func fail(_ message: String) -> Never {
    print(message)
    print("usage: RangingForBeacons configure MAJOR MINOR")
    print("       RangingForBeacons range [UUID]...")
    exit(64)
}

/// What is to be stopped when the user leaves.
var leave: () -> Void = {}

var arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.isEmpty ? "" : arguments.removeFirst() {
case "configure":
    guard arguments.count == 2, let uuid = UUID(uuidString: defaultUUID) else { fail("Which major and minor value?") }
    let configuration = BeaconConfiguration(uuid: uuid) { print($0) }
    configuration.change(major: arguments[0], minor: arguments[1], isEnabled: true)
    leave = { configuration.leave() }
case "range":
    let ranger = BeaconRanger { print($0, terminator: "\n\n") }
    for text in arguments.isEmpty ? [defaultUUID] : arguments {
        guard let uuid = UUID(uuidString: text) else { fail("'\(text)' is not a UUID.") }
        ranger.add(uuid)
    }
    leave = { ranger.leave() }
default:
    fail("Which role shall this device have?")
}

// Ctrl-C is this program's way back from a screen.
signal(SIGINT, SIG_IGN)
let interruption = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
interruption.setEventHandler {
    leave()
    // Stopping is not waited for anywhere, so let it be done first.
    DispatchQueue.main.asyncAfter(deadline: .now() + 0.2) { exit(0) }
}
interruption.resume()

RunLoop.main.run()
