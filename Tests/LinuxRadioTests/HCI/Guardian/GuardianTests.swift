import Glibc
import Testing

@testable import LinuxRadio

struct GuardianTests {
    private static let commands: [HCICommand] = [
        .setAdvertisingEnable(false), .setScanEnable(false, isExtended: true),
    ]

    /// Reads a guardian's commands and answers each, until the guardian has ended.
    private static func received(_ count: Int, from end: Int32) -> [HCICommand] {
        var commands: [HCICommand] = []
        var buffer = [UInt8](repeating: 0, count: 300)
        var wait = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        while commands.count < count, poll(&wait, 1, 10_000) > 0 {
            let length = read(end, &buffer, buffer.count)
            let packet = Array(buffer.prefix(max(length, 0)))
            guard let command = HCICommand(packet: packet.span.bytes) else { break }
            commands.append(command)
            let answer = Packets.complete(command.opcode.rawValue)
            _ = write(end, answer, answer.count)
        }
        return commands
    }

    @Test("A guardian sends the newest commands")
    func itSendsTheNewestCommands() throws {
        let ends = try SocketPair()
        let hci = ends.takeFirst()
        defer { close(hci) }
        let guardian = try Guardian(adapter: 0, claim: nil, socket: hci)
        try guardian.protect([HCICommand(.reset)])
        try guardian.protect(Self.commands)
        guardian.undo()
        #expect(Self.received(2, from: ends.second) == Self.commands)
    }

    @Test("A dismissed guardian does nothing")
    func dismissedItDoesNothing() throws {
        let ends = try SocketPair()
        let hci = ends.takeFirst()
        let guardian = try Guardian(adapter: 0, claim: nil, socket: hci)
        try guardian.protect(Self.commands)
        guardian.dismiss()
        close(hci)
        // Once the guardian has ended, the other end is closed, and writing to it fails.
        var wait = pollfd(fd: ends.second, events: Int16(POLLIN), revents: 0)
        var tries = 0
        while write(ends.second, [0], 1) == 1, tries < 30_000 {
            tries += 1
            usleep(10_000)
        }
        #expect(errno == ECONNREFUSED)
        #expect(poll(&wait, 1, 0) == 0 || wait.revents & Int16(POLLIN) == 0)
    }

    @Test("A guardian removes the claim once it has sent all commands")
    func itRemovesTheClaimAfterAllCommands() throws {
        let ends = try SocketPair()
        let hci = ends.takeFirst()
        defer { close(hci) }
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/claim"
        #expect(TextFile.write("claim", to: path))
        let guardian = try Guardian(adapter: 0, claim: path, socket: hci)
        try guardian.protect(Self.commands)
        guardian.undo()
        #expect(Self.received(2, from: ends.second) == Self.commands)
        var tries = 0
        while access(path, F_OK) == 0, tries < 30_000 {
            tries += 1
            usleep(10_000)
        }
        #expect(access(path, F_OK) != 0)
    }
}
