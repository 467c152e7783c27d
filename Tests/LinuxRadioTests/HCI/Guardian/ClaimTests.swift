import Glibc
import Testing

@testable import LinuxRadio

struct ClaimTests {
    private static let commands: [HCICommand] = [
        .setExtendedAdvertisingEnable(false, set: 0xEF), .removeAdvertisingSet(0xEF),
        .setScanEnable(false, isExtended: false),
    ]

    @Test("A claim survives writing and reading")
    func aClaimSurvivesWritingAndReading() throws {
        let claim = Claim(owner: Claim.Owner(process: 12, start: 345), commands: Self.commands)
        #expect(Claim(claim.text) == claim)
        #expect(Claim(Claim(owner: claim.owner, commands: []).text)?.commands == [])
    }

    @Test(
        "Invalid claims are rejected",
        arguments: ["", "1", "x 1", "1 2 0", "1 2 01", "1 2 010a2001", "1 2 zz", "-\n"])

    func invalidClaimsAreRejected(text: String) { #expect(Claim(text) == nil) }

    @Test("A process is distinguished from a later one of the same number")
    func aProcessIsDistinguishedFromALaterOne() throws {
        let owner = try #require(Claim.Owner.current)
        #expect(owner.isAlive)
        #expect(!Claim.Owner(process: owner.process, start: owner.start + 1).isAlive)
        #expect(!Claim.Owner(process: .max, start: 0).isAlive)
    }

    @Test("Claims are found by adapter")
    func claimsAreFoundByAdapter() throws {
        let folder = try TemporaryDirectory()
        let directory = ClaimDirectory(path: folder.path)
        let claim = Claim(owner: Claim.Owner(process: 1, start: 2), commands: Self.commands)
        let place = directory.place(for: "00:1a:7d:da:71:13", owner: claim.owner)
        let other = directory.place(for: "00:1a:7d:da:71:14", owner: claim.owner)
        #expect(TextFile.write(claim.text, to: place))
        #expect(TextFile.write("damaged", to: other))
        #expect(directory.claims(on: "00:1a:7d:da:71:13").map(\.claim) == [claim])
        #expect(directory.claims(on: "00:1a:7d:da:71:13").map(\.place) == [place])
        #expect(directory.claims(on: "00:1a:7d:da:71:14").isEmpty)
    }
}
