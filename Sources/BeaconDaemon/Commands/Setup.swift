import ArgumentParser
import BeaconGateway
import BeaconSupport
import CLibrary
import Foundation

/// `beacond setup`: the guided start.
struct Setup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a configuration in the browser, step by step, and go on with it.",
        discussion: """
            It prints an address, which signs one browser in. There you choose a radio, see what is heard, name a beacon, \
            say what is to happen, and look at the file before it is written. A file that is there is not written over, \
            unless it configures nothing, as the one that a package installs.

              beacond setup --config beacond.yaml
              sudo beacond setup                          that of the machine's service, which is started with it then
              sudo beacond setup --listen 0.0.0.0:8099    the same from another machine's browser
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "Where the console listens, now and later.",
            discussion: "Another address than this machine's own, as 0.0.0.0:8099, is for browsers of other machines.",
            valueName: "address"))
    var listen = "127.0.0.1:\(WebSettings.defaultPort)"

    func run() async throws {
        guard GuidedStart.mayWrite(file.path) else {
            throw ValidationError(
                "There is a configuration already, \(file.path). Change it there, or name another with --config.")
        }
        guard Self.isWritable(URL(fileURLWithPath: file.path)) else {
            throw ValidationError(
                "\(file.path) is not for this user to write. Name a file of yours, as in: "
                    + "beacond setup --config beacond.yaml\(file.isOfService ? "; or, for the service: sudo beacond setup" : "")"
            )
        }
        guard var web = WebSettings(listening: listen) else {
            throw ValidationError("--listen is \(listen); write an address and a port, as 127.0.0.1:8099.")
        }
        if let taken = await web.obstacle() {
            ErrorOutput.shared.write(
                "Error: \(listen) cannot be listened on (\(taken)). Another program may have it, or a beacond; give another "
                    + "port, as in: beacond setup --listen 127.0.0.1:\(web.port < 65_535 ? web.port + 1 : 8100)")
            throw ExitCode(1)
        }
        let token = AccessToken()
        web.tokenHash = token.hash
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("beacond-setup-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        var loop = DaemonLoop(path: file.path)
        loop.endsWithReading = file.isOfService
        let settings = GuidedStart.configuration(writing: file.path, web: web, folder: folder)
        let code = try ConsoleLink(settings).code
        ErrorOutput.shared.write("Open this address in a browser; it works once:\n")
        print("  \(web.address)#code=\(code)")
        fflush(nil)
        ErrorOutput.shared.write("\nThe configuration will be \(file.path). Ctrl-C ends this.")
        if !web.isLoopback {
            ErrorOutput.shared.write(
                """
                Keep this token, for which browsers are asked, yours too once the configuration is written: \(token.text)
                What you enter crosses the network without encryption. Where others could listen, leave --listen out, and open \
                the address on the other machine after: ssh -L \(web.port):127.0.0.1:\(web.port) THIS-MACHINE
                """)
        }
        do {
            try await loop.run(settings)
        } catch {
            // That nothing could be heard meanwhile is no failure of this work, once it is done.
            guard loop.hasHandedOver.withLock({ $0 }) else { throw error }
        }
        if loop.hasHandedOver.withLock({ $0 }) { Self.restartService() }
    }

    /// Has the machine's service go on with the configuration.
    private static func restartService() {
        let command = "systemctl restart beacond"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command.split(separator: " ").map(String.init)
        let isStarted = (try? process.run()) != nil
        if isStarted { process.waitUntilExit() }
        ErrorOutput.shared.write(
            isStarted && process.terminationStatus == 0
                ? "The service goes on with it. What it does: journalctl -u beacond -f"
                : "Have the service go on with it: sudo \(command)")
    }

    /// Returns true for a file that can be written or made, with the folders on the way.
    private static func isWritable(_ file: URL) -> Bool {
        let folder = file.deletingLastPathComponent()
        if FileManager.default.fileExists(atPath: folder.path) {
            return FileManager.default.isWritableFile(atPath: folder.path)
        }
        return folder.path != file.path && isWritable(folder)
    }
}
