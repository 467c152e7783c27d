import BeaconModel
import BeaconRadio
import BeaconSupport
import Foundation
import Glibc
import TestSupport

@testable import LinuxRadio

/// A private message bus for a test.
final class PrivateBus {
    /// The bus's address.
    let address: String

    private var daemon: ChildProcess?
    private let folder: String
    /// A separate connection for the queries of ``deliver()``.
    private var probe: SystemBus?

    /// Starts a bus that allows everything, except for the rules in `policy` (dbus-daemon(1)).
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
        address = "unix:path=\(folder)/bus"
        try start()
    }

    /// Starts the bus, possibly again after a stop.
    func start() throws {
        unlink(folder + "/bus")
        let output = folder + "/address"
        unlink(output)
        let daemon = try ChildProcess(
            "dbus-daemon", ["--config-file=\(folder)/bus.conf", "--nofork", "--print-address"], output: output)
        self.daemon = daemon
        let end = ContinuousClock.now + .hang
        // The daemon prints its address once it listens.
        while (try? String(contentsOfFile: output, encoding: .utf8))?.contains("\n") != true {
            guard daemon.isRunning, ContinuousClock.now < end else { throw Failure("dbus-daemon does not start") }
            usleep(1_000)
        }
    }

    /// Waits until all messages sent on the bus before have reached their receivers.
    ///
    /// The daemon reads the available messages of all its connections before it answers, and forwards those before it
    /// answers the next query.
    func deliver() throws {
        let probe = try probe ?? SystemBus(address: address)
        self.probe = probe
        for _ in 0..<2 {
            var isAnswered = false
            let slot = try probe.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId",
                within: UInt64(Duration.hang.components.seconds)
            ) { _ in isAnswered = true }
            try withExtendedLifetime(slot) {
                while !isAnswered {
                    if try !probe.process(), !isAnswered {
                        try probe.wait(until: RadioClock.now().advanced(by: Timestamp.nanosecondsPerSecond))
                    }
                }
            }
        }
    }

    /// Ends the bus and disconnects all its clients.
    func stop() {
        daemon?.end(SIGKILL)
        probe = nil
    }

    /// Calls `body` with a bus, and then ends the bus.
    static func with<Outcome>(policy: String = "", _ body: (PrivateBus) throws -> Outcome) throws -> Outcome {
        let bus = try PrivateBus(policy: policy)
        defer {
            bus.stop()
            try? FileManager.default.removeItem(atPath: bus.folder)
        }
        return try body(bus)
    }
}
