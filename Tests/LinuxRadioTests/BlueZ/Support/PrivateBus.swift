import Foundation
import Glibc

/// A message bus of its own for a test.
final class PrivateBus {
    /// Where it is.
    let address: String

    private let daemon: Process
    private let folder: String

    /// Starts a bus on which everybody may do everything, but for what `policy` says in the notation of dbus-daemon(1).
    private init(policy: String) throws {
        folder = NSTemporaryDirectory() + "swift-beacon-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(folder)/bus</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*"/>
                <allow receive_sender="*"/>
                <allow own="*"/>
                \(policy)
              </policy>
            </busconfig>
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/bus.conf"))
        daemon = Process()
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--config-file=\(folder)/bus.conf", "--nofork", "--print-address"]
        let output = Pipe()
        daemon.standardOutput = output
        // It grumbles where it may not raise its own limits.
        daemon.standardError = FileHandle.nullDevice
        address = "unix:path=\(folder)/bus"
        try daemon.run()
        // It prints its address once it listens.
        _ = output.fileHandleForReading.availableData
    }

    /// Ends the bus, and whatever is connected to it is cut off.
    func stop() {
        guard daemon.isRunning else { return }
        // It inherits the blocked signals of the thread that started it, among them SIGTERM.
        kill(daemon.processIdentifier, SIGKILL)
        daemon.waitUntilExit()
    }

    /// Calls `body` with a bus, which ends with it.
    static func with<Outcome>(policy: String = "", _ body: (PrivateBus) throws -> Outcome) throws -> Outcome {
        let bus = try PrivateBus(policy: policy)
        defer {
            bus.stop()
            try? FileManager.default.removeItem(atPath: bus.folder)
        }
        return try body(bus)
    }
}
