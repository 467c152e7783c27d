import Foundation
import TestSupport
import Testing

@Suite("beacon authorization", .oneAtATime)
struct AuthorizationTests {
    @Test("What is granted and denied is listed, and kept where the state of the user is")
    func decisions() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let environment = ["XDG_STATE_HOME": folder]
        let nobody = try await BeaconProgram.run("authorization", environment: environment)
        #expect(nobody.status == 0)
        #expect(nobody.output.isEmpty)
        _ = try await BeaconProgram.run("authorization", "grant", "com.example.museum", environment: environment)
        _ = try await BeaconProgram.run("authorization", "deny", "shop", environment: environment)
        let list = try await BeaconProgram.run("authorization", "list", environment: environment)
        #expect(list.lines == ["com.example.museum  always", "shop                denied"])
        #expect(
            FileManager.default.fileExists(
                atPath: folder + "/swift-beacon/applications/shop/authorization.json"))
    }
}
