import BeaconSupport
import Foundation

/// Debian's broker as a child process, on a free port of the loopback interface.
public final class Broker: Sendable {
    /// The folder of its files, which is deleted with it.
    public let folder: TemporaryFolder

    /// The port where it listens. It stays the same over restarts.
    public let port: UInt16

    private let configuration: URL
    private let process = Locked<ChildProcess?>(nil)

    /// Starts a broker.
    ///
    /// - Parameters:
    ///   - settings: more lines for its configuration file.
    ///   - folder: the folder of its files, if it exists already.
    public init(_ settings: String = "allow_anonymous true", in folder: TemporaryFolder? = nil) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        configuration = folder.url.appendingPathComponent("mosquitto.conf")
        var port = try FreePort.find()
        var process = try await Self.launch(port, settings, configuration)
        // Tests of another process may have taken the port since it was found free.
        for _ in 0..<3 where process == nil {
            port = try FreePort.find()
            process = try await Self.launch(port, settings, configuration)
        }
        self.port = port
        guard let process else { throw Self.failure(folder) }
        self.process.withLock { $0 = process }
    }

    /// Starts the broker again at the same port.
    public func start() async throws {
        guard let process = try await Self.launch(port, configuration) else { throw Self.failure(folder) }
        self.process.withLock { $0 = process }
    }

    private static func launch(_ port: UInt16, _ settings: String, _ configuration: URL) async throws -> ChildProcess? {
        let folder = configuration.deletingLastPathComponent().path
        // Retained messages survive a restart, as with Debian's own configuration.
        try """
        listener \(port) 127.0.0.1
        persistence true
        persistence_location \(folder)/
        autosave_on_changes true
        autosave_interval 1
        log_dest file \(folder)/log
        \(settings)

        """.write(to: configuration, atomically: true, encoding: .utf8)
        return try await launch(port, configuration)
    }

    /// Returns the process once it listens; nil if it has ended.
    private static func launch(_ port: UInt16, _ configuration: URL) async throws -> ChildProcess? {
        let process = try ChildProcess("mosquitto", ["-c", configuration.path])
        try await eventually("the broker listens") { FreePort.isListening(port) || !process.isRunning }
        return process.isRunning ? process : nil
    }

    private static func failure(_ folder: TemporaryFolder) -> Failure {
        let log = try? String(contentsOf: folder.url.appendingPathComponent("log"), encoding: .utf8)
        return Failure("the broker did not start: \(log ?? "")")
    }

    /// Kills the broker, as a power cut does.
    public func kill() { process.withLock { $0 }?.end(SIGKILL) }

    /// Stops the broker. It saves its retained messages.
    public func stop() { process.withLock { $0 }?.end(SIGTERM) }

    /// Makes the broker save its retained messages.
    public func save() { process.withLock { $0 }?.signal(SIGUSR1) }

    /// Suspends the broker, so that connections hang.
    public func pause() { process.withLock { $0 }?.signal(SIGSTOP) }

    /// Resumes the broker.
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
