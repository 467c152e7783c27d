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
            say what is to happen, and look at the file before it is written. A file that is there is not written over.

              beacond setup --config beacond.yaml
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "Where the console listens, now and later.",
            discussion: "Another address than this machine's own, as 0.0.0.0:8099, is for browsers of other machines.",
            valueName: "address"))
    var listen = "127.0.0.1:\(WebSettings.defaultPort)"

    func run() async throws {
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw ValidationError(
                "There is a configuration already, \(file.path). Change it there, or name another with --config.")
        }
        let parent = URL(fileURLWithPath: file.path).deletingLastPathComponent()
        guard Self.isWritable(parent) else {
            throw ValidationError(
                "\(parent.path) is not for this user; name a file of yours, as in: beacond setup --config beacond.yaml")
        }
        guard var web = WebSettings(listening: listen) else {
            throw ValidationError("--listen is \(listen); write an address and a port, as 127.0.0.1:8099.")
        }
        let token = AccessToken()
        web.tokenHash = token.hash
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("beacond-setup-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let loop = DaemonLoop(path: file.path)
        let settings = GuidedStart.configuration(writing: file.path, web: web, folder: folder)
        let code = try ConsoleLink(settings).code
        ErrorOutput.shared.write("Open this address in a browser; it works once:\n")
        print("  \(web.address)#code=\(code)")
        fflush(nil)
        ErrorOutput.shared.write("\nThe configuration will be \(file.path). Ctrl-C ends this.")
        if !web.isLoopback { ErrorOutput.shared.write("Other browsers need this token, now and later: \(token.text)") }
        try await loop.run(settings)
    }

    /// Returns true for a folder that can be written, or made.
    private static func isWritable(_ folder: URL) -> Bool {
        if FileManager.default.fileExists(atPath: folder.path) {
            return FileManager.default.isWritableFile(atPath: folder.path)
        }
        let parent = folder.deletingLastPathComponent()
        return parent.path != folder.path && isWritable(parent)
    }
}
