// In a terminal this is an app with the two screens of the sample. With arguments it has one of these roles, line by
// line, for a script or a pipe.
@preconcurrency import Foundation

/// The UUID that both roles start with, so that they find each other.
let defaultUUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(
        Data(
            """
            \(message)
            usage: RangingForBeacons                          the app, in a terminal
                          RangingForBeacons configure MAJOR MINOR    makes this device a beacon
                          RangingForBeacons range [UUID]...          looks for beacons

            """.utf8))
    exit(64)
}

var arguments = Array(CommandLine.arguments.dropFirst())
guard let uuid = UUID(uuidString: defaultUUID) else { fail("The UUID of the sample is invalid.") }

if arguments.isEmpty, TerminalScreen.isPossible {
    let app = RangingApp(defaultUUID: uuid)
    app.start()
    withExtendedLifetime(app) { RunLoop.main.run() }
}

let lines = LineInterface()
switch arguments.isEmpty ? "" : arguments.removeFirst() {
case "configure":
    guard arguments.count == 2, let major = UInt16(arguments[0]), let minor = UInt16(arguments[1]) else {
        fail("The major and the minor value are two numbers from 0 to 65535.")
    }
    lines.configure(uuid, major: major, minor: minor)
case "range":
    lines.range(
        (arguments.isEmpty ? [defaultUUID] : arguments).map { text in
            guard let uuid = UUID(uuidString: text) else { fail("'\(text)' is not a UUID.") }
            return uuid
        })
case "": fail("This is not a terminal. Choose a role for this device.")
default: fail("Choose a role for this device.")
}
RunLoop.main.run()
