import BeaconModel
import BeaconRadio
import Glibc
import Testing

@testable import LinuxRadio

struct ProtectionTests {
    private static let adapter = LocalAdapter(
        index: 0, address: DeviceAddress(bits: 0x001A_7DDA_7113, kind: .public), isUp: true)
    private static let commands: [HCICommand] = [
        .setExtendedAdvertisingEnable(false, set: 0xEF), .removeAdvertisingSet(0xEF),
    ]

    private static func claim(_ owner: Claim.Owner, in directory: ClaimDirectory) -> Bool {
        let place = directory.place(for: adapter.address.description, owner: owner)
        return TextFile.write(Claim(owner: owner, commands: commands).text, to: place)
    }

    @Test("A dead process's claims are taken over once")
    func aDeadProcessesClaimsAreTakenOverOnce() throws {
        let folder = try TemporaryDirectory()
        let directory = ClaimDirectory(path: folder.path)
        #expect(Self.claim(Claim.Owner(process: .max, start: 1), in: directory))
        var protection = Protection(Self.adapter, isLent: false, directory: directory)
        #expect(protection.abandoned() == Self.commands)
        #expect(protection.drainNotices("hci0").map(\.kind) == [.endedLeftovers])
        #expect(folder.names.isEmpty)
        #expect(protection.abandoned().isEmpty && protection.drainNotices("hci0").isEmpty)
    }

    @Test("A living process's claims are left alone")
    func aLivingProcessesClaimsAreLeftAlone() throws {
        let folder = try TemporaryDirectory()
        let directory = ClaimDirectory(path: folder.path)
        #expect(Self.claim(try #require(Claim.Owner.current), in: directory))
        var protection = Protection(Self.adapter, isLent: true, directory: directory)
        #expect(protection.abandoned().isEmpty)
        #expect(protection.setsInUse() == [0xEF])
        let isShared = protection.isShared()
        #expect(isShared)
    }

    @Test("A claim exists as long as something is on the air")
    func aClaimExistsAsLongAsSomethingIsOnTheAir() throws {
        let folder = try TemporaryDirectory()
        let ends = try SocketPair()
        let hci = ends.takeFirst()
        defer { close(hci) }
        var protection = Protection(
            Self.adapter, isLent: false, directory: ClaimDirectory(path: folder.path), socket: hci)
        #expect(folder.names.isEmpty)
        protection.protect(Self.commands)
        #expect(folder.names.count == 1)
        let isShared = protection.isShared()
        #expect(!isShared)
        protection.protect([])
        #expect(folder.names.isEmpty)
        protection.protect(Self.commands)
        protection.end(isUndone: true)
        #expect(folder.names.isEmpty)
    }
}
