import BeaconSupport
import Foundation

/// Debian's broker as a child process, on a port of the loopback interface that is free.
public final class Broker: Sendable {
    /// The folder of its files, which goes with it.
    public let folder: TemporaryFolder

    /// Where it listens. It stays the same over restarts.
    public let port: UInt16

    private let configuration: URL
    private let process = Locked<ChildProcess?>(nil)

    /// Starts a broker.
    ///
    /// - Parameters:
    ///   - settings: lines for its configuration file, beside the listener.
    ///   - folder: where its files are, where some are there already.
    public init(_ settings: String = "allow_anonymous true", in folder: TemporaryFolder? = nil) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        port = try FreePort.find()
        configuration = folder.url.appendingPathComponent("mosquitto.conf")
        // What is retained survives a restart, as it does with Debian's own configuration.
        try """
        listener \(port) 127.0.0.1
        persistence true
        persistence_location \(folder.url.path)/
        autosave_on_changes true
        autosave_interval 1
        log_dest file \(folder.url.path)/log
        \(settings)

        """.write(to: configuration, atomically: true, encoding: .utf8)
        try await start()
    }

    /// Starts it again at the same port.
    public func start() async throws {
        let process = try ChildProcess("mosquitto", ["-c", configuration.path])
        self.process.withLock { $0 = process }
        try await eventually("the broker listens") { FreePort.isListening(port) || !process.isRunning }
        guard process.isRunning else {
            let log = try? String(contentsOf: folder.url.appendingPathComponent("log"), encoding: .utf8)
            throw Failure("the broker did not start: \(log ?? "")")
        }
    }

    /// Ends it as a lack of power does.
    public func kill() { process.withLock { $0 }?.end(SIGKILL) }

    /// Ends it in order; it writes down what it retains.
    public func stop() { process.withLock { $0 }?.end(SIGTERM) }

    /// Has it write down what it holds.
    public func save() { process.withLock { $0 }?.signal(SIGUSR1) }

    /// Has it stand still, so that connections hang.
    public func pause() { process.withLock { $0 }?.signal(SIGSTOP) }

    /// Has it go on.
    public func resume() { process.withLock { $0 }?.signal(SIGCONT) }

    /// Publishes a message, and returns when the broker has it.
    public func publish(_ topic: String, _ payload: String, isRetained: Bool = false) throws {
        let retained = isRetained ? ["-r"] : []
        let client = try ChildProcess(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(port)", "-q", "1", "-t", topic, "-m", payload] + retained)
        let status = client.wait()
        guard status == 0 else { throw Failure("mosquitto_pub ended with \(status)") }
    }
}
