import BeaconSupport
import Foundation

/// Debian's NATS servers as child processes, with JetStream, on free ports of the loopback interface.
public final class NATSCluster: Sendable {
    /// The folder of their files, which is deleted with them.
    public let folder: TemporaryFolder

    /// The ports where the servers listen. They stay the same over restarts.
    public let ports: [UInt16]

    private let configurations: [URL]
    private let processes: Locked<[ChildProcess?]>

    /// Starts one server, or several servers as a cluster.
    ///
    /// - Parameters:
    ///   - servers: the number of servers; 0 for one that is started later.
    ///   - settings: more lines for the configuration file of each server.
    public init(servers: Int = 1, _ settings: String = "") async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let count = max(1, servers)
        let ports = try (0..<count).map { _ in try FreePort.find() }
        let routes = try (0..<count).map { _ in try FreePort.find() }
        self.ports = ports
        var configurations: [URL] = []
        for index in 0..<count {
            let configuration = folder.url.appendingPathComponent("\(index).conf")
            let urls = routes.map { "nats-route://127.0.0.1:\($0)" }.joined(separator: ", ")
            let cluster =
                count > 1
                ? "cluster { name: tests, listen: \"127.0.0.1:\(routes[index])\", routes: [\(urls)] }" : ""
            try """
            server_name: server-\(index)
            listen: "127.0.0.1:\(ports[index])"
            jetstream { store_dir: "\(folder.url.path)/\(index)", max_mem: 64M, max_file: 1G }
            log_file: "\(folder.url.path)/\(index).log"
            \(cluster)
            \(settings)

            """.write(to: configuration, atomically: true, encoding: .utf8)
            configurations.append(configuration)
        }
        self.configurations = configurations
        processes = Locked([ChildProcess?](repeating: nil, count: count))
        for index in 0..<servers { try await start(index) }
    }

    /// Returns the address of all or of some servers.
    public func url(of servers: [Int]? = nil, credentials: String = "") -> String {
        let hosts = (servers ?? Array(ports.indices)).map { "127.0.0.1:\(ports[$0])" }
        return "nats://" + credentials + hosts.joined(separator: ",")
    }

    /// The address of all servers.
    public var url: String { url() }

    /// Starts a server, again or for the first time, at the same port.
    public func start(_ index: Int) async throws {
        let process = try ChildProcess("nats-server", ["-c", configurations[index].path])
        processes.withLock { $0[index] = process }
        try await eventually("the server listens") { FreePort.isListening(ports[index]) || !process.isRunning }
        guard process.isRunning else {
            let log = try? String(contentsOf: folder.url.appendingPathComponent("\(index).log"), encoding: .utf8)
            throw Failure("nats-server did not start: \(log ?? "")")
        }
    }

    /// Kills a server, as a power cut does.
    public func kill(_ index: Int) { process(index)?.end(SIGKILL) }

    /// Stops a server.
    public func stop(_ index: Int) { process(index)?.end(SIGTERM) }

    /// Suspends a server, so that its connections hang.
    public func pause(_ index: Int) { process(index)?.signal(SIGSTOP) }

    /// Resumes a server.
    public func resume(_ index: Int) { process(index)?.signal(SIGCONT) }

    private func process(_ index: Int) -> ChildProcess? { processes.withLock { $0[index] } }
}
