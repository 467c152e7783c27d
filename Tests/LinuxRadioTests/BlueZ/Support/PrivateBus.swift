import BeaconModel
import BeaconRadio
import BeaconSupport
import Foundation
import Glibc
import TestSupport

@testable import LinuxRadio

/// A message bus of its own for a test.
final class PrivateBus {
    /// Where it is.
    let address: String

    private var daemon: ChildProcess?
    private let folder: String
    /// A connection of nobody's, by which ``deliver()`` asks.
    private var probe: SystemBus?

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
        address = "unix:path=\(folder)/bus"
        try start()
    }

    /// Starts the bus, also where it was stopped.
    func start() throws {
        unlink(folder + "/bus")
        let output = folder + "/address"
        unlink(output)
        let daemon = try ChildProcess(
            "dbus-daemon", ["--config-file=\(folder)/bus.conf", "--nofork", "--print-address"], output: output)
        self.daemon = daemon
        let end = ContinuousClock.now + .hang
        // It prints its address once it listens.
        while (try? String(contentsOfFile: output, encoding: .utf8))?.contains("\n") != true {
            guard daemon.isRunning, ContinuousClock.now < end else { throw Failure("dbus-daemon does not start") }
            usleep(1_000)
        }
    }

    /// Waits until all that was sent on the bus before is with those whom it is for.
    ///
    /// The daemon takes in what is there of all its connections before it answers, and hands on what it took in before
    /// it answers the next question.
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

    /// Ends the bus, and whatever is connected to it is cut off.
    func stop() {
        daemon?.end(SIGKILL)
        probe = nil
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
